"""Workers of follow-ups killed with -9; the findings end as if nothing had been."""

import signal

import pytest

from searches.enums import RunState
from searches.models import Finding, SearchRun
from searches.services.follow_up_wishes import confirm_wish
from searches.services.follow_ups import create_follow_up
from tests.searches.engine import advance, as_new_process, scripted
from tests.searches.follow_up_engine import follow_up_digest, suspects


def evidence():
    columns = ("key", "state", "fresh_fails", "fresh_n", "log_e_value")
    return [
        list(Finding.objects.filter(run=run).values(*columns))
        for run in {one.run for one in Finding.objects.all()}
    ]


@pytest.mark.parametrize("place", ["inside_commit_last@2", "before_ending"])
def test_a_worker_of_a_follow_up_killed_at_a_named_place_changes_nothing(lab, place):
    sut = scripted(call_error_rate=0.1)
    whole, killed = (
        create_follow_up(confirm_wish(suspects(sut), values={"max_samples": 8}), by=None).runs.get()
        for _ in range(2)
    )
    seed = {"run_seed": whole.run_seed}
    SearchRun.objects.filter(pk=killed.pk).update(state=RunState.PAUSED, **seed)  # no worker may take it yet
    advance(whole)
    SearchRun.objects.filter(pk=killed.pk).update(state=RunState.QUEUED)
    as_new_process()

    assert lab.start_worker(crash_point=place).wait() == -signal.SIGKILL
    lab.start_worker()
    killed.refresh_from_db()
    lab.finish(killed)

    assert follow_up_digest(killed) == follow_up_digest(whole)
    first, second = evidence()
    assert first == second
