"""Rows of follow-ups for tests of pages and services; every value can be said, nothing is random."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from searches.enums import FOLLOW_UP_METHOD, FindingState, RunState, TrialStatus
from searches.models import Campaign, Finding, FollowUpItem, RunEvent, SearchRun, SutRecord
from tests.factories import make_campaign, make_finding, make_finished_run, make_run, make_trial
from vlmlab.core.verdicts.config import FOLLOW_UP_CONFIGS
from vlmlab.core.verdicts.queries import block_of

CONFIRMED, REFUTED, OPEN = "FFFFFFPFFI", "PFPPPPPPPP", "FPFPFPFPEF"
"""Answers of a set that fails, of one that does not, and of one that nobody can tell (with a failed call)."""


def make_follow_up(
    kind: str = "confirm",
    *,
    follows: Campaign | None = None,
    config: dict[str, Any] | None = None,
    **values: Any,
) -> Campaign:
    """Make a follow-up without runs; ``config`` changes settings of its kind."""
    settings = FOLLOW_UP_CONFIGS[kind].model_validate(config or {})  # type: ignore[index]  # tests name kinds
    defaults: dict[str, Any] = {
        "name": f"{kind.capitalize()} of {follows.name if follows else 'nothing'}",
        "method": FOLLOW_UP_METHOD,
        "kind": kind,
        "follows": follows,
        "config": settings.model_dump(mode="json"),
    }
    if follows is not None:
        defaults |= {"domain": follows.domain, "domain_version": follows.domain_version}
    return make_campaign(**defaults | values)


def make_follow_up_run(campaign: Campaign, sut: SutRecord | None = None, **values: Any) -> SearchRun:
    """Make a finished run of a follow-up, without items."""
    defaults = {
        "state": RunState.SUCCEEDED,
        "finished_at": timezone.now(),
        "run_seed": 91,
        "stage": "fresh scenes",
    }
    return make_run(sut, campaign=campaign, **defaults | values)


def make_item(
    run: SearchRun,
    concepts: tuple[str, ...] = ("cone", "far"),
    *,
    verdicts: str = CONFIRMED,
    finding: Finding | None = None,
    numbers: dict[str, Any] | None = None,
    **values: Any,
) -> FollowUpItem:
    """Make an item with its set's trial and a sample a letter: F fail, P pass, I invalid, E call error.

    ``verdicts`` "" makes an item that nobody has asked about yet.
    """
    fails, passes = sum(verdicts.count(sign) for sign in "FI"), verdicts.count("P")
    block = block_of("set", *concepts)
    if verdicts:
        make_trial(run, concepts, verdicts=verdicts, block=block, stage=run.stage, status=TrialStatus.OPEN)
    defaults: dict[str, Any] = {
        "order": run.items.count(),
        "block": block,
        "key": "+".join(concepts),
        "concepts": list(concepts),
        "expected_action": "stop",
        "finding": finding,
        "fails": fails,
        "n": fails + passes,
        "numbers": {"invalid": verdicts.count("I")} | (numbers or {}),
        "spec": {"arms": [], "settings": {}},
    }
    return FollowUpItem.objects.create(campaign=run.campaign, run=run, **defaults | values)


def settle(item: FollowUpItem, state: str, **values: Any) -> Finding:
    """Write what a confirmation decided into the finding of an item, as its settling does."""
    finding = item.finding
    assert finding is not None
    invalid = item.numbers.get("invalid", 0)
    evidence: dict[str, Any] = {
        "state": state,
        "fresh_fails": item.fails,
        "fresh_invalid": invalid,
        "fresh_n": item.n,
        "fresh_low": item.numbers.get("low"),
        "fresh_high": item.numbers.get("high"),
        "fresh_level": item.numbers.get("level"),
        "log_e_value": item.numbers.get("log_e"),
        "family_size": item.campaign.config.get("family_size"),
        "settled_at": timezone.now(),
    }
    Finding.objects.filter(pk=finding.pk).update(**evidence | values)
    FollowUpItem.objects.filter(pk=item.pk).update(state=state)
    finding.refresh_from_db()
    item.refresh_from_db()
    return finding


def make_suspects(run: SearchRun | None = None) -> list[Finding]:
    """Return the two findings of a finished run and a third one, best known first."""
    run = run or make_finished_run()
    third = make_finding(make_trial(run, ("fog", "night"), verdicts="FPFF"), found_at_inference=13)
    SearchRun.objects.filter(pk=run.pk).update(n_modes=3, n_trials=4, n_decided=4)
    return [*Finding.objects.filter(run=run).exclude(pk=third.pk).order_by("pk"), third]


def make_confirmation(
    findings: Sequence[Finding] | None = None, *, config: dict[str, Any] | None = None, **values: Any
) -> Campaign:
    """Make a finished confirmation of three findings: confirmed, refuted, undetermined, in this order."""
    found = list(findings if findings is not None else make_suspects())
    followed = found[0].run.campaign
    campaign = make_follow_up(
        "confirm", follows=followed, config={"family_size": len(found)} | (config or {}), **values
    )
    run = make_follow_up_run(campaign, found[0].sut, ending="every set is settled: 1 confirmed of 3.")
    plans = [
        (FindingState.CONFIRMED, CONFIRMED, "crossed", {"log_e": 4.2, "low": 0.62, "high": 0.99}),
        (FindingState.REFUTED, REFUTED, "crossed", {"log_e": -3.1, "low": 0.0, "high": 0.41}),
        (FindingState.UNDETERMINED, OPEN, "cap", {"log_e": 0.2, "low": 0.21, "high": 0.9}),
    ]
    for number, finding in enumerate(found):
        state, verdicts, reason, numbers = plans[number % len(plans)]
        item = make_item(
            run,
            tuple(finding.concepts),
            verdicts=verdicts,
            finding=finding,
            reason=reason,
            expected_action=finding.expected_action,
            numbers=numbers | {"level": 0.95},
        )
        settle(item, state)
    RunEvent.objects.create(run=run, text="Started.")
    _count(run)
    return campaign


def _count(run: SearchRun) -> None:
    items = list(run.items.all())
    answers, fails = sum(item.n for item in items), sum(item.fails for item in items)
    SearchRun.objects.filter(pk=run.pk).update(
        step=run.samples.count() // 8,
        n_inferences=answers,
        n_observations=answers,
        n_failed=fails,
        n_invalid=sum(item.numbers.get("invalid", 0) for item in items),
        n_call_errors=run.samples.filter(verdict="call_error").count(),
        n_trials=len(items),
        n_decided=sum(item.state in ("confirmed", "refuted") for item in items),
        n_modes=sum(item.state == "confirmed" for item in items),
    )
    run.refresh_from_db()
