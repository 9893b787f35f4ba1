"""Puts the tables together, writes them, and says which labels have entries."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.word_tables.homophones import Homophones
from tools.word_tables.names import COCO
from tools.word_tables.pronunciations import read_dictionary
from tools.word_tables.sources import CHECKSUMS, PACKAGES, Sources
from tools.word_tables.synonyms import ClassSynonyms, chosen_synonyms
from tools.word_tables.wordnet import read_wordnet
from vlmlab.core.perturb.word_tables import Alternative, TableKind, WordTable, label_key, table_of
from vlmlab.core.scenes.asked_labels import LABELS, VARIANTS

SETS = {"sample": "our sample set", "coco": "COCO", "imagenet": "ImageNet-1k"}
MADE_BY = "python -m tools.word_tables"


@dataclass(frozen=True)
class MadeTables:
    """Both tables and the labels they were made for, by set."""

    sets: Mapping[str, tuple[str, ...]]
    tables: Mapping[TableKind, WordTable]


def make_tables(sources: Sources) -> MadeTables:
    """Return the tables; the same inputs give the same tables."""
    wordnet = read_wordnet(sources.wordnet)
    sample = sorted({label.text for label in LABELS.values()} | set(VARIANTS.values()))
    sets = {"sample": sample, "coco": list(COCO), "imagenet": [names[0] for names in sources.classes]}
    synonyms: dict[str, list[Alternative]] = {}
    for label in (*sample, *COCO):
        synonyms[label_key(label)] = chosen_synonyms(label, wordnet)
    class_synonyms = ClassSynonyms(sources.classes, wordnet)
    for names in sources.classes:
        for name, others in class_synonyms.of(names).items():
            if not synonyms.get(name):
                synonyms[name] = others
    labels = sorted({*map(label_key, (*sample, *COCO, *sets["imagenet"])), *synonyms})
    homophones = Homophones(read_dictionary(sources.cmudict), wordnet, labels)
    return MadeTables(
        {name: tuple(dict.fromkeys(labels)) for name, labels in sets.items()},
        {
            "homophone": table_of("homophone", {label: homophones.of(label) for label in labels}),
            "synonym": table_of("synonym", synonyms),
        },
    )


def write_tables(made: MadeTables, folder: Path) -> None:
    """Write both tables and the labels of the sets, a label a line."""
    for kind, table in made.tables.items():
        rows = {label: _by_closeness(table.entries[label]) for label in sorted(table.entries)}
        _write(folder / f"{kind}s.json", "labels", rows)
    _write(folder / "labels.json", "sets", {name: list(labels) for name, labels in made.sets.items()})


def _by_closeness(alternatives: Iterable[Alternative]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for one in alternatives:
        groups.setdefault(one.closeness, []).append(one.text)
    return groups


def _write(file: Path, name: str, rows: Mapping[str, object]) -> None:
    head = json.dumps({"made_by": MADE_BY, "packages": PACKAGES, "sha256": CHECKSUMS}, indent=1)[:-2]
    lines = ",\n".join(f"{json.dumps(row)}: {json.dumps(value)}" for row, value in rows.items())
    file.write_text(f'{head},\n "{name}": {{\n{lines}\n}}}}\n', "utf-8")


def coverage_page(made: MadeTables) -> str:
    """Return how many labels of each set have entries, and the labels that have none, as Markdown."""
    parts = [
        "# Homophones and synonyms of labels\n",
        "The text operators `homophone` and `synonym` put another word in place of a label that stands in a "
        "prompt. The lab ships tables for the labels of its sample set, the 80 categories of COCO and the "
        "1,000 classes of ImageNet-1k (998 different first names). A label without an entry stays as it is "
        f"in a prompt. This page is written by `{MADE_BY}` together with the tables.\n",
        "## How alternatives were found\n",
        "| kind | means | source |",
        "|---|---|---|",
        "| exact | another word with the same phonemes, stress aside | CMU Pronouncing Dictionary |",
        "| split | two words that together have the same phonemes | CMU Pronouncing Dictionary |",
        "| respelled | no word, but read out alike (“nife”) | spelling rules of ours, checked against it |",
        "| near | a word in which one phoneme is another that is easily mistaken for it | the same |",
        "| whole | another name of the same meaning | WordNet; for the sample set and COCO also by hand |",
        "| part | the last word is replaced by a synonym of its own | WordNet |",
        "| scientific | the name of the species | WordNet |",
        "",
        "A label has homophones of one kind only, the first in this order that it has, and synonyms of one "
        "kind only. Words that WordNet calls offensive are left out, and homophones that are themselves a "
        "label. A class whose only name mostly means something else, such as the carpenter's plane, has no "
        "synonyms. The entries of the sample set and of COCO were read one by one, those of ImageNet-1k were "
        "not.\n",
        "## Coverage\n",
        "| labels | table | with an entry | of these, by kind |",
        "|---|---|---|---|",
    ]
    for name, title in SETS.items():
        labels = made.sets[name]
        for kind, table in made.tables.items():
            found = [table.entries[key] for key in map(label_key, labels) if key in table.entries]
            kinds = _counts(entry[0].closeness for entry in found)
            parts.append(f"| {title} | {kind}s | {len(found):,} of {len(labels):,} | {kinds} |")
    parts.append("\n## Labels without an entry\n")
    for name, title in SETS.items():
        for kind, table in made.tables.items():
            missing = table.missing(made.sets[name])
            listed = "; ".join(missing) or "none"
            parts.append(f"**{title}, {kind}s ({len(missing)}):** {listed}\n")
    parts += SOURCES_NOTE
    return "\n".join(parts)


SOURCES_NOTE = (
    "## Sources\n",
    "CMU Pronouncing Dictionary, © 1993-2015 Carnegie Mellon University. WordNet 3.1, © 2011 Princeton "
    "University, and WordNet 3.0, © 2006 Princeton University, through the names of ImageNet's classes. "
    "Their licences stand beside the tables, in `vlmlab/core/perturb/data/LICENCES.txt`.\n",
)


def _counts(kinds: Iterable[str]) -> str:
    counts: dict[str, int] = {}
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
    order: Sequence[str] = ("exact", "split", "respelled", "near", "whole", "part", "scientific")
    return ", ".join(f"{counts[kind]} {kind}" for kind in order if kind in counts)
