"""Starting follow-ups of test cases: what is there to follow up, and what it takes at most."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Max

from searches.enums import CASE_METHOD, CaseKind, FindingState
from searches.models import Campaign, DatasetPicture, ModalityCase, SutRecord
from searches.services.call_costs import Prompted, most_a_call_costs
from searches.services.case_choices import DEFAULT_MOST, suspected_cases
from searches.services.case_wishes import confirmations_of, most_answers
from searches.services.estimates import GUESSED_ANSWER_SECONDS, round_duration
from searches.services.follow_up_lists import FollowUpLine, follow_up_lines
from searches.services.follow_ups import FollowUpWish
from searches.services.modality_plans import GUESSED_PERTURB_SECONDS
from searches.services.suts import params_of
from vlmlab.core.verdicts.config import ConfirmConfig

SHOWN_FOLLOW_UPS = 10
STATE_ORDER = (
    FindingState.SUSPECTED,
    FindingState.CONFIRMED,
    FindingState.REFUTED,
    FindingState.UNDETERMINED,
)


@dataclass(frozen=True)
class CaseFollowUps:
    """What the page of a campaign says of its cases and their follow-ups.

    Attributes:
        by_state: failing cases by state, in the order of ``FindingState``.
        n_suspected: those that may be confirmed.
        n_taken: how many a confirmation takes up unless somebody says otherwise.
        most: answers that it takes at most.
        is_first: whether it would fix the family of the campaign.
        lines: follow-ups so far, newest first.
    """

    by_state: tuple[tuple[FindingState, int], ...]
    n_suspected: int
    n_taken: int
    most: int
    is_first: bool
    lines: list[FollowUpLine]

    @property
    def n_failing(self) -> int:
        """Failing cases in all."""
        return sum(number for _, number in self.by_state)


@dataclass(frozen=True)
class WishEstimate:
    """What a follow-up takes at most.

    Attributes:
        n_cases: cases, counted once.
        most: answers at most, over its systems.
        seconds: wall time of these on one worker, about.
        most_usd: US dollars at most; None where a price is unknown.
    """

    n_cases: int
    most: int
    seconds: float
    most_usd: float | None


def case_follow_ups(campaign: Campaign) -> CaseFollowUps:
    """Return what the page of a modality campaign shows of its follow-ups (a constant number of queries)."""
    rows = ModalityCase.objects.filter(
        modality_run__campaign=campaign, kind=CaseKind.RETURNED, is_failure=True
    )
    counts = Counter(rows.order_by().values_list("state", flat=True))
    n_suspected = suspected_cases(campaign).count()
    taken = min(n_suspected, DEFAULT_MOST)
    followed = Campaign.objects.filter(follows=campaign, method=CASE_METHOD).select_related("follows")
    return CaseFollowUps(
        by_state=tuple((state, counts[state]) for state in STATE_ORDER if counts[state]),
        n_suspected=n_suspected,
        n_taken=taken,
        most=taken * (1 + ConfirmConfig().max_samples),
        is_first=not confirmations_of(campaign).exists(),
        lines=follow_up_lines(list(followed.order_by("-pk")[:SHOWN_FOLLOW_UPS])),
    )


def wish_estimate(wish: FollowUpWish) -> WishEstimate:
    """Return what a follow-up takes at most, and how long that would be.

    Raises:
        ConfigError: the stored settings of a system are not valid any more.
    """
    cases = {one.case.pk: one.case for _, wishes in wish.items for one in wishes if one.case is not None}
    largest = _largest(list(cases.values()))
    prompt = max((case.prompt for case in cases.values()), key=len, default="")
    total, seconds = most_answers(wish), 0.0
    each = total / max(1, len(wish.items))
    cost: float | None = 0.0
    for sut, _ in wish.items:
        pace = GUESSED_ANSWER_SECONDS if sut.mean_latency_ms is None else sut.mean_latency_ms / 1000
        seconds += each * (pace + GUESSED_PERTURB_SECONDS)
        a_call = most_a_call_costs(params_of(sut), Prompted(prompt, largest))
        cost = None if cost is None or a_call is None else cost + a_call * each
    return WishEstimate(len(cases), total, round_duration(seconds), cost)


def askable_systems() -> list[SutRecord]:
    """Return the systems that may be asked, by name."""
    return list(SutRecord.objects.filter(is_enabled=True).order_by("name"))


def _largest(cases: Sequence[ModalityCase]) -> tuple[int, int]:
    pictures = DatasetPicture.objects.filter(modality_runs__cases__in=[case.pk for case in cases])
    found = pictures.aggregate(width=Max("width"), height=Max("height"))
    return found["width"] or 1, found["height"] or 1
