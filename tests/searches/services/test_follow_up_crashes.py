"""A worker that dies at any named place of a follow-up changes nothing of what it ends with."""

import pytest

from searches.enums import RunState
from searches.models import Finding, SearchRun
from searches.services.crashes import CRASH_POINTS
from searches.services.follow_up_wishes import confirm_wish
from searches.services.follow_ups import create_follow_up
from searches.services.reaper import reap
from tests.searches.dying import Killed
from tests.searches.engine import advance, as_new_process, scripted
from tests.searches.follow_up_engine import follow_up_digest, suspects

pytestmark = pytest.mark.django_db


LATER = ("after_blobs", "inside_commit_first", "inside_commit_last", "after_commit", "after_release")
PLACES = [f"{place}@{2 if place in LATER else 1}" for place in CRASH_POINTS]
EVIDENCE = ("key", "state", "fresh_fails", "fresh_n", "fresh_low", "log_e_value")


def evidence_of(findings):
    return list(Finding.objects.filter(pk__in=[one.pk for one in findings]).order_by("key").values(*EVIDENCE))


@pytest.mark.parametrize("place", PLACES)
def test_a_follow_up_whose_worker_dies_ends_like_one_that_nobody_disturbed(place, dies_at):
    sut = scripted(call_error_rate=0.1)
    both = suspects(sut), suspects(sut)
    whole, disturbed = (
        create_follow_up(
            confirm_wish(found, values={"max_samples": 12, "slots": 4, "inference_budget": 10}), by=None
        )
        for found in both
    )
    first, second = whole.runs.get(), disturbed.runs.get()
    SearchRun.objects.filter(pk=second.pk).update(run_seed=first.run_seed)
    second.refresh_from_db()
    advance(first)
    as_new_process()
    dies_at(place)
    deaths = 0

    while not second.is_final:
        try:
            advance(second, slice_seconds=0)  # a batch a slice, so that each place is passed often
        except Killed:
            deaths += 1
            as_new_process()
            SearchRun.objects.filter(pk=second.pk, state=RunState.RUNNING).update(lease_expires=None)
            reap()
            second.refresh_from_db()

    assert deaths == 1
    assert follow_up_digest(second) == follow_up_digest(first)
    assert evidence_of(both[1]) == evidence_of(both[0])
