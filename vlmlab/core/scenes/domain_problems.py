"""What is wrong with a domain file: one problem a row, all of them at once."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vlmlab.core.errors import ConceptError


@dataclass(frozen=True)
class DomainProblem:
    """One thing that is wrong, or only looks wrong.

    Attributes:
        row: where it stands, such as ``concept 3 “cone”``; "" for the whole file.
        field: key within the row; "" for the whole row.
        message: what is wrong, one sentence.
        hint: what to do.
        line: line of the text, from 1; None where it is not known.
        section: top-level key of the file, for pages that show one section; "" for the whole file.
        is_warning: whether the domain works all the same.
    """

    row: str
    field: str
    message: str
    hint: str = ""
    line: int | None = None
    section: str = ""
    is_warning: bool = False

    @property
    def place(self) -> str:
        """Where it stands in words: line, row and field."""
        line = f"line {self.line}" if self.line else ""
        return ", ".join(part for part in (line, self.row, self.field) if part)

    def __str__(self) -> str:
        """Return place, message and hint as one line."""
        return f"{self.place}: {self.message} {self.hint}".removeprefix(": ").strip()


class DomainFileError(ConceptError):
    """A domain file is refused; ``problems`` holds everything that was found.

    Args:
        problems: at least one.
    """

    def __init__(self, problems: Sequence[DomainProblem]) -> None:
        first, more = problems[0], len(problems) - 1
        words = f" {more} more {'problem was' if more == 1 else 'problems were'} found." if more else ""
        place = f"{first.place}: " if first.place else ""
        super().__init__(f"{place}{first.message}", hint=f"{first.hint}{words}".strip(), field="text")
        self.problems = tuple(problems)


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """Return ``Did you mean …?`` with the nearest names, or other words where none is near."""
    nearest = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(nearest)}?" if nearest else otherwise


def shown(value: object) -> str:
    """Return a value as a message quotes it: short and on one line."""
    text = " ".join(str(value).split())
    return f"“{text[:60]}…”" if len(text) > 60 else f"“{text}”"
