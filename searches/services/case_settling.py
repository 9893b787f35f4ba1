"""What the draws of test cases decide: the end of their items, and the state of confirmed cases."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import Count
from django.utils import timezone

from searches.enums import CASE_METHOD, FINAL_STATES, AnswerKind, FindingState, FollowUpName, RunState
from searches.models import Campaign, CaseSample, FollowUpItem, ModalityCase, SearchRun
from vlmlab.core.complaints import checked_settings
from vlmlab.core.verdicts.case_draws import FIRST_FRESH
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.queries import ItemResult
from vlmlab.core.verdicts.settling import FreshCounts, Settlement, settle_family
from vlmlab.web.numbers import write_many

STATE_WORDS = {
    "confirmed": "confirmed",
    "refuted": "refuted",
    "undetermined": "undetermined",
    "fails": "fail here",
    "holds": "hold here",
    "ineligible": "on pictures that are answered wrongly without a perturbation",
}
"""State of an item -> how sentences put it."""

DECIDED = (FindingState.CONFIRMED, FindingState.REFUTED)


def ending_sentence(run: SearchRun, results: Sequence[ItemResult]) -> str:
    """Return why a run ended that has nothing more to ask."""
    counts = Counter(one.state or "undetermined" for one in results)
    parts = [f"{counts[state]} {words}" for state, words in STATE_WORDS.items() if counts[state]]
    asked = write_many(run.n_inferences, "answer")
    return f"{write_many(len(results), 'case')} in {asked}: {', '.join(parts)}."


def settle_cases(campaign: Campaign) -> None:
    """Write what a confirmation has decided into its cases, and the rest once its last run has ended.

    The evidence of all runs is taken together (e-BH over the family that was fixed before the first draw), so
    a case may be confirmed at the end that its own run alone left open. Doing it again changes nothing.

    Call it inside the transaction that ends a run.
    """
    config = checked_settings(ConfirmConfig, campaign.config)
    items = list(campaign.items.select_related("run", "case").order_by("run_id", "order"))
    is_final = all(item.run.state in FINAL_STATES for item in items)
    malformed, newer = _malformed(campaign), _told_later(items)
    for item, one in zip(
        items, settle_family([_counts(item, config) for item in items], config), strict=True
    ):
        is_decided = one.state in DECIDED
        if item.run.state not in FINAL_STATES or not (is_decided or (is_final and not _is_open(item))):
            continue
        state = FindingState(one.state) if is_decided else FindingState.UNDETERMINED
        _settle_item(item, state, reason="crossed" if is_decided else item.reason or "exhausted")
        if item.case_id in newer:
            continue
        if item.case is not None and item.n and (is_decided or item.case.state not in DECIDED):
            _settle_case(item.case, state, item, one, config, invalid=malformed.get(item.pk, 0))


def _told_later(items: Sequence[FollowUpItem]) -> set[int | None]:
    """Return the cases that a later confirmation has decided: an older one must not speak over it."""
    if not items:
        return set()
    later = FollowUpItem.objects.filter(
        case__in=[item.case_id for item in items if item.case_id is not None],
        campaign__method=CASE_METHOD,
        campaign__kind=FollowUpName.CONFIRM,
        campaign__gt=items[0].campaign_id,
        run__state__in=FINAL_STATES,
        state__in=DECIDED,
    )
    return set(later.values_list("case_id", flat=True))


def _is_open(item: FollowUpItem) -> bool:
    """Whether its run may still ask: it waits, works, or failed and can be resumed."""
    return item.run.state not in FINAL_STATES or (item.run.state == RunState.FAILED and not item.state)


def _settle_item(item: FollowUpItem, state: FindingState, *, reason: str) -> None:
    if (item.state, item.reason) != (state, reason):
        item.state, item.reason = state, reason
        item.save(update_fields=["state", "reason"])


def _settle_case(
    case: ModalityCase,
    state: FindingState,
    item: FollowUpItem,
    one: Settlement,
    config: ConfirmConfig,
    *,
    invalid: int,
) -> None:
    values: dict[str, Any] = {
        "state": state,
        "fresh_fails": item.fails,
        "fresh_n": item.n,
        "fresh_invalid": invalid,
        "fresh_low": one.interval.low,
        "fresh_high": one.interval.high,
        "fresh_level": one.interval.level,
        "log_e_value": one.log_e,
        "family_size": config.family_size,
    }
    if any(getattr(case, name) != value for name, value in values.items()):
        ModalityCase.objects.filter(pk=case.pk).update(**values, settled_at=timezone.now())


def _counts(item: FollowUpItem, config: ConfirmConfig) -> FreshCounts:
    place = None
    if config.later_index is not None:
        place = int(item.spec.get("settings", {}).get("place", config.later_index + item.order))
    return FreshCounts(item.fails, item.n, place, is_open=_is_open(item))


def _malformed(campaign: Campaign) -> dict[int, int]:
    """Return how many of the draws that count were answered unreadably, by item."""
    rows: Any = CaseSample.objects.filter(
        item__campaign=campaign, number__gte=FIRST_FRESH, is_repeat=False, status=AnswerKind.MALFORMED
    )
    return dict(rows.order_by().values_list("item_id").annotate(Count("pk")))
