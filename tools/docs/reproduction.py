"""Writes the part of the manual on reproductions that comes from the code.

python -m tools.docs.reproduction
"""

from pathlib import Path

from vlmlab.core.revelio.inconsistencies import KIND_TITLES, find_inconsistencies
from vlmlab.core.revelio.published import published
from vlmlab.core.verdicts.reproduction import REPRODUCTIONS, WAYS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduce.md"
BEGIN = "## Every table and figure"


def generated() -> str:
    """Return the generated part of the page, from its first heading to the end."""
    return "\n".join([*_overview(), *_guesses(), *_inconsistencies()])


def rewritten(page: str) -> str:
    """Return the page with its generated part as the code has it."""
    return page.partition(BEGIN)[0] + generated() + "\n"


def _overview() -> list[str]:
    lines = [BEGIN, "", "| | Shows | Done by |", "|---|---|---|"]
    for one in REPRODUCTIONS.values():
        lines.append(f"| {one.paper}, {one.label}: {one.title} | {one.shows} | {WAYS[one.way]} |")
    return [*lines, ""]


def _guesses() -> list[str]:
    lines = ["## What had to be guessed", ""]
    users: dict[str, list[str]] = {}
    for one in REPRODUCTIONS.values():
        for guess in one.guesses:
            label = one.label if one.label.startswith(("Table", "Fig")) else one.title
            users.setdefault(guess, []).append(f"{one.paper} {label}")
    for guess, named in users.items():
        lines.append(f"- {guess} *{_listed(named)}.*")
    return [*lines, ""]


def _listed(named: list[str]) -> str:
    papers: dict[str, list[str]] = {}
    for one in named:
        paper, _, label = one.partition(" ")
        papers.setdefault(paper, []).append(label)
    return "; ".join(f"{paper}: {', '.join(labels)}" for paper, labels in papers.items())


def _inconsistencies() -> list[str]:
    found = find_inconsistencies(published())
    lines = [
        "## What does not fit in the papers",
        "",
        f"{len(found)} things in the tables of Revelio, computed from the numbers that come with the lab.",
    ]
    for kind, title in KIND_TITLES.items():
        lines += ["", f"### {title}", ""]
        lines += [
            f"- Table {', '.join(map(str, one.tables))}, {one.place}: {one.sentence}"
            for one in found
            if one.kind == kind
        ]
    return lines


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
