"""How values of a domain file stand in the fields of the editor, and how they are read back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

ChoiceList = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FieldPlan:
    """One field of a row.

    Attributes:
        path: keys from the row to the value.
        label: for people.
        kind: key of ``CODECS``.
        help: one sentence.
        choices: for ``choice``.
        is_wide: whether it takes the whole width.
        is_rare: whether it is shown in a fold.
    """

    path: tuple[str, ...]
    label: str
    kind: str = "line"
    help: str = ""
    choices: ChoiceList = ()
    is_wide: bool = False
    is_rare: bool = False

    @property
    def name(self) -> str:
        """Name of the form field."""
        return "__".join(self.path)

    def read(self, row: Mapping[str, Any]) -> Any:
        """Return the value in a row, or None."""
        value: Any = row
        for key in self.path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


def write_value(plan: FieldPlan, value: object) -> str:
    """Return how a value stands in its field; what does not fit the field stands as plain text."""
    if value is None:
        return ""
    try:
        return CODECS[plan.kind][0](value)
    except (TypeError, ValueError, AttributeError):
        return str(value)


def read_value(plan: FieldPlan, text: str) -> object:
    """Return the value that a field says; None where it is empty.

    Raises:
        forms.ValidationError: the text is not of the field's kind.
    """
    text = text.replace("\r\n", "\n").strip()
    return CODECS[plan.kind][1](text) if text else None


def _write_ids(value: Any) -> str:
    return ", ".join(_plain(one) for one in value)


def _read_ids(text: str) -> list[str]:
    return [one.strip() for one in text.replace("\n", ",").split(",") if one.strip()]


def _write_elements(value: Any) -> str:
    return ", ".join(
        one if isinstance(one, str) else " | ".join(_plain(part) for part in one) for one in value
    )


def _read_elements(text: str) -> list[str | list[str]]:
    found: list[str | list[str]] = []
    for element in _read_ids(text):
        parts = [part.strip() for part in element.split("|") if part.strip()]
        found.append(parts[0] if len(parts) == 1 else parts)
    return found


def _read_whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise forms.ValidationError("Enter a whole number.") from None


def _read_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise forms.ValidationError("Enter a number such as 6.7.") from None
    if number - number != 0:  # neither endless nor "not a number"
        raise forms.ValidationError("Enter a number such as 6.7.")
    return number


def _plain(value: Any) -> str:
    if not isinstance(value, (str, int, float)):
        raise TypeError(value)
    return str(value)


def _lines_of(write: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: "\n".join(f"{key}: {write(one)}" for key, one in value.items())


def _mapping_of(read: Callable[[str], Any]) -> Callable[[str], dict[str, Any]]:
    def read_lines(text: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for line in text.split("\n"):
            name, sign, value = line.partition(":")
            if not line.strip():
                continue
            if not sign or not name.strip() or not value.strip():
                raise forms.ValidationError(f"“{line.strip()[:60]}”: write “name: value”, one a line.")
            if name.strip() in found:
                raise forms.ValidationError(f"“{name.strip()[:60]}” stands twice.")
            found[name.strip()] = read(value.strip())
        return found

    return read_lines


def _read_range(text: str) -> list[float]:
    parts = _read_ids(text)
    if len(parts) != 2:
        raise forms.ValidationError("Write two numbers of metres, such as “near: 2, 4”.")
    return [_read_number(part) for part in parts]


CODECS: Mapping[str, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    "line": (_plain, str),
    "text": (_plain, str),
    "choice": (_plain, str),
    "yes": (lambda value: "on" if value else "", lambda text: True),
    "whole": (_plain, _read_whole),
    "number": (_plain, _read_number),
    "ids": (_write_ids, _read_ids),
    "elements": (_write_elements, _read_elements),
    "texts": (_lines_of(_plain), _mapping_of(str)),
    "numbers": (_lines_of(_plain), _mapping_of(_read_number)),
    "ranges": (_lines_of(_write_ids), _mapping_of(_read_range)),
    "lists": (_lines_of(_write_ids), _mapping_of(_read_ids)),
}
LONG_KINDS = frozenset({"text", "texts", "numbers", "ranges", "lists"})
