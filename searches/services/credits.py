"""Whose work the scenes are made of, read from the attribution files beside the assets."""

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from vlmlab.core import scenes

ATTRIBUTION = Path(scenes.__file__).parent / "render" / "assets" / "ATTRIBUTION.tsv"


@dataclass(frozen=True)
class Credit:
    """One asset: what it is, who made it, under which licence, and what was changed."""

    asset: str
    title: str
    author: str
    source: str
    source_address: str
    licence: str
    licence_address: str
    modified: str


@lru_cache(maxsize=1)
def credits_of_assets() -> tuple[Credit, ...]:
    """Return every asset in the order of the file; empty where the file is missing."""
    if not ATTRIBUTION.is_file():
        return ()
    with ATTRIBUTION.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        names = Credit.__dataclass_fields__
        return tuple(Credit(**{name: (row.get(name) or "").strip() for name in names}) for row in rows)
