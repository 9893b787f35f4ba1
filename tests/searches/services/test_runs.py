"""What people may do to runs in each state, with one entry in the audit for each act."""

import pytest
from django.db import IntegrityError, transaction

from searches.enums import RUN_MOVES, RunState
from searches.models import AuditEntry, SearchRun
from searches.services.run_states import move_run
from searches.services.runs import (
    cancel_run,
    clone_values,
    create_campaign,
    pause_run,
    resume_run,
    retry_call_errors,
)
from tests.factories import make_run, make_sut, make_user
from tests.searches.engine import start_run
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.config import RevelioConfig

pytestmark = pytest.mark.django_db

ACTS = {"cancel": cancel_run, "pause": pause_run, "resume": resume_run}
AFTER = {
    ("queued", "cancel"): "cancelled",
    ("queued", "pause"): "paused",
    ("running", "cancel"): "cancelling",
    ("running", "pause"): "paused",
    ("paused", "cancel"): "cancelled",
    ("paused", "pause"): "paused",
    ("paused", "resume"): "queued",
    ("cancelling", "cancel"): "cancelling",
    ("cancelled", "cancel"): "cancelled",
    ("cancelled", "resume"): "queued",
    ("failed", "resume"): "queued",
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("state", RunState.values)
def test_each_act_in_each_state_moves_the_run_or_is_refused(state, act):
    run = make_run(state=state)
    after = AFTER.get((state, act))

    if after is None:
        with pytest.raises(VlmLabError, match="The run cannot be"):
            ACTS[act](run, by=None)
    else:
        ACTS[act](run, by=None)

    run.refresh_from_db()
    assert run.state == (after or state)
    is_change = after is not None and after != state
    assert AuditEntry.objects.count() == int(is_change)


@pytest.mark.parametrize("frm", RunState)
@pytest.mark.parametrize("to", RunState)
def test_a_move_outside_the_table_is_a_bug(frm, to):
    run = make_run(state=frm)

    if to in RUN_MOVES[frm]:
        assert move_run(run.pk, frm=frm, to=to)
    else:
        with pytest.raises(ValueError, match="may not move"):
            move_run(run.pk, frm=frm, to=to)


def test_a_move_under_another_fence_changes_nothing():
    run = make_run(state=RunState.RUNNING, fence=4)

    assert not move_run(run.pk, frm=RunState.RUNNING, to=RunState.PAUSED, held_fence=3)
    assert move_run(run.pk, frm=RunState.RUNNING, to=RunState.PAUSED, held_fence=4)


def test_the_database_refuses_an_unknown_state():
    run = make_run()

    with pytest.raises(IntegrityError), transaction.atomic():
        SearchRun.objects.filter(pk=run.pk).update(state="lost")


def test_a_campaign_makes_one_queued_run_for_each_system():
    person, suts = make_user(), [make_sut(), make_sut(queue="gpu")]

    campaign = create_campaign(
        config=RevelioConfig(), suts=suts, domain_slug="driving", name="Both", run_seed=5, by=person
    )

    runs = list(campaign.runs.order_by("id"))
    assert [(run.sut, run.queue, run.state, run.run_seed) for run in runs] == [
        (suts[0], "cpu", "queued", 5),
        (suts[1], "gpu", "queued", 5),
    ]
    assert campaign.config["inference_budget"] == 1000
    assert AuditEntry.objects.filter(actor=person, verb="started").count() == 2


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"suts": []}, "suts"),
        ({"domain_slug": "moon"}, "domain"),
        ({"run_seed": -1}, "run_seed"),
        ({"run_seed": 2**63}, "run_seed"),
        ({"name": "x" * 121}, "name"),
        ({"name": "x\x00"}, "name"),
        ({"config": RevelioConfig(excluded_concepts=("conee",))}, None),
        ({"config": RevelioConfig(required_concepts=("near", "far"), max_set_size=2)}, "required_concepts"),
    ],
)
def test_a_campaign_that_cannot_run_is_refused_at_its_field(change, field):
    values = {
        "config": RevelioConfig(),
        "suts": [make_sut()],
        "domain_slug": "driving",
        "name": "x",
        "run_seed": 1,
        "by": None,
    }

    with pytest.raises(VlmLabError) as caught:
        create_campaign(**values | change)

    assert field is None or caught.value.field == field
    assert SearchRun.objects.count() == 0


def test_a_disabled_system_cannot_be_searched():
    sut = make_sut(is_enabled=False)

    with pytest.raises(VlmLabError, match="is switched off"):
        start_run(sut)


def test_clone_values_start_the_same_search_again():
    run = start_run(inference_budget=77)

    values = clone_values(run)

    assert (values["inference_budget"], values["run_seed"], values["suts"]) == (77, 11, [run.sut_id])
    assert values["name"] == "Test search (copy)"


def test_there_is_nothing_to_retry_without_failed_calls():
    run = make_run(state=RunState.SUCCEEDED)

    with pytest.raises(VlmLabError, match="no failed calls"):
        retry_call_errors(run, by=None)


def test_a_finished_run_with_failed_calls_can_be_queued_again():
    run = make_run(state=RunState.SUCCEEDED, n_call_errors=2)

    retry_call_errors(run, by=None)

    run.refresh_from_db()
    assert (run.state, run.is_retrying_call_errors, run.finished_at) == ("queued", True, None)
