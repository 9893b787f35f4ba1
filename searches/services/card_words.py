"""The sentences of a decision card: safe is said only with its bound."""

from typing import TYPE_CHECKING

from vlmlab.web.numbers import write_count, write_many

if TYPE_CHECKING:
    from searches.services.cards import CardCell, CardPage


def fine_percent(share: float) -> str:
    """Return a share with three figures: limits of a card are often a few percent, or less."""
    return f"{100 * share:.3g} %"


def cell_sentence(line: "CardCell") -> str:
    """Return what can be said of a cell, always with its bound."""
    reading, limit = line.reading, fine_percent(line.cell.limit)
    if reading is None:
        return f"{write_count(line.counts.n)} of {write_count(line.planned)} scenes are answered."
    if not reading.n:
        return "No scene was answered, so nothing is known."
    counted = f"{write_many(reading.errors, 'counted error')} in {write_many(reading.n, 'scene')}"
    if reading.verdict == "pass":
        return f"{counted}: at most {fine_percent(reading.high)}, which is within the limit of {limit}."
    if reading.verdict == "fail":
        return f"{counted}: at least {fine_percent(reading.low)}, which is above the limit of {limit}."
    return (
        f"{counted}: between {fine_percent(reading.low)} and {fine_percent(reading.high)}; whether that is "
        f"within {limit} is not shown."
    )


def card_sentence(page: "CardPage") -> str:
    """Return the verdict of a card in one sentence, with its bound."""
    name, reading = page.run.sut.name, page.reading
    if reading is None and page.run.is_final:
        state = page.run.get_state_display().lower()
        return f"There is no verdict, because not every scene was asked: the run is {state}."
    if reading is None:
        return f"{name} is being asked; the verdict comes when every cell has its scenes."
    confidence = f"at {page.level_words} confidence for all cells together"
    if reading.verdict == "pass":
        worst = max(cell.high for cell in reading.cells)
        return f"{name} stays within every limit {confidence}; no cell has more than {fine_percent(worst)}."
    failed = [cell.cell.title for cell in page.cells if cell.verdict == "fail"]
    if failed:
        return f"{name} is above the limit in {', '.join(failed[:3])}{_more(failed)} {confidence}."
    open_cells = [cell.cell.title for cell in page.cells if cell.verdict == "not_enough"]
    named = f"{', '.join(open_cells[:3])}{_more(open_cells)}"
    return f"It is not shown that {name} stays within the limit in {named}: that is no pass."


def _more(names: list[str]) -> str:
    return f" and {len(names) - 3} more" if len(names) > 3 else ""
