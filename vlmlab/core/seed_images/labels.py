"""Labels of foreign things: cleaned, mapped, and one spelling for each."""

import re
import unicodedata
from collections.abc import Mapping

from vlmlab.core.seed_images.faults import FaultError, SeedImportError
from vlmlab.core.storable_values import UNSTORABLE

MOST_CHARACTERS = 100
MOST_STRATUM_CHARACTERS = 32
LEFT_OUT = "-"
BIDI_CONTROLS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Signs that turn the direction of what follows, so that a sentence around a label would read otherwise."""

READABLE: Mapping[str, str] = {
    "diningtable": "dining table",
    "pottedplant": "potted plant",
    "tvmonitor": "tv monitor",
    "trafficlight": "traffic light",
}
"""Class names of VOC and Udacity that are two words -> the words."""


class LabelBook:
    """Turns the classes of a source into labels; classes that differ only in case are one label.

    Args:
        mapping: class -> label, or ``-`` to leave its things out.
        max_labels: how many different ones are taken.

    Raises:
        SeedImportError: a label of the mapping cannot be used.
    """

    def __init__(self, mapping: Mapping[str, str], *, max_labels: int) -> None:
        self._max_labels = max_labels
        self._mapped: dict[str, str] = {}
        self._spellings: dict[str, str] = {}
        self._found: dict[str, str | None] = {}
        for name, label in mapping.items():
            try:
                plain = clean_label(label)
                self._mapped[clean_label(name).casefold()] = plain
            except FaultError as error:
                raise SeedImportError(
                    f"The label for “{name[:80]}” {error.reason}.", hint=error.hint, field="labels"
                ) from error

    def is_mapped(self, name: object) -> bool:
        """Return whether the mapping has a class."""
        try:
            return clean_label(name).casefold() in self._mapped
        except FaultError:
            return False

    def label_of(self, name: object) -> str | None:
        """Return the label of a class, None where its things are left out.

        Raises:
            FaultError: it is no text that can be asked for.
            SeedImportError: there are too many different labels.
        """
        if isinstance(name, str) and name in self._found:
            return self._found[name]
        label = self._look_up(clean_label(name))
        if len(self._spellings) > self._max_labels:
            raise SeedImportError(
                f"The files have more than {self._max_labels:,} different labels.",
                hint="Check which column or field holds the labels.",
            )
        if isinstance(name, str) and len(self._found) < self._max_labels:
            self._found[name] = label
        return label

    def _look_up(self, plain: str) -> str | None:
        key = plain.casefold()
        label = self._mapped.get(key) or READABLE.get(key) or " ".join(plain.replace("_", " ").split())
        if label == LEFT_OUT:
            return None
        if not label:
            raise FaultError("label", "has an empty label")
        return self._spellings.setdefault(label.casefold(), label)


def clean_label(text: object) -> str:
    """Return a foreign label on one line, composed (NFC), without blanks around.

    Raises:
        FaultError: it is no text, empty, too long, or has signs that no sentence can hold.
    """
    return _clean(text, kind="label", noun="label", most=MOST_CHARACTERS)


def clean_stratum(text: object) -> str:
    """Return the name of a kind of scene, cleaned like a label.

    Raises:
        FaultError: it is no text, empty, too long, or has signs that no sentence can hold.
    """
    return _clean(text, kind="stratum", noun="kind of scene", most=MOST_STRATUM_CHARACTERS)


def _clean(text: object, *, kind: str, noun: str, most: int) -> str:
    if not isinstance(text, str):
        raise FaultError(kind, f"has no {noun}")
    if len(text) > 10 * most:
        raise FaultError(kind, f"has a {noun} of {len(text):,} characters")
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    if not plain:
        raise FaultError(kind, f"has an empty {noun}")
    if len(plain) > most:
        raise FaultError(kind, f"has a {noun} of {len(plain):,} characters")
    if UNSTORABLE.search(plain) or BIDI_CONTROLS.search(plain):
        raise FaultError(kind, f"has a {noun} with a sign that cannot be shown")
    if any(unicodedata.category(sign) == "Cc" for sign in plain):
        raise FaultError(kind, f"has a {noun} with a control character")
    return plain
