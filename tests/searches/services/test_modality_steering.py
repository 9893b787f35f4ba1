"""Pausing, resuming and ending a whole campaign: every state, one statement, one line of audit."""

import pytest

from searches.enums import ModalityStatus, RunState
from searches.models import AuditEntry, ModalityRun, SearchRun
from searches.services.modality_campaigns import create_modality_campaign
from searches.services.modality_steering import (
    cancel_campaign,
    clone_values,
    pause_campaign,
    queues_of,
    resume_campaign,
)
from searches.services.seed_plans import SeedPlan
from tests.factories import make_sut, make_user
from tests.searches.modality_factory import make_seed_dataset
from vlmlab.core.errors import VlmLabError
from vlmlab.core.most.config import MostConfig

pytestmark = pytest.mark.django_db
ALL = tuple(RunState)


@pytest.fixture
def campaign():
    """A campaign with one run in each state, in the order of ``RunState``."""
    made = create_modality_campaign(
        MostConfig(regimes=("image",)),
        SeedPlan(seed=4),
        suts=[make_sut()],
        dataset=make_seed_dataset(len(ALL)),
        name="Test",
        by=None,
    )
    for run, state in zip(made.runs.order_by("pk"), ALL, strict=True):
        SearchRun.objects.filter(pk=run.pk).update(
            state=state, owner="somebody", stalls=2, error="It broke.", hint="Mend it.", reserved_usd=0.5
        )
    AuditEntry.objects.all().delete()
    return made


def states(campaign) -> dict[str, str]:
    """Return the state each run has now, by the one it had."""
    now = campaign.runs.order_by("pk").values_list("state", flat=True)
    return dict(zip(ALL, now, strict=True))


def test_pausing_halts_what_waits_and_works_and_nothing_else(campaign):
    moved = pause_campaign(campaign, by=None)

    kept = {state: state for state in ALL}
    assert states(campaign) == kept | {RunState.QUEUED: RunState.PAUSED, RunState.RUNNING: RunState.PAUSED}
    assert moved == 2


def test_a_worker_that_is_paused_keeps_its_claim_until_its_batch_is_written(campaign):
    pause_campaign(campaign, by=None)

    was_running = campaign.runs.order_by("pk")[ALL.index(RunState.RUNNING)]
    assert (was_running.owner, was_running.reserved_usd, was_running.error) == ("somebody", 0.5, "")


def test_resuming_queues_what_is_paused_failed_or_ended_early(campaign):
    moved = resume_campaign(campaign, by=None)

    kept = {state: state for state in ALL}
    halted = (RunState.PAUSED, RunState.FAILED, RunState.CANCELLED)
    assert states(campaign) == kept | dict.fromkeys(halted, RunState.QUEUED)
    assert moved == 3
    again = campaign.runs.order_by("pk")[ALL.index(RunState.FAILED)]
    assert (again.stalls, again.error, again.hint, again.owner, again.finished_at) == (0, "", "", "", None)


def test_ending_stops_what_waits_at_once_and_lets_batches_in_hand_finish(campaign):
    moved = cancel_campaign(campaign, by=None)

    kept = {state: state for state in ALL}
    assert states(campaign) == kept | {
        RunState.QUEUED: RunState.CANCELLED,
        RunState.PAUSED: RunState.CANCELLED,
        RunState.RUNNING: RunState.CANCELLING,
    }
    assert moved == 3


@pytest.mark.parametrize(
    ("action", "verb"),
    [(pause_campaign, "paused"), (resume_campaign, "resumed"), (cancel_campaign, "ended")],
)
def test_one_line_of_the_audit_tells_who_did_it_and_to_how_many_runs(campaign, action, verb):
    person = make_user()

    moved = action(campaign, by=person)

    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.verb, entry.object_id) == (person, verb, str(campaign.pk))
    assert entry.after == {"runs": moved}


@pytest.mark.parametrize(
    ("action", "state"),
    [
        (pause_campaign, RunState.PAUSED), (resume_campaign, RunState.QUEUED),
        (cancel_campaign, RunState.CANCELLED), (cancel_campaign, RunState.CANCELLING),
    ],
)  # fmt: skip
def test_doing_it_twice_changes_nothing_and_is_no_error(campaign, action, state):
    campaign.runs.update(state=state)

    assert action(campaign, by=None) == 0
    assert AuditEntry.objects.count() == 0


@pytest.mark.parametrize(
    ("action", "word"),
    [(pause_campaign, "paused"), (resume_campaign, "resumed"), (cancel_campaign, "ended")],
)
def test_a_campaign_that_is_over_cannot_be_steered(campaign, action, word):
    campaign.runs.update(state=RunState.SUCCEEDED)

    with pytest.raises(VlmLabError, match=f"No run of this campaign can be {word}"):
        action(campaign, by=None)


@pytest.mark.parametrize("action", [pause_campaign, cancel_campaign])
def test_the_number_of_statements_does_not_grow_with_the_runs(campaign, action, django_assert_num_queries):
    with django_assert_num_queries({pause_campaign: 4, cancel_campaign: 5}[action]):
        action(campaign, by=None)


def test_runs_of_other_campaigns_stay_as_they_are(campaign):
    other = create_modality_campaign(
        MostConfig(), SeedPlan(), suts=[make_sut()], dataset=make_seed_dataset(1), name="Other", by=None
    )

    cancel_campaign(campaign, by=None)

    assert set(other.runs.values_list("state", flat=True)) == {RunState.QUEUED}


def test_a_resumed_run_forgets_why_nobody_answered_and_keeps_the_rest(campaign):
    halted = campaign.runs.filter(state=RunState.PAUSED)
    halted.update(
        checkpoint={
            "fingerprint": "abc",
            "fruitless_batches": 3,
            "is_refused": True,
            "unanswered_because": "x",
        }
    )
    pk = halted.get().pk

    resume_campaign(campaign, by=None)

    assert SearchRun.objects.get(pk=pk).checkpoint == {
        "fingerprint": "abc", "fruitless_batches": 0, "is_refused": False, "unanswered_because": "",
    }  # fmt: skip


def test_runs_whose_clean_question_was_never_answered_are_asked_again(campaign):
    ended = campaign.runs.get(state=RunState.SUCCEEDED)
    SearchRun.objects.filter(pk=ended.pk).update(
        checkpoint={"fingerprint": "abc", "clean_failures": 3, "clean_error": "No answer."},
        ending="no answer",
    )
    ModalityRun.objects.filter(run=ended).update(status=ModalityStatus.CALL_ERROR)

    moved = resume_campaign(campaign, by=None)

    ended.refresh_from_db()
    assert (moved, ended.state, ended.ending) == (4, RunState.QUEUED, "")
    assert ended.modality.status == ModalityStatus.UNFINISHED
    assert "clean_failures" not in ended.checkpoint
    assert ended.checkpoint["fingerprint"] == "abc"


def test_only_queues_in_which_runs_wait_are_woken(campaign):
    campaign.runs.filter(state=RunState.PAUSED).update(queue="gpu")

    assert queues_of(campaign) == ["cpu"]
    resume_campaign(campaign, by=None)
    assert queues_of(campaign) == ["cpu", "gpu"]


def test_a_copy_has_settings_plan_dataset_and_systems(campaign):
    values = clone_values(campaign)

    assert values["name"] == "Test (copy)"
    assert (values["dataset"], values["suts"]) == (campaign.dataset.slug, [campaign.runs.first().sut_id])
    assert (values["seed"], values["regimes"], values["algorithm"]) == (4, ["image"], "screen")
