"""Who made the shapes that scenes are built from, and on what terms."""

import csv
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

ASSETS = Path(__file__).parent / "assets"
ATTRIBUTION_FILE = ASSETS / "ATTRIBUTION.tsv"


@dataclass(frozen=True)
class Attribution:
    """Who made an asset and on what terms; one row of ``ATTRIBUTION.tsv``, no field may be empty."""

    asset: str
    title: str
    author: str
    source: str
    source_address: str
    licence: str
    licence_address: str
    modified: str


COLUMNS = tuple(one.name for one in fields(Attribution))
ADDRESSES = ("source_address", "licence_address")


@lru_cache(maxsize=1)
def attributions() -> tuple[Attribution, ...]:
    """Return the attribution of every pack, sorted by asset name."""
    return read_attributions(ATTRIBUTION_FILE.read_text(encoding="utf-8"))


def read_attributions(text: str) -> tuple[Attribution, ...]:
    """Read the table of attributions.

    Args:
        text: tab-separated, with a head of ``COLUMNS``.

    Returns:
        The rows, sorted by asset name.

    Raises:
        ValueError: a column is missing, a field is empty, an address is none, or an asset stands twice; the
            message names the row.
    """
    reader = csv.DictReader(text.splitlines(), delimiter="\t")
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise ValueError(f"ATTRIBUTION.tsv: the column {missing[0]} is missing")
    rows: dict[str, Attribution] = {}
    for number, row in enumerate(reader, start=2):
        values = {name: (row.get(name) or "").strip() for name in COLUMNS}
        where = f"ATTRIBUTION.tsv, line {number} ({values['asset'] or 'no asset'})"
        for name, value in values.items():
            if not value:
                raise ValueError(f"{where}: {name} is empty")
            if name in ADDRESSES and not value.startswith("https://"):
                raise ValueError(f"{where}: {name} is no address: {value}")
        if values["asset"] in rows:
            raise ValueError(f"{where}: the asset is listed twice")
        rows[values["asset"]] = Attribution(**values)
    return tuple(rows[name] for name in sorted(rows))


def credit_lines() -> str:
    """Return the attribution of every pack as text, to travel with whatever shows the scenes."""
    lines = [
        f"{row.title} by {row.author}, {row.source} ({row.source_address}), {row.licence} "
        f"({row.licence_address}); changed: {row.modified}."
        for row in attributions()
    ]
    return "\n".join(["The scenes are made of shapes by these people:", *lines])
