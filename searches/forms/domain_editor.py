"""The editor of a domain: its whole text travels with the page, each click changes one thing in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from searches.forms.domain_rows import RowForm
from searches.services.domain_drafts import (
    EDITED_SECTIONS,
    ROW_SECTIONS,
    RowLine,
    row_lines,
    rows_of,
    with_moved_row,
    with_new_row,
    with_row,
    without_row,
)
from vlmlab.core.scenes.domain_files import CheckedDomain, check_domain_file, write_domain_file
from vlmlab.core.scenes.domain_problems import DomainFileError
from vlmlab.core.scenes.domain_text import read_text

FIRST_SECTION = EDITED_SECTIONS[0]
TITLES = {
    "facts": "Facts and question",
    "actions": "Answers",
    "concepts": "Concepts",
    "constraints": "Constraints",
    "rules": "Rules",
    "text": "Whole file",
}
SAVE = "save"


@dataclass(frozen=True)
class EditorTab:
    """A section that can be opened."""

    name: str
    title: str
    count: int | None
    is_open: bool


@dataclass
class DomainEditor:
    """A domain file in the making.

    Attributes:
        text: the whole file.
        base: version that it was changed from.
        note: what was changed and why.
        section: which part is shown.
        open_row: position of the row that is open; None for none.
        picks: ids of the set that is tried in the preview.
        do: what was clicked: ``save``, ``go:rules``, ``open:3``, ``add``, ``remove:3``, ``up:3``, ...
        form: fields of the open row, or of the facts.
        is_readable: whether rows can be shown; else only the text can be edited.
    """

    text: str
    base: str = ""
    note: str = ""
    section: str = FIRST_SECTION
    open_row: int | None = None
    picks: tuple[str, ...] = ()
    do: str = ""
    form: RowForm | None = None
    is_readable: bool = True
    content: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_content(cls, content: Mapping[str, Any], *, base: str, section: str = "") -> "DomainEditor":
        """Return the editor of a stored version."""
        editor = cls(write_domain_file(content), base=base)
        editor.section = section if section in EDITED_SECTIONS else FIRST_SECTION
        editor._read()
        editor._show_form()
        return editor

    @classmethod
    def of_post(cls, data: QueryDict) -> "DomainEditor":
        """Return the editor as a person left it: what they typed into the open row is in the text."""
        editor = cls(
            data.get("text", "").replace("\r\n", "\n"),
            base=data.get("base", ""),
            note=data.get("note", ""),
            section=data.get("section", ""),
            open_row=_number(data.get("open", "")),
            picks=tuple(data.getlist("pick")),
            do=data.get("do", ""),
        )
        if editor.section not in EDITED_SECTIONS:
            editor.section = FIRST_SECTION
        editor._read()
        editor._take_typed(data)
        return editor

    @property
    def is_saving(self) -> bool:
        """Whether the whole is to be saved."""
        return self.do == SAVE

    @property
    def has_wrong_row(self) -> bool:
        """Whether the open row holds something that its fields cannot take."""
        return self.form is not None and self.form.is_bound and bool(self.form.errors)

    @property
    def tabs(self) -> list[EditorTab]:
        """The sections with the number of their rows."""
        return [
            EditorTab(
                name,
                TITLES[name],
                len(rows_of(self.content, name)) if name in ROW_SECTIONS else None,
                name == self.section,
            )
            for name in EDITED_SECTIONS
        ]

    @property
    def title(self) -> str:
        """Title of the open section."""
        return TITLES[self.section]

    @property
    def has_rows(self) -> bool:
        """Whether the open section is a list of rows."""
        return self.section in ROW_SECTIONS

    @property
    def lines(self) -> list[RowLine]:
        """The rows of the open section."""
        return row_lines(self.content, self.section) if self.has_rows else []

    def check(self) -> CheckedDomain:
        """Return the check of the whole text."""
        return check_domain_file(self.text)

    def act(self) -> None:
        """Do what was clicked; with a wrong row nothing is done, so that nothing typed is lost."""
        if self.has_wrong_row:
            return
        verb, _, argument = self.do.partition(":")
        number = _number(argument)
        if verb == "go" and argument in EDITED_SECTIONS:
            self.section, self.open_row = argument, None
        elif verb == "open" and number is not None:
            self.open_row = number
        elif verb == "close":
            self.open_row = None
        elif verb == "add" and self.has_rows:
            content, self.open_row = with_new_row(self.content, self.section)
            self._write(content)
        elif number is not None and verb in ROW_ACTIONS and self.has_rows:
            self._write(ROW_ACTIONS[verb](self.content, self.section, number))
            self.open_row = None
        self._read()
        self._show_form()

    def _read(self) -> None:
        try:
            self.content = read_text(self.text).content
        except DomainFileError:
            self.content, self.is_readable = {}, False
        else:
            self.is_readable = all(_is_list_of_rows(self.content.get(name, [])) for name in ROW_SECTIONS)
        if not self.is_readable:
            self.section, self.open_row = "text", None

    def _write(self, content: Mapping[str, Any]) -> None:
        if content != self.content:
            self.content, self.text = dict(content), write_domain_file(content)

    def _edited_row(self) -> dict[str, Any] | None:
        if self.section == "facts":
            return self.content
        rows = rows_of(self.content, self.section) if self.has_rows else []
        return rows[self.open_row] if self.open_row is not None and 0 <= self.open_row < len(rows) else None

    def _take_typed(self, data: QueryDict) -> None:
        row = self._edited_row()
        if row is None or "row-sent" not in data:
            return
        self.form = RowForm(self.section, row, content=self.content, data=data)
        if not self.form.is_valid():
            return
        changed = self.form.changed_row()
        if self.section == "facts":
            self._write(changed)
        else:
            assert self.open_row is not None
            self._write(with_row(self.content, self.section, self.open_row, changed))

    def _show_form(self) -> None:
        row = self._edited_row()
        self.form = RowForm(self.section, row, content=self.content) if row is not None else None
        if row is None:
            self.open_row = None


RowAction = Callable[[Mapping[str, Any], str, int], dict[str, Any]]
ROW_ACTIONS: Mapping[str, RowAction] = {
    "remove": without_row,
    "up": lambda content, section, number: with_moved_row(content, section, number, by=-1),
    "down": lambda content, section, number: with_moved_row(content, section, number, by=1),
}


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _is_list_of_rows(rows: object) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
