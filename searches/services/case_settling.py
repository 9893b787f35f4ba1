"""What the draws of test cases decide: the end of their items, and the state of confirmed cases."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import Count
from django.utils import timezone

from searches.enums import FINAL_STATES, AnswerKind, FindingState, FollowUpName
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

CASE_FIELDS = [
    "state", "fresh_fails", "fresh_invalid", "fresh_n", "fresh_low", "fresh_high", "fresh_level",
    "log_e_value", "family_size", "settled_at",
]  # fmt: skip


def end_items(run: SearchRun, reason: str) -> None:
    """Note of items that are still open that their run has ended, inside the caller's transaction."""
    FollowUpItem.objects.filter(run=run, state="").update(state="undetermined", reason=reason)


def ending_sentence(run: SearchRun, results: Sequence[ItemResult]) -> str:
    """Return why a run ended that has nothing more to ask."""
    counts = Counter(one.state or "undetermined" for one in results)
    parts = [f"{counts[state]} {words}" for state, words in STATE_WORDS.items() if counts[state]]
    asked = write_many(run.n_inferences, "answer")
    return f"{write_many(len(results), 'case')} in {asked}: {', '.join(parts)}."


def settle_cases(campaign: Campaign) -> None:
    """Write what a confirmation decides into its cases, once its last run has ended.

    The evidence of all runs is taken together (e-BH over the family that was fixed before the first draw), so
    that a run may confirm what its own cases alone did not. Doing it again changes nothing.

    Call it inside the transaction that ends a run.
    """
    if campaign.kind != FollowUpName.CONFIRM:
        return
    if SearchRun.objects.filter(campaign=campaign).exclude(state__in=FINAL_STATES).exists():
        return
    config = checked_settings(ConfirmConfig, campaign.config)
    items = list(campaign.items.select_related("case").order_by("run_id", "order"))
    counts = [_counts(item, config) for item in items]
    malformed = _malformed(campaign)
    cases = []
    for item, one in zip(items, settle_family(counts, config), strict=True):
        item.state = "undetermined" if one.state == "suspected" else one.state
        if one.state in ("confirmed", "refuted"):
            item.reason = "crossed"
        if item.case is not None:
            cases.append(_settled(item.case, item, one, config, invalid=malformed.get(item.pk, 0)))
    FollowUpItem.objects.bulk_update(items, ["state", "reason"], batch_size=200)
    ModalityCase.objects.bulk_update(cases, CASE_FIELDS, batch_size=200)


def _counts(item: FollowUpItem, config: ConfirmConfig) -> FreshCounts:
    place = None
    if config.later_index is not None:
        place = int(item.spec.get("settings", {}).get("place", config.later_index + item.order))
    return FreshCounts(item.fails, item.n, place)


def _malformed(campaign: Campaign) -> dict[int, int]:
    """Return how many of the draws that count were answered unreadably, by item."""
    rows: Any = CaseSample.objects.filter(
        item__campaign=campaign, number__gte=FIRST_FRESH, is_repeat=False, status=AnswerKind.MALFORMED
    )
    return dict(rows.order_by().values_list("item_id").annotate(Count("pk")))


def _settled(
    case: ModalityCase, item: FollowUpItem, one: Settlement, config: ConfirmConfig, *, invalid: int
) -> ModalityCase:
    if not item.n:
        return case  # nothing fresh was seen: it stays what it was
    case.state = FindingState(item.state)
    case.fresh_fails, case.fresh_n, case.fresh_invalid = item.fails, item.n, invalid
    case.fresh_low, case.fresh_high = one.interval.low, one.interval.high
    case.fresh_level = one.interval.level
    case.log_e_value, case.family_size = one.log_e, config.family_size
    case.settled_at = timezone.now()
    return case
