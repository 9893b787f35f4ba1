"""What is said of regimes in general, held against the data of one campaign."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from vlmlab.core.most.comparisons import (
    IMAGE_JOINT,
    IMAGE_TEXT,
    TEXT_JOINT,
    ComparisonFamily,
    RegimeComparison,
    RegimePair,
)
from vlmlab.core.most.outcomes import FailureCriterion

Verdict = Literal["holds", "does not hold", "not enough data"]
LEAST_PAIRS = 6  # fewer cannot differ at the 5 % level, whatever they say: 2 / 2**5 > 0.05


@dataclass(frozen=True)
class Claim:
    """A sentence about two regimes that data can speak against.

    Attributes:
        sentence: what is claimed, in our words.
        source: whose claim it is, with the published number where there is one.
        metric: of ``PAIRED_METRICS``; "asr" for the criterion that was chosen.
        regimes: the two that are compared.
        is_first_larger: which of both is claimed to be larger.
        is_strict: whether a difference is claimed, or only that there is none the other way.
    """

    sentence: str
    source: str
    metric: str
    regimes: RegimePair
    is_first_larger: bool
    is_strict: bool


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with what the systems and scene types of a campaign say.

    Attributes:
        agreeing: cells that differ significantly as claimed.
        opposed: cells that differ significantly the other way.
        tested: cells with at least ``LEAST_PAIRS`` pairs.
        n: pairs in these cells.
        mean_difference: first - second over these pairs; None without one.
        family_size: tests adjusted together.
    """

    claim: Claim
    verdict: Verdict
    agreeing: int
    opposed: int
    tested: int
    n: int
    mean_difference: float | None
    family_size: int
    test: str


OURS = "an expectation of ours"
CLAIMS: tuple[Claim, ...] = (
    Claim(
        "Where text may help, the search changes the prompt less than where text is all it has.",
        "the paper: significant in 12 of 16 pairs of system and scene type",
        "ned", TEXT_JOINT, is_first_larger=True, is_strict=True,
    ),
    Claim(
        "Joint test cases spend less budget on text than test cases of text alone.",
        "the paper: significant in 13 of 16 pairs of system and scene type",
        "text_budget", TEXT_JOINT, is_first_larger=True, is_strict=True,
    ),
    Claim(
        "Image and text together break a system at least as often as image alone.",
        OURS, "asr", IMAGE_JOINT, is_first_larger=False, is_strict=False,
    ),
    Claim(
        "Image and text together break a system at least as often as text alone.",
        OURS, "asr", TEXT_JOINT, is_first_larger=False, is_strict=False,
    ),
    Claim(
        "Image perturbations break a system at least as often as text perturbations.",
        OURS, "asr", IMAGE_TEXT, is_first_larger=True, is_strict=False,
    ),
    Claim(
        "Joint test cases lose as much for as little change (SWTD) as those of image alone.",
        OURS, "swtd", IMAGE_JOINT, is_first_larger=False, is_strict=False,
    ),
    Claim(
        "Joint test cases lose as much for as little change (SWTD) as those of text alone.",
        OURS, "swtd", TEXT_JOINT, is_first_larger=False, is_strict=False,
    ),
)  # fmt: skip


def judged_claims(
    families: Mapping[str, ComparisonFamily], *, criterion: FailureCriterion
) -> list[JudgedClaim]:
    """Return every claim with its verdict.

    A strict claim holds when more than half of the tested cells (a system and a scene type each) differ
    significantly as claimed and none the other way. Any other claim holds when no cell differs significantly
    the other way and the mean difference does not either; where only the mean does, the data do not decide.

    Args:
        families: comparisons by metric, each scene type for itself.
        criterion: whose ASR is meant.
    """
    asr = f"asr_{criterion.value.lower()}"
    return [_judged(claim, families[asr if claim.metric == "asr" else claim.metric]) for claim in CLAIMS]


def _judged(claim: Claim, family: ComparisonFamily) -> JudgedClaim:
    cells = [one for one in family.comparisons if one.regimes == claim.regimes and one.n >= LEAST_PAIRS]
    sign = 1.0 if claim.is_first_larger else -1.0
    significant = [sign * _direction(one) for one in cells if one.is_significant()]
    agreeing, opposed = sum(way > 0 for way in significant), sum(way < 0 for way in significant)
    mean = _mean_difference(cells)
    return JudgedClaim(
        claim=claim,
        verdict=_verdict(
            claim, cells=len(cells), agreeing=agreeing, opposed=opposed, signed=sign * (mean or 0.0)
        ),
        agreeing=agreeing,
        opposed=opposed,
        tested=len(cells),
        n=sum(one.n for one in cells),
        mean_difference=mean,
        family_size=family.size,
        test="exact McNemar" if family.metric.test == "mcnemar" else "Wilcoxon signed ranks",
    )


def _verdict(claim: Claim, *, cells: int, agreeing: int, opposed: int, signed: float) -> Verdict:
    if not cells:
        return "not enough data"
    if claim.is_strict:
        return "holds" if 2 * agreeing > cells and not opposed else "does not hold"
    if opposed:
        return "does not hold"
    return "holds" if signed >= 0.0 else "not enough data"


def _direction(comparison: RegimeComparison) -> float:
    return comparison.effect or 0.0


def _mean_difference(cells: Sequence[RegimeComparison]) -> float | None:
    n = sum(one.n for one in cells)
    return sum((one.mean_difference or 0.0) * one.n for one in cells) / n if n else None
