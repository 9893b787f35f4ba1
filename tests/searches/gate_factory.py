"""Rows of regressions and decision cards for tests of pages and services; nothing is random."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from searches.enums import FOLLOW_UP_METHOD, FindingState, RunState
from searches.models import (
    Campaign,
    Envelope,
    Finding,
    FollowUpItem,
    FollowUpSource,
    RegressionFamily,
    SearchRun,
    SutRecord,
)
from searches.services.envelopes import create_envelope
from searches.services.families import FamilyWish, create_family, read_pins
from tests.factories import make_campaign, make_finding, make_run, make_sut, make_trial
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.verdicts.config import EnvelopeConfig, RegressConfig
from vlmlab.core.verdicts.queries import block_of

SETS = (("cone", "far"), ("debris_near",), ("pedestrian", "weather_foggy"))
SPLIT = 10  # scenes that get a stored sample


def make_confirmed(run: SearchRun, concepts: tuple[str, ...], **values: Any) -> Finding:
    """Make a finding that 18 of 20 fresh scenes confirmed."""
    trial = make_trial(run, concepts, expected_action="emergency_stop")
    evidence = {"state": FindingState.CONFIRMED, "fresh_fails": 18, "fresh_n": 20}
    return make_finding(trial, **evidence | values)


def make_family(n_members: int = 2, *, baseline: SutRecord | None = None, **values: Any) -> RegressionFamily:
    """Make a family of the first ``n_members`` sets."""
    sut = baseline or make_sut("old")
    run = make_run(sut, state=RunState.SUCCEEDED, finished_at=timezone.now())
    findings = [make_confirmed(run, concepts) for concepts in SETS[:n_members]]
    wish = FamilyWish(**{"name": "Cones and debris", "baseline": sut, "scenes": 40} | values)
    return create_family(wish, read_pins(findings=[one.pk for one in findings]), by=None)


def make_regression(
    family: RegressionFamily,
    answers: Mapping[int, tuple[str, str]],
    *,
    candidate: SutRecord | None = None,
    state: str = RunState.SUCCEEDED,
    with_samples: bool = False,
) -> Campaign:
    """Make a regression: by member, a letter a scene of both systems (P passed, F failed, I invalid)."""
    candidate = candidate or SutRecord.objects.filter(slug="new").first() or make_sut("new")
    assert family.baseline is not None
    campaign = _campaign("regress", RegressConfig.model_validate(family.config).model_dump(mode="json"))
    FollowUpSource.objects.create(
        campaign=campaign,
        family=family,
        spec={"baseline": family.baseline.pk, "candidate": candidate.pk},
    )
    for place, sut in enumerate((family.baseline, candidate)):
        run = make_run(
            sut, campaign=campaign, state=state, run_seed=91,
            finished_at=timezone.now() if state == RunState.SUCCEEDED else None,
        )  # fmt: skip
        for member in family.members.order_by("order"):
            letters = answers[member.order][place]
            block = block_of("set", *member.concepts)
            FollowUpItem.objects.create(
                campaign=campaign, run=run, order=member.order, member=member, finding=member.finding,
                block=block, key=member.key, concepts=member.concepts, expected_action="emergency_stop",
                fails=len(letters) - letters.count("P"), n=len(letters), numbers=fixed_numbers(letters),
            )  # fmt: skip
            if with_samples:
                make_trial(
                    run, tuple(member.concepts), verdicts=letters[:SPLIT], block=block, status="open",
                    expected_action="emergency_stop",
                )  # fmt: skip
        SearchRun.objects.filter(pk=run.pk).update(n_observations=run.items.count() * 40)
    return campaign


def fixed_numbers(letters: str) -> dict[str, Any]:
    """Return what the fixed design stores of an item."""
    arm = {"key": [], "variant": "", "fails": len(letters) - letters.count("P"), "outcomes": letters}
    return {"numbers": list(range(len(letters))), "arms": [arm | {"invalid": letters.count("I")}]}


CELLS: list[dict[str, Any]] = [
    {
        "id": "near", "title": "Near obstacles", "requirement": "REQ-7", "includes": [["debris_near"]],
        "max_size": 2, "limit": 0.02, "exposure": 2.0, "harm": 10.0,
    },
    {"id": "fog", "title": "Fog", "includes": [["weather_foggy"]], "max_size": 2, "limit": 0.1},
]  # fmt: skip


def make_envelope(name: str = "City streets", **values: Any) -> Envelope:
    """Declare two cells of the driving domain."""
    return create_envelope(load_domain("driving"), {"name": name, "cells": CELLS} | values, by=None)


def make_card(
    envelope: Envelope,
    errors: Mapping[str, tuple[int, int]],
    *,
    sut: SutRecord | None = None,
    state: str = RunState.SUCCEEDED,
) -> SearchRun:
    """Make a card: by cell, counted errors and answers."""
    campaign = _campaign("envelope", EnvelopeConfig().model_dump(mode="json"))
    FollowUpSource.objects.create(campaign=campaign, envelope=envelope, spec={"envelope": envelope.spec})
    run = make_run(
        sut, campaign=campaign, state=state, run_seed=91,
        finished_at=timezone.now() if state == RunState.SUCCEEDED else None,
    )  # fmt: skip
    for order, (cell, (wrong, n)) in enumerate(errors.items()):
        FollowUpItem.objects.create(
            campaign=campaign, run=run, order=order, block=block_of("cell", cell), fails=wrong, n=n,
            spec={"arms": [], "settings": {"cell": cell}},
            numbers={"errors": wrong, "invalid": 0, "planned": n, "lost": {"call_error": 1}},
        )  # fmt: skip
    return run


def _campaign(kind: str, config: dict[str, Any]) -> Campaign:
    return make_campaign(name=f"A {kind}", method=FOLLOW_UP_METHOD, kind=kind, config=config)
