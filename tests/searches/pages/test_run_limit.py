"""The page of a run that spending halted: what was spent, the limit, a new one and on it goes."""

import pytest

from searches.enums import RunState
from searches.models import AuditEntry, SearchRun
from tests.factories import make_campaign, make_run, make_sut
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db


def halted_run(
    *, cap: float | None = 0.2, sut_params: dict[str, object] | None = None, **values
) -> SearchRun:
    sut = make_sut(params={"price_usd": 0.01} | (sut_params or {}), spend_usd=1.5)
    campaign = make_campaign(
        config={"algorithm": "random", "inference_budget": 60, "slots": 8, "spend_cap_usd": cap}
    )
    values = {"spend_usd": 0.16, "n_modes": 2, "error": "The spending limit of this run is reached."} | values
    return make_run(sut, campaign=campaign, state=RunState.PAUSED, is_halted_by_spending=True, **values)


def test_only_researchers_and_admins_may_raise_a_limit():
    run = halted_run()

    assert statuses(f"/runs/{run.pk}/raise-limit/", method="post") == {
        "": 302, "admin": 302, "researcher": 302, "reviewer": 403, "annotator": 403,
    }  # fmt: skip


def test_the_page_says_what_was_spent_what_the_limit_is_and_what_the_next_batch_may_cost():
    run = halted_run()

    page = browser_of(Role.RESEARCHER).get(f"/runs/{run.pk}/").content.decode()

    assert "$0.16 of $0.20" in page
    assert "<dt>Next batch, at most</dt><dd>$0.08</dd>" in page
    assert 'as long as its <b class="strong">Longest reply</b> allows' in page
    assert "Set the limit and resume" in page
    assert 'name="new_limit" value="0.4"' in page  # never empty by itself: that would be no limit
    assert 'id="resume-run"' not in page  # it would pause again at once


def test_a_new_limit_resumes_the_run_in_one_step():
    run = halted_run()

    answer = browser_of(Role.RESEARCHER).post(f"/runs/{run.pk}/raise-limit/", {"new_limit": "5"})

    assert (answer.status_code, answer.url) == (302, f"/runs/{run.pk}/")
    run.refresh_from_db()
    assert (run.state, run.spend_cap_usd, run.is_halted_by_spending) == (RunState.QUEUED, 5.0, False)
    assert run.error == ""
    entry = AuditEntry.objects.get(verb="changed the spending limit of")
    assert (entry.before, entry.after) == ({"spend_cap_usd": 0.2}, {"spend_cap_usd": 5.0})


def test_an_empty_limit_is_none():
    run = halted_run()
    browser = browser_of(Role.RESEARCHER)

    browser.post(f"/runs/{run.pk}/raise-limit/", {"new_limit": ""})

    run.refresh_from_db()
    assert run.state == RunState.QUEUED
    assert "$0.16 of" not in browser.get(f"/runs/{run.pk}/").content.decode()


@pytest.mark.parametrize(
    ("entered", "complaint"),
    [
        ("0.1", "Enter more than the $0.16 that are spent already. Leave it empty for no limit."),
        ("-3", "Enter more than the $0.16 that are spent already."),
        ("nan", "Enter an amount such as 2.50, or nothing for no limit."),
        ("plenty", "Enter an amount such as 2.50, or nothing for no limit."),
        (
            "0.2",
            "may cost up to $0.08 if every reply is as long as it may be. Enter at least $0.24",
        ),
    ],
)
def test_a_limit_that_leaves_no_room_is_refused_at_its_field(entered, complaint):
    run = halted_run()

    answer = browser_of(Role.RESEARCHER).post(f"/runs/{run.pk}/raise-limit/", {"new_limit": entered})

    page = answer.content.decode()
    assert answer.status_code == 422
    assert complaint in page[page.index('id="id_new_limit-e"') :]
    assert SearchRun.objects.get(pk=run.pk).state == RunState.PAUSED


def test_a_run_that_went_on_meanwhile_is_left_alone():
    run = halted_run()
    SearchRun.objects.filter(pk=run.pk).update(state=RunState.RUNNING, is_halted_by_spending=False)

    answer = browser_of(Role.RESEARCHER).post(f"/runs/{run.pk}/raise-limit/", {"new_limit": "5"}, follow=True)

    assert "No spending limit holds this run." in answer.content.decode()
    assert SearchRun.objects.get(pk=run.pk).state == RunState.RUNNING


def test_the_limit_of_the_system_is_raised_on_the_page_of_the_system():
    run = halted_run(cap=None, sut_params={"spend_cap_usd": 1.55})

    page = browser_of(Role.RESEARCHER).get(f"/runs/{run.pk}/").content.decode()

    assert "$1.50 of $1.55" in page
    assert f'href="/suts/{run.sut.slug}/edit/"' in page
    assert "Set the limit and resume" not in page
    assert 'id="resume-run"' in page


def test_once_the_limit_of_the_system_was_raised_the_page_says_to_resume():
    run = halted_run(cap=None, sut_params={"spend_cap_usd": 9.0})

    page = browser_of(Role.RESEARCHER).get(f"/runs/{run.pk}/").content.decode()

    assert "There is room for the next batch again. Resume the run." in page
    assert 'id="resume-run"' in page


def test_a_run_whose_system_has_broken_settings_is_still_shown():
    run = halted_run(sut_params={"unheard_of": 1})

    assert browser_of(Role.RESEARCHER).get(f"/runs/{run.pk}/").status_code == 200


def test_a_reviewer_reads_the_numbers_and_is_told_who_can_raise_the_limit():
    run = halted_run()

    page = browser_of(Role.REVIEWER).get(f"/runs/{run.pk}/").content.decode()

    assert "A researcher can raise the limit." in page
    assert "Set the limit and resume" not in page


def test_the_page_of_a_run_shows_calls_tokens_latency_and_what_a_mode_cost():
    run = make_run(
        n_calls=40, n_failed_calls=4, n_attempts=47, latency_ms_sum=36_000.0, input_tokens=21_600,
        output_tokens=1_240, spend_usd=0.5, n_modes=2,
    )  # fmt: skip

    page = browser_of(Role.REVIEWER).get(f"/runs/{run.pk}/").content.decode()

    assert "<dt>Calls sent</dt><dd>40, 4 failed, 7 tries repeated</dd>" in page
    assert "<dt>Mean latency</dt><dd>1.0 s</dd>" in page
    assert "<dt>Tokens in</dt><dd>21,600</dd>" in page
    assert "<dt>Tokens out</dt><dd>1,240</dd>" in page
    assert "<dt>Spend</dt><dd>$0.50</dd>" in page
    assert "<dt>Cost a suspected mode</dt><dd>$0.25</dd>" in page


def test_a_price_that_nobody_entered_is_not_shown_as_nothing():
    sut = make_sut(
        kind="openai_chat",
        params={"model": "m", "input_price_usd": None, "output_price_usd": None},
    )
    run = make_run(sut, n_calls=3)
    browser = browser_of(Role.REVIEWER)

    assert (
        f'<a href="/suts/{sut.slug}/">price unknown</a>' in browser.get(f"/runs/{run.pk}/").content.decode()
    )
    assert "price unknown" in browser.get("/runs/").content.decode()


@pytest.mark.parametrize("sut_params", [{}, {"spend_cap_usd": 1.55}])
def test_the_page_of_a_halted_run_takes_few_queries(sut_params, django_assert_max_num_queries):
    run = halted_run(sut_params=sut_params)
    browser = browser_of(Role.RESEARCHER)

    with django_assert_max_num_queries(9):
        browser.get(f"/runs/{run.pk}/progress/")
