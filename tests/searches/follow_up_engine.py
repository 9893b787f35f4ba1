"""What tests of the engine of follow-ups share: suspects of a careless system, small follow-ups."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from searches.models import Campaign, Finding, SearchRun, SutRecord
from searches.services.follow_ups import FollowUpWish, ItemWish, create_follow_up
from tests.factories import make_finding, make_run, make_trial
from tests.searches.engine import FINDING_COLUMNS, RUN_COLUMNS, SAMPLE_COLUMNS, scripted
from vlmlab.core.verdicts.config import FOLLOW_UP_CONFIGS

SUSPECTS = (("cone", "near"), ("cone", "weather_foggy"), ("cyclist", "near"))
FOLLOWED_COLUMNS = (*SAMPLE_COLUMNS, "trial__block", "trial__variant", "statements")
ITEM_COLUMNS = ("order", "block", "key", "state", "reason", "fails", "n", "numbers")
SETTLED_COLUMNS = (*FINDING_COLUMNS, "state", "fresh_fails", "fresh_n", "fresh_low", "log_e_value")


def suspects(sut: SutRecord | None = None, *, sets: Sequence[tuple[str, ...]] = SUSPECTS) -> list[Finding]:
    """Make a finished search of a system that overlooks cones, with a finding for each set."""
    run = make_run(sut or scripted(), state="succeeded")
    return [
        make_finding(make_trial(run, concepts, verdicts="FFFPF", expected_action="emergency_stop"))
        for concepts in sets
    ]


def follow(
    findings: Sequence[Finding],
    kind: str = "transfer",
    *,
    suts: Sequence[SutRecord] = (),
    variant_arms: Sequence[tuple[str, ...]] = (),
    wish: dict[str, Any] | None = None,
    **config: Any,
) -> Campaign:
    """Store a small follow-up of findings, on their own system or on others."""
    settings = {"scenes": 6} | config if kind == "transfer" else config
    followed = findings[0].run.campaign
    items = [ItemWish(tuple(one.concepts), finding=one, arms=tuple(variant_arms)) for one in findings]
    return create_follow_up(
        FollowUpWish(
            kind=kind,  # type: ignore[arg-type]  # tests name kinds
            config=FOLLOW_UP_CONFIGS[kind].model_validate(settings),  # type: ignore[index]
            domain_ref=followed.domain_ref,
            items=[(sut, items) for sut in (suts or [findings[0].sut])],
            follows=followed,
            **{"run_seed": 5} | (wish or {}),
        ),
        by=None,
    )


def follow_up_digest(run: SearchRun) -> str:
    """Digest everything of a run of a follow-up that must not depend on what happened to its workers."""
    content = {
        "run": SearchRun.objects.filter(pk=run.pk).values(*RUN_COLUMNS).get(),
        "trials": list(
            run.trials.order_by("order").values("order", "key", "block", "variant", "fails", "passes")
        ),
        "samples": list(run.samples.order_by("step", "position").values(*FOLLOWED_COLUMNS)),
        "items": list(run.items.order_by("order").values(*ITEM_COLUMNS)),
        "findings": list(run.findings.order_by("key").values(*SETTLED_COLUMNS)),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
