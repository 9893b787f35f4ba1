"""Follow-ups keep every limit and come back from outages; what only searches have is refused for them."""

import pytest

from searches.enums import RunState
from searches.models import Job
from searches.services.reparse import reparse_run
from searches.services.runs import raise_limit, retry_call_errors
from searches.services.shell_runs import claim_old_run
from searches.services.spending import SpendingLimitError
from tests.searches.engine import advance, scripted
from tests.searches.follow_up_engine import follow, suspects
from vlmlab.core.errors import VlmLabError

pytestmark = pytest.mark.django_db


def test_a_spending_limit_pauses_a_run_before_it_is_passed_and_a_higher_one_lets_it_finish():
    run = follow(suspects(), slots=4, spend_cap_usd=0.01).runs.get()

    advance(run)
    assert (run.state, run.is_halted_by_spending) == (RunState.PAUSED, True)
    assert run.spend_usd <= 0.01
    with pytest.raises(VlmLabError, match="the next batch may cost up to"):
        raise_limit(run, new_limit=run.spend_usd + 0.0001, by=None)

    raise_limit(run, new_limit=1.0, by=None)
    run.refresh_from_db()
    advance(run)
    assert (run.state, run.n_inferences) == (RunState.SUCCEEDED, 18)


def test_a_first_batch_that_does_not_fit_starts_nothing():
    with pytest.raises(VlmLabError, match="The first batch of 8 calls") as refused:
        follow(suspects(), spend_cap_usd=0.001)

    assert refused.value.field == "spend_cap_usd"
    assert not issubclass(type(refused.value), SpendingLimitError)


def test_three_batches_without_an_answer_pause_a_run_and_it_goes_on_where_it_was():
    sut = scripted(call_error_rate=1.0)
    run = follow(suspects(sut)).runs.get()

    advance(run)

    assert run.state == RunState.PAUSED
    assert "answered none of 3 batches in a row" in run.error
    assert run.n_inferences == 0
    assert set(run.items.values_list("n", flat=True)) == {0}


def test_failed_calls_are_replaced_by_new_scenes_and_not_asked_again():
    run = follow(suspects(scripted(call_error_rate=0.2))).runs.get()
    advance(run)
    assert run.n_call_errors > 0
    assert set(run.items.values_list("n", flat=True)) == {6}

    with pytest.raises(VlmLabError, match="new scenes in place of failed calls"):
        retry_call_errors(run, by=None)


def test_a_run_of_a_follow_up_is_resumed_as_a_follow_up():
    run = follow(suspects()).runs.get()

    with pytest.raises(VlmLabError, match="one of a follow-up") as refused:
        claim_old_run(run.pk)

    assert f"follow_up --resume {run.campaign_id}" in refused.value.hint


def test_replies_of_a_follow_up_are_not_read_again():
    run = follow(suspects()).runs.get()
    advance(run)

    with pytest.raises(VlmLabError, match="evidence"):
        reparse_run(run.pk)


def test_a_domain_that_was_not_kept_or_a_set_that_cannot_be_drawn_is_refused():
    found = suspects(sets=[("near", "far")])
    with pytest.raises(VlmLabError) as refused:
        follow(found)

    assert refused.value.field == "items"
    assert not Job.objects.exists()
