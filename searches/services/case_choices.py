"""Which test cases are followed up: those that fail, those that somebody names, and a fair part of many."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db.models import Q, QuerySet

from searches.enums import FINAL_STATES, CaseKind, FindingState, FollowUpName
from searches.models import Campaign, FollowUpItem, ModalityCase
from vlmlab.core.errors import VlmLabError
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.seeding import rng_for
from vlmlab.web.asked import asked_number

DEFAULT_MOST = 100
"""Cases of a campaign that are confirmed unless somebody says otherwise."""
MOST_CHOSEN = 500

Cell = tuple[int, str, str]


def suspected_cases(
    campaign: Campaign, *, criterion: FailureCriterion = FailureCriterion.C1
) -> QuerySet[ModalityCase]:
    """Return the returned cases of a campaign that fail and that wait for a confirmation.

    Those that are being confirmed, or that have no fresh draw, do not wait.

    By the first criterion these are the failures: wrong boxes on an input that is close enough to the clean
    one. The others take in empty, or unreadable, answers.
    """
    statuses = [status.value for status in criterion.failing_statuses]
    asked = FollowUpItem.objects.filter(campaign__kind=FollowUpName.CONFIRM, case__isnull=False)
    over = asked.filter(~Q(run__state__in=FINAL_STATES) | Q(reason="exhausted", n=0))
    rows = ModalityCase.objects.filter(
        Q(is_failure=True) | Q(status__in=statuses, is_faithful=True),
        modality_run__campaign=campaign,
        kind=CaseKind.RETURNED,
        state=FindingState.SUSPECTED,
    )
    return rows.exclude(pk__in=over.values("case_id"))


def chosen_cases(
    campaign: Campaign, *, most: int | None = DEFAULT_MOST, criterion: FailureCriterion = FailureCriterion.C1
) -> list[ModalityCase]:
    """Return the cases of a campaign to follow up: all, or ``most`` dealt over its cells.

    A cell is a system, a scene type and a regime. Cells take turns; within one, chance decides, seeded by the
    campaign. So nothing about the answers chooses, and a cell with few failures is not forgotten.

    Args:
        campaign: the modality campaign.
        most: how many at most; None for all.
        criterion: what counts as a failure.
    """
    rows = suspected_cases(campaign, criterion=criterion)
    cells: dict[Cell, list[int]] = defaultdict(list)
    places = ("modality_run__sut_id", "modality_run__stratum", "modality_run__regime", "pk")
    for sut, stratum, regime, pk in rows.order_by(*places).values_list(*places):
        cells[sut, stratum, regime].append(pk)
    wanted = [pk for pks in cells.values() for pk in pks]
    if most is not None and len(wanted) > most:
        wanted = _dealt(cells, most, seed=int(campaign.plan.get("seed", 0)))
    return list(rows.filter(pk__in=wanted).select_related("modality_run__sut__api_key").order_by("pk"))


def named_cases(numbers: Sequence[str]) -> list[ModalityCase]:
    """Return the failing cases that an address or a form names.

    Raises:
        VlmLabError: one is unknown or no failure, or there are too many.
    """
    wanted = list(dict.fromkeys(numbers))
    if len(wanted) > MOST_CHOSEN:
        raise VlmLabError(f"Choose at most {MOST_CHOSEN:,} cases.", field="cases")
    known = [pk for text in wanted if (pk := asked_number(text)) is not None]
    found = list(
        ModalityCase.objects.filter(pk__in=known).select_related(
            "modality_run__campaign", "modality_run__sut__api_key"
        )
    )
    if len(found) < len(wanted):
        raise VlmLabError(
            "A chosen case is gone.", hint="Its campaign was deleted: choose again.", field="cases"
        )
    broken = next((case for case in found if not case.is_failure), None)
    if broken is not None:
        raise VlmLabError(f"Case {broken.pk} is no failure.", hint="Choose failing cases.", field="cases")
    return found


def transferable(campaign: Campaign) -> list[ModalityCase]:
    """Return the failing returned cases of a campaign that were not refuted, confirmed ones first."""
    rows = ModalityCase.objects.filter(
        Q(is_failure=True), modality_run__campaign=campaign, kind=CaseKind.RETURNED
    ).exclude(state=FindingState.REFUTED)
    rows = rows.select_related("modality_run__campaign", "modality_run__sut__api_key").order_by("pk")
    return sorted(rows, key=lambda case: (case.state != FindingState.CONFIRMED, case.pk))


def dealt(cases: Sequence[ModalityCase], most: int) -> list[ModalityCase]:
    """Return at most so many cases, the systems on which they were found taking turns."""
    by_sut: dict[int, list[ModalityCase]] = {}
    for case in cases:
        by_sut.setdefault(case.modality_run.sut_id, []).append(case)
    taken: list[ModalityCase] = []
    for turn in range(max(map(len, by_sut.values()), default=0)):
        taken += [found[turn] for found in by_sut.values() if turn < len(found)]
    return taken[:most]


def _dealt(cells: Mapping[Cell, list[int]], most: int, *, seed: int) -> list[int]:
    """Return ``most`` of the cases: cells take turns, in an order and each with a choice that are drawn."""
    rng = rng_for(seed, "confirm")
    order = [list(pks) for _, pks in sorted(cells.items())]
    rng.shuffle(order)
    for pks in order:
        rng.shuffle(pks)
    turns = range(max(map(len, order)))
    return [pks[turn] for turn in turns for pks in order if turn < len(pks)][:most]
