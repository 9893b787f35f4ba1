"""What a follow-up of test cases asks: which cases, of which systems, with which settings."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from searches.enums import CASE_METHOD, FindingState, FollowUpName
from searches.models import Campaign, FamilyMember, FollowUpItem, ModalityCase, RegressionFamily, SutRecord
from searches.services.case_choices import DEFAULT_MOST, chosen_cases
from searches.services.follow_up_families import family_place, placed
from searches.services.follow_ups import MAX_NAME, FollowUpWish, ItemWish
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import VlmLabError
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.verdicts.config import ConfirmConfig, RegressConfig, TransferConfig
from vlmlab.core.verdicts.queries import block_of
from vlmlab.web.numbers import write_many

SETTLED = (FindingState.CONFIRMED, FindingState.REFUTED)


def confirm_cases_wish(
    source: Campaign | Sequence[ModalityCase],
    *,
    most: int | None = DEFAULT_MOST,
    criterion: FailureCriterion = FailureCriterion.C1,
    values: Mapping[str, Any] | None = None,
    name: str = "",
) -> FollowUpWish:
    """Return the wish to confirm cases by fresh draws, each on the system on which it was found.

    The first confirmation of a whole campaign is its family: its size is fixed here, before the first draw,
    and it has the larger part of the false discovery rate. Cases chosen one by one, and what a second
    confirmation of the campaign takes up, stand in the line of later suspects, which has the rest.

    Args:
        source: a modality campaign, or cases of one.
        most: of a campaign, how many cases at most.
        criterion: what counts as a failure.
        values: settings that differ from those of ``ConfirmConfig``.
        name: "" for one that says what is done.

    Raises:
        VlmLabError: there is nothing to confirm, cases are of several campaigns or settled already, or a
            setting is out of range.
    """
    if isinstance(source, Campaign):
        campaign, is_family = source, not confirmations_of(source).exists()
        cases = chosen_cases(campaign, most=most, criterion=criterion)
        if not cases:
            raise VlmLabError(
                "No case of this campaign waits to be confirmed.",
                hint="Only failures are confirmed: wrong boxes on an input close to the clean one, with "
                "fresh draws that were not asked before.",
            )
    else:
        cases, is_family = list(source), False
        campaign = _only_campaign(cases)
        _check_open(cases)
    slots = int(campaign.config.get("slots", ConfirmConfig().slots))
    settings = {"slots": slots} | dict(values or {})
    if settings.get("protocol", "sequential") != "sequential":
        raise VlmLabError(
            "Test cases are confirmed sequentially; the paper's re-test is one of concept sets.",
            field="protocol",
        )
    config = checked_settings(ConfirmConfig, settings)
    place = family_place(campaign, len(cases), method=CASE_METHOD, is_later=not is_family)
    config = placed(config, place)  # taken again, with nobody else, when it is stored
    places = {case.pk: {"criterion": criterion.value} for case in cases}
    return FollowUpWish(
        kind="confirm",
        config=config,
        domain_ref="",
        items=_by_own_system(cases, places),
        name=name or _name("Confirmation", campaign, cases, source),
        follows=campaign,
        method=CASE_METHOD,
    )


def transfer_cases_wish(
    cases: Sequence[ModalityCase],
    targets: Sequence[SutRecord],
    *,
    draws: int = 0,
    has_random: bool = True,
    criterion: FailureCriterion = FailureCriterion.C1,
    values: Mapping[str, Any] | None = None,
    name: str = "",
) -> FollowUpWish:
    """Return the wish to show cases to other systems: the very input, where each is right without it.

    Args:
        cases: of one or more campaigns.
        targets: systems to ask; one on which a case was found shows whether it fails again.
        draws: fresh draws of each case beside its own input.
        has_random: also ask a random strategy on the same budget, for how often a system fails unprovoked.
        criterion: what counts as a failure.
        values: settings that differ from those of ``TransferConfig``.
        name: "" for one that says what is done.

    Raises:
        VlmLabError: nothing is chosen, or a setting is out of range.
    """
    if not cases:
        raise VlmLabError("No test case is chosen.", hint="Choose at least one failing case.", field="cases")
    if not targets:
        raise VlmLabError("No system is chosen.", hint="Choose at least one to ask.", field="suts")
    campaigns = {case.modality_run.campaign_id: case.modality_run.campaign for case in cases}
    follows = next(iter(campaigns.values())) if len(campaigns) == 1 else None
    settings = {"scenes": max(1, draws), "random_sets": len(cases) if has_random else 0}
    config = checked_settings(TransferConfig, settings | dict(values or {}))
    wishes = [
        _item(case, {"draws": draws, "random": has_random, "criterion": criterion.value}) for case in cases
    ]
    return FollowUpWish(
        kind="transfer",
        config=config,
        domain_ref="",
        items=[(target, wishes) for target in targets],
        name=name or _name("Transfer", follows, cases, follows),
        follows=follows,
        method=CASE_METHOD,
        accepts_changed_system=True,
    )


def regress_cases_wish(
    family: RegressionFamily,
    *,
    config: RegressConfig,
    suts: Sequence[SutRecord],
    name: str = "",
    spec: Mapping[str, Any] | None = None,
    run_seed: int | None = None,
    criterion: FailureCriterion = FailureCriterion.C1,
) -> FollowUpWish:
    """Return the wish to show the pinned cases of a family to systems, all of them the same inputs.

    With one scene a case, each is shown its own input only. With more, it is shown its own input and as many
    fresh draws, and the draws are what is compared: with its own input the baseline was found wrong, so it
    looks better there the second time.

    Args:
        family: what is pinned.
        config: settings; ``scenes`` says how many inputs a case is compared on.
        suts: baseline and candidate.
        name: "" for that of the family.
        spec: what is stored of where it started from.
        run_seed: where draws come from; None for draws that nothing was asked on before.
        criterion: what counts as a failure.

    Raises:
        VlmLabError: no pinned case is left.
    """
    members = [one for one in family.members.select_related("case").order_by("order") if one.case is not None]
    if not members:
        raise VlmLabError(
            f"No test case of “{family.name}” is left.",
            hint="Their campaigns were deleted. Pin others.",
            field="family",
        )
    draws = config.scenes if config.scenes > 1 else 0
    wishes = [_pinned(member, draws=draws, criterion=criterion) for member in members]
    return FollowUpWish(
        kind="regress",
        config=config,
        domain_ref="",
        items=[(sut, wishes) for sut in suts],
        name=(name or family.name)[:MAX_NAME],
        family=family,
        spec=dict(spec or {}),
        run_seed=run_seed,
        method=CASE_METHOD,
        accepts_changed_system=True,
    )


def confirmations_of(campaign: Campaign) -> QuerySet[Campaign]:
    """Return the confirmations of whole campaigns: those that fixed a family."""
    rows = Campaign.objects.filter(follows=campaign, method=CASE_METHOD, kind=FollowUpName.CONFIRM)
    return rows.filter(config__later_index=None)


def most_answers(wish: FollowUpWish) -> int:
    """Return the most answers that a follow-up of cases can take."""
    total = 0
    for _, wishes in wish.items:
        for one in wishes:
            if isinstance(wish.config, ConfirmConfig):
                total += 1 + wish.config.max_samples
            else:
                total += 2 + bool(one.settings.get("random")) + int(one.settings.get("draws", 0))
    budget = wish.config.inference_budget
    return total if budget is None else min(total, budget * len(wish.items))


def _only_campaign(cases: Sequence[ModalityCase]) -> Campaign:
    if not cases:
        raise VlmLabError("No test case is chosen.", hint="Choose at least one.", field="cases")
    campaigns = {case.modality_run.campaign_id: case.modality_run.campaign for case in cases}
    if len(campaigns) > 1:
        raise VlmLabError(
            "These cases are of several campaigns.",
            hint="Confirm those of one campaign together: its error rate is held over them.",
            field="cases",
        )
    return next(iter(campaigns.values()))


def _check_open(cases: Sequence[ModalityCase]) -> None:
    for case in cases:
        if case.state in SETTLED:
            raise VlmLabError(
                f"Case {case.pk} is {case.get_state_display().lower()} already.",
                hint="Evidence is taken once; transfer the case to ask it again.",
            )
        if not case.is_failure:
            raise VlmLabError(
                f"Case {case.pk} is no failure, so there is nothing to confirm.",
                hint="A failure is wrong boxes on an input that is close enough to the clean one.",
            )
    waiting = FollowUpItem.objects.filter(
        case__in=[case.pk for case in cases],
        campaign__kind=FollowUpName.CONFIRM,
        campaign__runs__state__in=("queued", "running", "paused", "cancelling"),
    )
    pk = waiting.values_list("case_id", flat=True).first()
    if pk is not None:
        raise VlmLabError(f"Case {pk} is being confirmed already.", hint="Open the follow-up to see it.")


def _by_own_system(
    cases: Sequence[ModalityCase], settings: Mapping[int, Mapping[str, Any]]
) -> list[tuple[SutRecord, list[ItemWish]]]:
    by_sut: dict[int, tuple[SutRecord, list[ItemWish]]] = {}
    for case in cases:
        sut = case.modality_run.sut
        by_sut.setdefault(sut.pk, (sut, []))[1].append(_item(case, settings[case.pk]))
    return list(by_sut.values())


def _item(case: ModalityCase, settings: Mapping[str, Any]) -> ItemWish:
    return ItemWish(case=case, block=case_block(case), settings=settings)


def case_block(case: ModalityCase) -> str:
    """Return what the draws of a case are seeded by; the same for every system."""
    return block_of("case", str(case.pk))


def _pinned(member: FamilyMember, *, draws: int, criterion: FailureCriterion) -> ItemWish:
    assert member.case is not None
    settings = {"draws": draws, "criterion": criterion.value}
    return ItemWish(case=member.case, member=member, block=case_block(member.case), settings=settings)


def _name(what: str, campaign: Campaign | None, cases: Sequence[ModalityCase], source: object) -> str:
    if isinstance(source, Campaign) or len(cases) > 1:
        of = campaign.name if campaign else write_many(len(cases), "case")
        return f"{what} of {of}"[:MAX_NAME]
    return f"{what} of case {cases[0].pk}"
