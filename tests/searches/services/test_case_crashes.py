"""A worker that dies at any named place of a follow-up of cases changes nothing of what it ends with."""

import pytest

from searches.enums import FindingState, RunState
from searches.models import SearchRun
from searches.services import case_slice
from searches.services.case_wishes import confirm_cases_wish, transfer_cases_wish
from searches.services.crashes import CRASH_POINTS
from searches.services.reaper import reap
from searches.services.runs import cancel_run, pause_run, resume_run
from searches.services.slice_ends import SliceEnd
from tests.searches.case_engine import case_digest, cases_of, find_cases, follow
from tests.searches.dying import Killed
from tests.searches.engine import advance, as_new_process
from tests.searches.modality_engine import breaks_now_and_then, never_breaks

pytestmark = pytest.mark.django_db
SHARED = ("before_claim", "after_claim", "before_release", "after_release")  # tested with other searches
NEVER_PASSED = ("after_blobs",)
PLACES = [
    f"{place}@2" if place.startswith("inside") else place
    for place in CRASH_POINTS
    if place not in SHARED + NEVER_PASSED
]


@pytest.fixture
def both():
    """Two runs of the same confirmation: same seeds, same system, same draws."""
    campaign = find_cases(breaks_now_and_then(share=0.8, call_error_rate=0.1))
    wish = confirm_cases_wish(campaign)
    whole, disturbed = follow(wish), follow(wish)
    disturbed.config = whole.config  # by itself the second one would stand in the line of later suspects
    disturbed.save(update_fields=["config"])
    for item, twin in zip(disturbed.items.order_by("order"), whole.items.order_by("order"), strict=True):
        item.spec = twin.spec
        item.save(update_fields=["spec"])
    runs = [whole.runs.get(), disturbed.runs.get()]
    SearchRun.objects.filter(pk__in=[run.pk for run in runs]).update(run_seed=4, cache_watermark=0)
    for run in runs:
        run.refresh_from_db()
    return runs


@pytest.mark.parametrize("place", PLACES)
def test_a_run_whose_worker_dies_ends_like_one_that_nobody_disturbed(place, both, dies_at):
    whole, disturbed = both
    advance(whole)
    as_new_process()
    dies_at(place)
    deaths = 0

    while not disturbed.is_final:
        try:
            advance(disturbed, slice_seconds=0)
        except Killed:
            deaths += 1
            as_new_process()
            SearchRun.objects.filter(pk=disturbed.pk, state=RunState.RUNNING).update(lease_expires=None)
            reap()
            disturbed.refresh_from_db()

    assert deaths == 1
    assert case_digest(disturbed) == case_digest(whole)


def test_a_run_that_is_paused_and_resumed_ends_like_one_that_nobody_disturbed(both):
    whole, disturbed = both
    advance(whole)
    advance(disturbed, slice_seconds=0)

    pause_run(disturbed, by=None)
    as_new_process()
    resume_run(SearchRun.objects.get(pk=disturbed.pk), by=None)
    disturbed.refresh_from_db()
    advance(disturbed)

    assert case_digest(disturbed) == case_digest(whole)


def test_what_a_cancelled_run_has_not_settled_is_undetermined(monkeypatch):
    run = follow(confirm_cases_wish(find_cases())).runs.get()
    commit = case_slice.commit_cases

    def cancelling(found, *args, **kwargs):
        commit(found, *args, **kwargs)
        cancel_run(SearchRun.objects.get(pk=found.pk), by=None)

    monkeypatch.setattr(case_slice, "commit_cases", cancelling)

    end = advance(run)

    item = run.items.get()
    assert (end, item.state, item.reason, item.n) == (SliceEnd.CANCELLED, "undetermined", "ended", 0)
    assert item.case.state == FindingState.SUSPECTED


def test_a_system_that_answers_nothing_pauses_the_run_before_all_cases_are_given_up():
    cases = cases_of(find_cases(n=3, slots=1))
    sut = never_breaks(call_error_rate=1.0)
    run = follow(transfer_cases_wish(cases, [sut], values={"slots": 1})).runs.get()

    end = advance(run)

    run.refresh_from_db()
    assert (end, run.state, run.n_call_errors) == (SliceEnd.PAUSED, RunState.PAUSED, 3)
    assert "answered none of 3 batches in a row" in run.error


def test_a_budget_of_answers_ends_a_run_with_what_it_has():
    campaign = find_cases(n=2)
    run = follow(confirm_cases_wish(campaign, values={"inference_budget": 6, "slots": 2})).runs.get()

    advance(run)

    assert run.state == RunState.SUCCEEDED
    assert run.n_inferences == 6
    assert {(item.state, item.reason) for item in run.items.all()} == {("undetermined", "budget")}
