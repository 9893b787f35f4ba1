"""Deleting a campaign takes all that it found, nothing of others, and never what a worker has in hand."""

from datetime import timedelta

import pytest
from django.utils import timezone

from searches.enums import JobKind, Queue, RunState
from searches.models import (
    AuditEntry,
    Campaign,
    CleanAnswer,
    Dataset,
    Evaluation,
    ModalityCase,
    ModalityRun,
    RunEvent,
    SearchRun,
)
from searches.services.datasets import delete_dataset
from searches.services.job_queue import start_job
from searches.services.modality_deletion import delete_campaign
from tests.factories import make_sut, make_user
from tests.searches.modality_factory import (
    Ending,
    make_grid,
    make_minimal_case,
    make_modality_campaign,
    make_seed_dataset,
)
from vlmlab.core.errors import VlmLabError

pytestmark = pytest.mark.django_db
TABLES = (Campaign, SearchRun, ModalityRun, CleanAnswer, Evaluation, ModalityCase, RunEvent)


def make(n_pictures: int = 2, **values) -> Campaign:
    """Make a finished campaign in which every run has evaluations, a case and a line of its log."""
    campaign = make_modality_campaign(make_seed_dataset(n_pictures), **values)
    sut = make_sut()
    runs = make_grid(
        campaign, suts=[sut], ended=lambda place: Ending(iou=0.1, evaluations=4), n_evaluations=3
    )
    make_minimal_case(runs[0])
    RunEvent.objects.create(run=runs[0].run, text="It began.")
    campaign.runs.update(state=RunState.SUCCEEDED, owner="", lease_expires=None)
    return campaign


def counts() -> list[int]:
    return [model.objects.count() for model in TABLES]


def test_everything_of_the_campaign_goes_and_nothing_of_another():
    kept = make(is_sample=True)
    before = counts()
    campaign = make(name="Mine")
    assert all(now > then for now, then in zip(counts(), before, strict=True))

    assert delete_campaign(campaign, by=None) == 6

    assert counts() == before
    assert Campaign.objects.get() == kept


def test_the_dataset_of_a_deleted_campaign_can_be_deleted():
    campaign = make()
    dataset = campaign.dataset
    with pytest.raises(VlmLabError, match="starts from it"):
        delete_dataset(dataset, by=None)

    delete_campaign(campaign, by=None)
    delete_dataset(dataset, by=None)

    assert Dataset.objects.count() == 0


def test_the_audit_says_who_deleted_what():
    person = make_user()
    campaign = make(name="Mine")
    pk = campaign.pk

    delete_campaign(campaign, by=person)

    entry = AuditEntry.objects.get(object_type="campaign", verb="deleted")
    assert (entry.actor, entry.object_id, entry.object_label) == (person, str(pk), "Mine")
    assert entry.before["runs"] == 6


@pytest.mark.parametrize("state", [RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING])
def test_a_campaign_at_work_stays(state):
    campaign = make()
    before = counts()
    SearchRun.objects.filter(pk=campaign.runs.first().pk).update(state=state)

    with pytest.raises(VlmLabError, match="end the campaign first"):
        delete_campaign(campaign, by=None)

    assert counts() == before
    assert not AuditEntry.objects.filter(verb="deleted").exists()


@pytest.mark.parametrize(("minutes", "is_kept"), [(1, True), (-1, False)])
def test_a_paused_run_stays_while_its_worker_still_writes(minutes, is_kept):
    campaign = make()
    SearchRun.objects.filter(pk=campaign.runs.first().pk).update(
        state=RunState.PAUSED, owner="worker", lease_expires=timezone.now() + timedelta(minutes=minutes)
    )

    if is_kept:
        with pytest.raises(VlmLabError, match="wait a moment"):
            delete_campaign(campaign, by=None)
    else:
        delete_campaign(campaign, by=None)

    assert Campaign.objects.filter(pk=campaign.pk).exists() is is_kept


def test_a_campaign_stays_while_one_of_its_cases_is_made_minimal():
    campaign, other = make(), make()
    case = ModalityCase.objects.filter(modality_run__campaign=campaign).first()
    start_job(JobKind.MINIMIZE_CASE, {"case": case.pk, "sut": "x"}, by=None, queue=Queue.CPU)

    delete_campaign(other, by=None)
    with pytest.raises(VlmLabError, match="made minimal"):
        delete_campaign(campaign, by=None)


def test_a_second_request_is_told_that_it_is_gone():
    campaign = make()
    same = Campaign.objects.get(pk=campaign.pk)
    delete_campaign(campaign, by=None)

    with pytest.raises(VlmLabError, match="deleted already"):
        delete_campaign(same, by=None)


@pytest.mark.parametrize("n_pictures", [1, 30])
def test_many_runs_take_as_many_statements_as_few(n_pictures, django_assert_max_num_queries):
    campaign = make(n_pictures)

    with django_assert_max_num_queries(30):
        delete_campaign(campaign, by=None)
