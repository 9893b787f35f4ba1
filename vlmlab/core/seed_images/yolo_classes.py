"""Names of YOLO's classes: a YAML file with ``names``, or a text file with one name a line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.domain_text import read_text
from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.files import read_bounded
from vlmlab.core.seed_images.reading import Reading
from vlmlab.core.seed_images.report import Place

NAME_LISTS = re.compile(
    r"(predefined_)?classes\.(txt|names)|obj\.names|.*\.names|.*\.labels|_darknet\.labels"
)
BOX_NUMBERS = 4


@dataclass(frozen=True)
class YoloClasses:
    """Names of classes.

    Attributes:
        names: number -> name.
        n_keypoint_numbers: how many numbers follow a box in files of poses, 0 in others.
    """

    names: Mapping[int, str] = field(default_factory=dict)
    n_keypoint_numbers: int = 0


def is_name_list(name: str) -> bool:
    """Return whether a file is called like a list of class names."""
    return NAME_LISTS.fullmatch(name.rpartition("/")[2].casefold()) is not None


def read_classes(reading: Reading) -> YoloClasses:
    """Return the classes of a source; where several files name them they must agree.

    Raises:
        FaultError: two files give a number two names.
    """
    names: dict[int, str] = {}
    told_by: dict[int, str] = {}
    n_keypoint_numbers = 0
    for name in reading.names:
        is_yaml = name.lower().endswith((".yaml", ".yml"))
        if not is_yaml and not is_name_list(name):
            continue
        try:
            content = read_bounded(reading.files, name, max_bytes=reading.limits.max_small_bytes)
            found = _from_yaml(content) if is_yaml else YoloClasses(_from_lines(content))
        except FaultError as fault:
            reading.report.refuse("file", Place(name), fault)
            continue
        n_keypoint_numbers = n_keypoint_numbers or found.n_keypoint_numbers
        for number, label in found.names.items():
            if names.setdefault(number, label) != label:
                raise FaultError(
                    "class_name",
                    f"calls the class {number} “{label}”, and {told_by[number]} calls it “{names[number]}”",
                    hint="Keep one of both files.",
                )
            told_by.setdefault(number, name)
    return YoloClasses(names, n_keypoint_numbers)


def _from_lines(content: bytes) -> dict[int, str]:
    """Return names by the number of their line from 0; empty lines at the end count for nothing."""
    try:
        lines = content.decode("utf-8-sig").rstrip().splitlines()
    except UnicodeDecodeError as error:
        raise FaultError("file", "is not written in UTF-8", hint="Save it again as UTF-8.") from error
    return {number: line.strip() for number, line in enumerate(lines) if line.strip()}


def _from_yaml(content: bytes) -> YoloClasses:
    """Return what a dataset file says; without tags and aliases, so that nothing in it can grow."""
    try:
        told = read_text(content).content
    except ConceptError as error:
        raise FaultError("file", f"cannot be read: {error.message.rstrip('.')}") from error
    names = told.get("names")
    found: dict[int, str] = {}
    if isinstance(names, list):
        found = {number: str(name) for number, name in enumerate(names)}
    elif isinstance(names, dict):
        found = {int(key): str(name) for key, name in names.items() if key.isascii() and key.isdigit()}
    elif names is not None:
        raise FaultError("file", "has names that are no list")
    shape = told.get("kpt_shape")
    if isinstance(shape, list) and len(shape) == 2 and all(isinstance(one, int) for one in shape):
        return YoloClasses(found, shape[0] * shape[1])
    return YoloClasses(found)
