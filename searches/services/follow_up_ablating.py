"""What an ablation decides: which concepts of findings their failures need, and which smaller sets fail."""

from collections.abc import Mapping, Sequence
from typing import Any

from searches.enums import FINAL_STATES, KEY_SEPARATOR, Minimality, TrialStatus
from searches.models import Campaign, Finding, FollowUpItem, SearchRun, Trial
from searches.services.domain_store import find_domain
from searches.services.findings import record_findings
from searches.services.follow_up_collapsing import collapse_findings
from searches.services.follow_up_families import campaigns_below, root_of
from searches.services.run_log import log_events


def settle_ablation(campaign: Campaign) -> None:
    """Write what an ablation has found into its findings; smaller sets that still fail become suspects.

    They are suspects of the ablation's run: they stand on the scenes that chose them, so their counts are
    biased upwards until they are confirmed on fresh ones.

    Call it inside the transaction that ends a run; doing it again changes nothing.
    """
    for run in campaign.runs.filter(state__in=FINAL_STATES).select_related("campaign", "sut"):
        items = list(run.items.select_related("finding").order_by("order"))
        for item in items:
            _settle_finding(item)
        _add_suspects(run, items)
    if campaign.follows is not None:
        collapse_findings(campaign.follows)


def necessity_of(item: FollowUpItem) -> dict[str, dict[str, Any]]:
    """Return what an ablation says of each concept of an item, from the drops of that concept alone."""
    said: dict[str, dict[str, Any]] = {}
    for drop in item.numbers.get("drops", []):
        for concept in drop["concepts"]:
            alone = len(drop["concepts"]) == 1
            if alone or said.get(concept, {}).get("verdict") in (None, "invalid"):
                said[concept] = {"verdict": drop["necessity"], "with": drop["concepts"], **_evidence(drop)}
    return said


def _evidence(drop: Mapping[str, Any]) -> dict[str, Any]:
    names = ("n", "fails_with", "fails_without", "adjusted", "difference", "low", "high", "level", "why")
    return {name: drop[name] for name in names if drop.get(name) not in (None, "")}


def _settle_finding(item: FollowUpItem) -> None:
    finding = item.finding
    if finding is None or item.state not in (
        Minimality.MINIMAL,
        Minimality.REDUCIBLE,
        Minimality.UNDETERMINED,
    ):
        return
    was_decided = finding.minimality in (Minimality.MINIMAL, Minimality.REDUCIBLE)
    if item.state == Minimality.UNDETERMINED and was_decided:
        return
    Finding.objects.filter(pk=finding.pk).update(minimality=item.state, necessity=necessity_of(item))


def _add_suspects(run: SearchRun, items: Sequence[FollowUpItem]) -> None:
    wanted = {
        (item.block, KEY_SEPARATOR.join(one["key"]))
        for item in items
        for one in item.numbers.get("smaller", [])
        if one["still_fails"]
    }
    known = set(
        Finding.objects.filter(sut_id=run.sut_id, key__in=[key for _, key in wanted])
        .filter(run__campaign__in=campaigns_below(root_of(run.campaign)))
        .values_list("key", flat=True)
    )
    trials: dict[str, Trial] = {}
    for trial in Trial.objects.filter(run=run, variant="").order_by("order"):
        if (trial.block, trial.key) in wanted and trial.key not in known:
            trials.setdefault(trial.key, trial)
    if not trials:
        return
    Trial.objects.filter(pk__in=[trial.pk for trial in trials.values()]).update(
        status=TrialStatus.DECIDED_FAIL
    )
    lines = record_findings(
        run,
        list(trials.values()),
        domain=find_domain(run.campaign.domain_ref),
        at_inference=run.n_inferences,
    )
    log_events(run.pk, lines)
