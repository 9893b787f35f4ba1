"""What a confirmation decides: the state of findings, from the fresh samples of the whole family together."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from searches.enums import FINAL_STATES, FOLLOW_UP_METHOD, FindingState, FollowUpName, RunState, Verdict
from searches.models import Campaign, Finding, FollowUpItem, Sample, Trial
from searches.services.follow_up_collapsing import collapse_findings
from searches.services.scene_flags import adjusted_counts, flagged_samples
from vlmlab.core.complaints import checked_settings
from vlmlab.core.stats import clopper_pearson
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.settling import FreshCounts, Settlement, settle_family

DECIDED = (FindingState.CONFIRMED, FindingState.REFUTED)


def settle_confirmation(campaign: Campaign) -> None:
    """Write what a confirmation has decided so far into its findings, and the rest once its last run ended.

    A run decides its own items with the size of the whole family, and such decisions stay; once all runs
    have ended, e-BH over all items together may add to them. Scenes that people flagged do not count. Doing
    it again changes nothing but what was flagged meanwhile.

    Call it inside the transaction that ends a run.
    """
    config = checked_settings(ConfirmConfig, campaign.config)
    items = list(campaign.items.select_related("run", "finding").order_by("run_id", "order"))
    counts = _counts(items)
    if config.protocol == "paper":
        _write_retest(items, counts, config)
        return
    is_final = all(item.run.state in FINAL_STATES for item in items)
    known = [
        FreshCounts(fails, n, _place(item, config), is_open=_is_open(item))
        for item, (fails, n, _) in zip(items, counts, strict=True)
    ]
    newer = newer_evidence(items)
    for item, one, count in zip(items, settle_family(known, config), counts, strict=True):
        if item.run.state not in FINAL_STATES:
            continue  # its worker writes it
        if one.state not in DECIDED and _stays(item):
            continue  # it was settled before somebody flagged scenes of it
        if one.state in DECIDED:
            _settle_item(item, one.state, "crossed")
        elif is_final and not _is_open(item):
            reason = "flagged" if item.state in DECIDED else item.reason or "exhausted"
            _settle_item(item, FindingState.UNDETERMINED, reason)
        if one.state in DECIDED or is_final:
            told = newer.get(item.finding_id or 0, set())
            if told & set(DECIDED) or (told and one.state not in DECIDED):
                continue
            _settle_finding(item, one, config, count)
    if campaign.follows is not None:
        collapse_findings(campaign.follows)


def newer_evidence(items: Sequence[FollowUpItem]) -> dict[int, set[str]]:
    """Return what later confirmations have said of findings: an older one must not speak over them.

    Older ones settle late where a run of theirs failed and was resumed.
    """
    if not items:
        return {}
    later = FollowUpItem.objects.filter(
        finding__in=[item.finding_id for item in items if item.finding_id is not None],
        campaign__method=FOLLOW_UP_METHOD,
        campaign__kind=FollowUpName.CONFIRM,
        campaign__config__protocol="sequential",
        campaign__gt=items[0].campaign_id,
        run__state__in=FINAL_STATES,
        n__gt=0,
    ).exclude(state="")
    found: dict[int, set[str]] = {}
    for finding_id, state in later.values_list("finding_id", "state"):
        found.setdefault(finding_id or 0, set()).add(state)
    return found


def _stays(item: FollowUpItem) -> bool:
    """Whether an item was decided and its finding says so: decisions stay, flags are shown beside them."""
    return item.state in DECIDED and item.finding is not None and item.finding.state == item.state


def _is_open(item: FollowUpItem) -> bool:
    """Whether its run may still ask: it waits, works, or failed and can be resumed."""
    return item.run.state not in FINAL_STATES or (item.run.state == RunState.FAILED and not item.state)


def _place(item: FollowUpItem, config: ConfirmConfig) -> int | None:
    if config.later_index is None:
        return None
    return int(item.spec.get("settings", {}).get("place", config.later_index + item.order))


def _counts(items: Sequence[FollowUpItem]) -> list[tuple[int, int, int]]:
    """Return fails, answers and invalid answers of each item, without the scenes that people flagged."""
    trials = Trial.objects.filter(run__in={item.run_id for item in items}, variant="")
    rows = {(one.run_id, one.block, one.key): one.pk for one in trials}
    places = [rows.get((item.run_id, item.block, item.key)) for item in items]
    flagged = adjusted_counts([pk for pk in places if pk is not None])
    left = _counts_left(list(flagged))
    return [
        (item.fails, item.n, int(item.numbers.get("invalid", 0)))
        if pk is None or pk not in flagged
        else left.get(pk, (0, 0, 0))
        for item, pk in zip(items, places, strict=True)
    ]


def _counts_left(trial_ids: Sequence[int]) -> dict[int, tuple[int, int, int]]:
    """Return fails, answers and invalid answers on unflagged scenes, each picture once as its search counts.

    A flag on any of the scenes that show one picture speaks of that picture.
    """
    told = Sample.objects.filter(trial__in=trial_ids, told_verdict__in=(Verdict.PASS, Verdict.FAIL))
    out = set(flagged_samples(told).values_list("trial_id", "image_sha256"))
    found: dict[int, tuple[int, int, int]] = {}
    seen: set[tuple[int, str]] = set()
    columns = ("pk", "trial_id", "image_sha256", "told_verdict", "answer_status")
    for pk, trial_id, picture, verdict, status in told.order_by("step", "position").values_list(*columns):
        shown = (trial_id, picture or f"sample {pk}")
        if shown in seen or (trial_id, picture) in out:
            continue
        seen.add(shown)
        fails, n, invalid = found.get(trial_id, (0, 0, 0))
        found[trial_id] = (fails + (verdict == Verdict.FAIL), n + 1, invalid + (status == "invalid"))
    return found


def _settle_item(item: FollowUpItem, state: str, reason: str) -> None:
    if (item.state, item.reason) != (state, reason):
        item.state, item.reason = state, reason
        item.save(update_fields=["state", "reason"])


def _settle_finding(
    item: FollowUpItem, one: Settlement, config: ConfirmConfig, count: tuple[int, int, int]
) -> None:
    """Write the newest evidence into a finding; what was decided before stays where nothing is now."""
    finding = item.finding
    fails, n, invalid = count
    if finding is None or not n:
        return
    state = FindingState(one.state) if one.state in DECIDED else FindingState.UNDETERMINED
    if _is_open(item) and state not in DECIDED:
        return
    if state not in DECIDED and finding.state in DECIDED and finding.log_e_value is not None:
        return
    _write(
        finding,
        state=state,
        fresh_fails=fails,
        fresh_n=n,
        fresh_invalid=invalid,
        fresh_low=one.interval.low,
        fresh_high=one.interval.high,
        fresh_level=one.interval.level,
        log_e_value=one.log_e,
        family_size=config.family_size,
    )


def _write_retest(
    items: Sequence[FollowUpItem], counts: Sequence[tuple[int, int, int]], config: ConfirmConfig
) -> None:
    """Write the rates of the paper's protocol; it holds no error rate, so it settles no state.

    Evidence of a sequential confirmation is not replaced.
    """
    for item, (fails, n, invalid) in zip(items, counts, strict=True):
        finding = item.finding
        if finding is None or not n or item.run.state not in FINAL_STATES or finding.log_e_value is not None:
            continue
        interval = clopper_pearson(fails, n, config.coverage)
        _write(
            finding,
            fresh_fails=fails,
            fresh_n=n,
            fresh_invalid=invalid,
            fresh_low=interval.low,
            fresh_high=interval.high,
            fresh_level=config.coverage,
        )


def _write(finding: Finding, **values: Any) -> None:
    if any(getattr(finding, name) != value for name, value in values.items()):
        Finding.objects.filter(pk=finding.pk).update(**values, settled_at=timezone.now())
