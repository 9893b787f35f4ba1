"""The verdict of a decision card: planned scenes, bounds that hold together, and totals over cells.

Every bound of a card is exact (Clopper-Pearson, one-sided) at level ``1 - (1 - level) / cells``, so all upper
bounds hold together at the level, and so do all lower ones (Bonferroni). A cell passes when its upper bound
is at most its limit, fails when its lower bound is above it, and has not enough evidence otherwise. That a
cell is safe is said only with its bound: 5 of 5 right answers leave an error rate of up to 45 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, log1p

from vlmlab.core.checks import check_count, check_share
from vlmlab.core.errors import ConfigError
from vlmlab.core.stats import lower_bound, upper_bound
from vlmlab.core.verdicts.envelope import EnvelopeSpec
from vlmlab.core.verdicts.regress import FAMILY_WORDS, FamilyVerdict

CARD_WORDS = FAMILY_WORDS
MOST_SAMPLES = 20_000  # scenes of a cell; with the spare ones their numbers fit in the records


@dataclass(frozen=True)
class CellCounts:
    """What fresh draws of a cell said.

    Attributes:
        errors: wrong answers of the kinds that count.
        n: answers.
        is_stopped: asking ended before the planned scenes because the cell had failed for certain; then
            there is no rate.
    """

    errors: int
    n: int
    is_stopped: bool = False


@dataclass(frozen=True)
class CellReading:
    """The verdict of a cell.

    Attributes:
        low, high: one-sided bounds of its error rate, at ``level`` each.
        rate: errors / n; None without answers, or where asking was stopped.
        planned: scenes planned.
    """

    verdict: FamilyVerdict
    errors: int
    n: int
    planned: int
    limit: float
    low: float
    high: float
    level: float
    rate: float | None


@dataclass(frozen=True)
class Total:
    """A weighted mean over cells with its upper bound; ``value`` None where a cell has no rate."""

    value: float | None
    high: float


@dataclass(frozen=True)
class CardReading:
    """The verdict of a card.

    Attributes:
        verdict: pass: every cell passes. fail: a cell fails. Otherwise not enough evidence.
        level: at which all bounds hold together.
        exposure: error rate over cells weighted by exposure; None where all exposures are 0.
        harm: harm a scene, errors weighted by exposure times harm; None as above.
    """

    verdict: FamilyVerdict
    cells: tuple[CellReading, ...]
    level: float
    exposure: Total | None
    harm: Total | None


def level_each(level: float, cells: int) -> float:
    """Return the level of each bound with which all of them hold together at ``level`` (Bonferroni)."""
    return 1.0 - (1.0 - check_share("level", level)) / check_count("cells", cells, low=1)


def samples_needed(limit: float, *, level: float = 0.95, errors: int = 0) -> int:
    """Return the fewest scenes whose upper bound is at most ``limit`` with that many errors.

    Without errors it is ``ln(1 - level) / ln(1 - limit)``: 149 for 2 % at 95 %.

    Raises:
        ConfigError: more than 20,000 scenes would be needed.
        ValueError: a share is out of range.
    """
    check_share("limit", limit)
    low = check_count("errors", errors)
    wanted = log(1.0 - check_share("level", level)) / log1p(-limit)
    high = max(ceil(min(wanted, 2.0 * MOST_SAMPLES)), errors + 1)
    while high <= MOST_SAMPLES and upper_bound(errors, high, level) > limit:
        low, high = high, 2 * high
    if high > MOST_SAMPLES:
        raise ConfigError(
            f"To show an error rate below {limit:g} with {errors} errors, more than {MOST_SAMPLES:,} scenes "
            "would be needed.",
            hint="Raise the limit or allow fewer errors.",
            field="limit",
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if upper_bound(errors, middle, level) <= limit else (middle, high)
    return high


def planned_samples(spec: EnvelopeSpec, level: float = 0.95) -> list[int]:
    """Return the scenes that each cell needs to pass with the errors it allows.

    Raises:
        ConfigError: a cell needs more than 20,000; ``field`` says which.
    """
    each = level_each(level, len(spec.cells))
    planned = []
    for position, cell in enumerate(spec.cells):
        try:
            planned.append(samples_needed(cell.limit, level=each, errors=cell.errors_allowed))
        except ConfigError as error:
            raise ConfigError(error.message, hint=error.hint, field=f"cells.{position}.limit") from error
    return planned


def fewest_failing(n: int, limit: float, *, level: float) -> int:
    """Return the fewest errors in n scenes whose lower bound is above the limit; n + 1 where none is."""
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if lower_bound(middle, n, level) > limit else (middle, high)
    return high


def judge_cell(counts: CellCounts, *, limit: float, level: float, planned: int) -> CellReading:
    """Return the verdict of a cell.

    Args:
        counts: of fresh draws by the cell's weights, never of a search.
        limit: the claimed bound.
        level: of each bound, corrected for the number of cells (``level_each``).
        planned: scenes planned. Fewer answers widen the bounds; a cell that was stopped is judged as if all
            other planned scenes had been right, which its errors outweigh.
    """
    total = max(planned, counts.n) if counts.is_stopped else counts.n
    low = lower_bound(counts.errors, total, level) if total else 0.0
    high = 1.0 if counts.is_stopped else upper_bound(counts.errors, total, level)
    verdict: FamilyVerdict = "not_enough"
    if high <= limit:
        verdict = "pass"
    elif low > limit:
        verdict = "fail"
    rate = counts.errors / counts.n if counts.n and not counts.is_stopped else None
    return CellReading(verdict, counts.errors, counts.n, planned, limit, low, high, level, rate)


def judge_card(spec: EnvelopeSpec, counts: Sequence[CellCounts], *, level: float = 0.95) -> CardReading:
    """Return the verdict of a card.

    The bound of a total is the weighted mean of the cells' upper bounds: they hold together, so it does too.

    Args:
        spec: the envelope as it was declared before the first scene.
        counts: of each cell, in its order.
        level: at which all bounds hold together.

    Raises:
        ValueError: there are not as many counts as cells.
    """
    if len(counts) != len(spec.cells):
        raise ValueError(f"counts must have one entry a cell, got {len(counts)} for {len(spec.cells)}")
    each = level_each(level, len(spec.cells))
    cells = tuple(
        judge_cell(one, limit=cell.limit, level=each, planned=planned)
        for one, cell, planned in zip(counts, spec.cells, planned_samples(spec, level), strict=True)
    )
    verdicts = {cell.verdict for cell in cells}
    verdict: FamilyVerdict = (
        "fail" if "fail" in verdicts else "pass" if verdicts == {"pass"} else "not_enough"
    )
    exposures = [cell.exposure for cell in spec.cells]
    harms = [cell.exposure * cell.harm for cell in spec.cells]
    whole = sum(exposures)
    return CardReading(
        verdict,
        cells,
        level,
        _total(cells, exposures, whole=whole) if whole > 0.0 else None,
        _total(cells, harms, whole=whole) if whole > 0.0 else None,
    )


def _total(cells: Sequence[CellReading], weights: Sequence[float], *, whole: float) -> Total:
    met = [(cell, weight) for cell, weight in zip(cells, weights, strict=True) if weight > 0.0]
    rates = [cell.rate for cell, _ in met]
    value = None
    if None not in rates:
        value = sum((cell.rate or 0.0) * weight for cell, weight in met) / whole
    return Total(value, sum(cell.high * weight for cell, weight in met) / whole)
