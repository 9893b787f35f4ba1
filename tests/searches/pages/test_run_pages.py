"""Pages of runs: list, live progress, log, and what people do to a run."""

import json

import pytest
from django.test import Client
from django.utils import timezone

from searches.enums import RunState, TrialStatus, Verdict
from searches.models import AuditEntry, RunEvent, SearchRun
from tests.factories import make_campaign, make_finding, make_finished_run, make_run, make_sut, make_trial
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db

READERS_MAY = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}


def html(client: Client, path: str, **values: object) -> str:
    return client.get(path, **values).content.decode()


def live_run(**values: object) -> SearchRun:
    run = make_run(state=RunState.RUNNING, owner="lab:4711:1:main", **values)
    SearchRun.objects.filter(pk=run.pk).update(
        lease_expires=timezone.now() + timezone.timedelta(seconds=60), started_at=timezone.now()
    )
    run.refresh_from_db()
    return run


@pytest.mark.parametrize(
    "page", ["/runs/", "/runs/{}/", "/runs/{}/progress/", "/runs/{}/sets/", "/runs/{}/log/"]
)
def test_pages_of_runs_are_open_to_readers_only(page):
    run = live_run()

    assert statuses(page.format(run.pk)) == READERS_MAY


@pytest.mark.parametrize("what", ["cancel", "pause", "resume", "retry-call-errors"])
def test_only_researchers_and_admins_may_act_on_a_run(what):
    run = live_run()

    assert statuses(f"/runs/{run.pk}/{what}/", method="post") == {
        "": 302, "admin": 302, "researcher": 302, "reviewer": 403, "annotator": 403,
    }  # fmt: skip


def test_a_reviewer_sees_no_button_that_changes_anything():
    run = live_run()

    page = html(browser_of(Role.REVIEWER), f"/runs/{run.pk}/")

    assert [
        word for word in ("Pause", "End the run", "Copy settings", "New search") if f"{word}<" in page
    ] == []


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_of_runs_takes_the_same_queries_for_any_number_of_rows(rows, django_assert_num_queries):
    for _ in range(rows):
        make_finished_run()
    client = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(7):  # session, person, navigation, two choices, count, rows
        client.get("/runs/")


def test_the_list_says_how_far_each_run_is():
    run = live_run()
    SearchRun.objects.filter(pk=run.pk).update(n_observations=12, n_call_errors=4)

    page = html(browser_of(Role.RESEARCHER), "/runs/")

    assert "12 of 60" in page
    assert "4 call errors, excluded" in page


def test_the_list_can_be_narrowed_by_state_system_algorithm_and_campaign():
    wanted = make_run(
        make_sut("wanted"), campaign=make_campaign(config={"algorithm": "beam", "inference_budget": 9})
    )
    other = make_finished_run()
    client = browser_of(Role.RESEARCHER)

    for query in ("state=live", f"sut={wanted.sut_id}", "algorithm=beam", f"campaign={wanted.campaign_id}"):
        shown = [run.pk for run in client.get(f"/runs/?{query}").context["page_obj"]]
        assert shown == [wanted.pk], query
    assert [run.pk for run in client.get("/runs/?state=succeeded").context["page_obj"]] == [other.pk]


def test_an_empty_list_offers_the_first_search_to_those_who_may_start_it():
    assert 'href="/runs/new/">New search' in html(browser_of(Role.RESEARCHER), "/runs/")
    assert "A researcher starts the first search" in html(browser_of(Role.REVIEWER), "/runs/")
    assert "Take away one filter" in html(browser_of(Role.RESEARCHER), "/runs/?state=failed")


@pytest.mark.parametrize("sets", [1, 3])
def test_the_progress_takes_the_same_queries_for_any_number_of_sets(sets, django_assert_num_queries):
    run = live_run()
    for number in range(sets):
        make_trial(run, ("cone", ("far", "near", "on_lane")[number]), verdicts="FFFPF")
    client = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(8):  # session, person, run, calibration, sets, pictures, findings, log
        client.get(f"/runs/{run.pk}/progress/")


def test_the_progress_says_counts_in_words_and_names_what_is_excluded():
    run = live_run()
    SearchRun.objects.filter(pk=run.pk).update(
        n_observations=24,
        n_inferences=25,  # one failed call was asked again: an answer that the budget was not charged for
        n_trials=7,
        n_failed=6,
        n_invalid=2,
        n_call_errors=4,
        active_seconds=48.0,
        stage="round 3",
    )

    page = html(browser_of(Role.RESEARCHER), f"/runs/{run.pk}/progress/")

    assert "24 of 60 inferences</b>" in page
    assert "in 7 concept sets" in page
    assert "about 72 s left · round 3 · 8 questions at a time" in page
    assert "<dt>Failed answers</dt><dd>6 of 25 (24 %)</dd>" in page
    assert "<dt>Call errors, excluded</dt><dd>4</dd>" in page
    assert "Worker: lab, process 4711" in page


def test_the_progress_says_how_many_call_errors_are_calls_that_were_never_sent():
    run = live_run()
    trial = make_trial(run, ("cone",), verdicts="EEEPF")
    first, second = trial.samples.filter(verdict=Verdict.CALL_ERROR).order_by("pk")[:2]
    run.samples.filter(pk__in=[first.pk, second.pk]).update(n_attempts=0)
    SearchRun.objects.filter(pk=run.pk).update(n_call_errors=3, n_calls=3, n_failed_calls=1)

    page = html(browser_of(Role.RESEARCHER), f"/runs/{run.pk}/progress/")

    assert "<dt>Call errors, excluded</dt><dd>3, 2 of them not sent</dd>" in page
    assert "<dt>Calls sent</dt><dd>3, 1 failed" in page


def test_the_progress_is_sent_once_for_each_batch():
    run = live_run()
    client = browser_of(Role.RESEARCHER)
    first = client.get(f"/runs/{run.pk}/progress/")

    again = client.get(f"/runs/{run.pk}/progress/", headers={"If-None-Match": first["ETag"]})
    SearchRun.objects.filter(pk=run.pk).update(step=1)
    later = client.get(f"/runs/{run.pk}/progress/", headers={"If-None-Match": first["ETag"]})

    assert (first.status_code, again.status_code, later.status_code) == (200, 304, 200)
    assert (again.content, again["ETag"]) == (b"", first["ETag"])


def test_the_part_asks_again_with_its_own_mark_while_the_run_is_not_final():
    run = live_run()

    page = html(browser_of(Role.RESEARCHER), f"/runs/{run.pk}/")

    assert f'hx-get="/runs/{run.pk}/progress/?modes=0" hx-trigger="every 2s"' in page
    assert f"&quot;{run.etag}-" in page or f'\\"{run.etag}-' in page


def test_polling_stops_when_the_run_is_final():
    run = make_finished_run()

    answer = browser_of(Role.RESEARCHER).get(f"/runs/{run.pk}/progress/")

    assert answer.status_code == 286
    assert answer["HX-Refresh"] == "true"
    assert "hx-trigger" not in html(browser_of(Role.RESEARCHER), f"/runs/{run.pk}/")


@pytest.mark.parametrize(
    ("known", "words"),
    [("1", None), ("0", "New suspected mode: Cone, far."), ("", None), ("x", None)],
)
def test_a_new_failure_mode_is_announced_once_with_a_link(known, words):
    run = live_run()
    finding = make_finding(make_trial(run, ("cone", "far")))
    SearchRun.objects.filter(pk=run.pk).update(n_modes=1)

    answer = browser_of(Role.RESEARCHER).get(f"/runs/{run.pk}/progress/?modes={known}")

    told = json.loads(answer["HX-Trigger"])["toast"] if "HX-Trigger" in answer else None
    assert told == (words and {"text": words, "href": f"/findings/{finding.pk}/"})


def test_a_silent_worker_changes_the_mark_and_is_told():
    run = live_run()
    client = browser_of(Role.RESEARCHER)
    first = client.get(f"/runs/{run.pk}/progress/")
    SearchRun.objects.filter(pk=run.pk).update(lease_expires=timezone.now() - timezone.timedelta(seconds=1))

    later = client.get(f"/runs/{run.pk}/progress/", headers={"If-None-Match": first["ETag"]})

    assert later.status_code == 200
    assert "The worker that had this run fell silent. Nothing is lost" in later.content.decode()


def test_a_waiting_run_says_that_no_worker_is_there():
    run = make_run()

    page = html(browser_of(Role.RESEARCHER), f"/runs/{run.pk}/")

    assert "No worker serves the CPU queue, so the run waits." in page


def test_a_failed_run_shows_sentence_hint_and_reference_and_can_be_resumed():
    run = make_run(
        state=RunState.FAILED,
        error="The endpoint refused the key (401).",
        hint="Renew it.",
        error_reference="7F3A",
    )

    page = html(browser_of(Role.RESEARCHER), f"/runs/{run.pk}/")

    assert "The endpoint refused the key (401).</b> Renew it." in page
    assert "Reference 7F3A." in page
    assert f'action="/runs/{run.pk}/resume/"' in page


def test_a_finished_run_shows_its_metrics_with_counts_by_expected_answer():
    run = make_finished_run()

    page = html(browser_of(Role.RESEARCHER), f"/runs/{run.pk}/")

    assert page.count("67 %<small>2/3</small>") == 2  # PFM: both modes fail by readable answers alone, too
    assert page.count("44 %<small>4/9</small>") == 2  # MFR of the two full sets
    assert page.count("<h2>Metrics</h2>") == 1


def test_parked_sets_stand_beside_the_share_of_failure_modes_they_are_missing_from():
    run = make_finished_run()
    client = browser_of(Role.RESEARCHER)
    before = html(client, f"/runs/{run.pk}/metrics/")

    make_trial(run, ("near",), verdicts="P", status=TrialStatus.PARKED, order=50)
    SearchRun.objects.filter(pk=run.pk).update(step=run.step + 1)
    after = html(client, f"/runs/{run.pk}/metrics/")

    assert '<span class="sub">1 parked</span>' in after
    assert ("whatever the system does" in before, "whatever the system does" in after) == (False, True)


def test_a_set_that_was_cut_short_shows_its_samples_and_no_rate():
    run = make_finished_run()

    lines = browser_of(Role.RESEARCHER).get(f"/runs/{run.pk}/").context["page"].best

    assert [(line.trial.concepts, line.has_rate) for line in lines] == [
        (["cone", "fog"], False),
        (["cone", "far"], True),
    ]


def test_no_set_of_a_run_that_stops_early_has_a_rate():
    run = make_finished_run(campaign=make_campaign(config={"algorithm": "sits", "inference_budget": 60}))

    lines = browser_of(Role.RESEARCHER).get(f"/runs/{run.pk}/").context["page"].best

    assert [line.has_rate for line in lines] == [False, False]


def test_pausing_resuming_and_ending_move_the_run_and_leave_an_entry_each():
    run, client = live_run(), browser_of(Role.RESEARCHER)
    states = []

    for what in ("pause", "resume", "cancel"):
        assert client.post(f"/runs/{run.pk}/{what}/")["Location"] == f"/runs/{run.pk}/"
        run.refresh_from_db()
        states.append(run.state)

    assert states == [RunState.PAUSED, RunState.QUEUED, RunState.CANCELLED]
    assert list(AuditEntry.objects.order_by("id").values_list("verb", flat=True)) == [
        "paused",
        "resumed",
        "ended",
    ]


def test_an_action_that_comes_too_late_is_refused_with_a_sentence():
    run, client = make_finished_run(), browser_of(Role.RESEARCHER)

    page = client.post(f"/runs/{run.pk}/pause/", follow=True).content.decode()

    assert "cannot be paused: it is finished" in page
    assert AuditEntry.objects.count() == 0


def test_only_the_call_errors_can_be_asked_again_with_their_number_on_the_button():
    run, client = make_finished_run(), browser_of(Role.RESEARCHER)
    before = html(client, f"/runs/{run.pk}/")

    client.post(f"/runs/{run.pk}/retry-call-errors/")
    run.refresh_from_db()

    assert "Ask 1 call error again" in before
    assert (run.state, run.is_retrying_call_errors) == (RunState.QUEUED, True)


def test_acting_needs_a_post():
    run = live_run()

    assert browser_of(Role.RESEARCHER).get(f"/runs/{run.pk}/cancel/").status_code == 405


def test_a_run_that_does_not_exist_is_not_found():
    client = browser_of(Role.RESEARCHER)

    paths = (
        "/runs/999/",
        "/runs/999/progress/",
        "/runs/999/sets/",
        "/runs/999/log/",
        "/runs/999/export/run.json",
    )
    assert {client.get(path).status_code for path in paths} == {404}


def test_the_newest_lines_of_the_log_come_first_and_older_ones_on_demand():
    run = live_run()
    for number in range(20):
        RunEvent.objects.create(run=run, text=f"line {number}")
    client = browser_of(Role.RESEARCHER)

    first = client.get(f"/runs/{run.pk}/").context["page"].log
    older = client.get(f"/runs/{run.pk}/log/?before={first.before}", headers={"HX-Request": "true"})

    assert [line.text for line in first.lines] == [f"line {number}" for number in range(19, 7, -1)]
    assert [line.text for line in older.context["log"].lines] == [
        f"line {number}" for number in range(7, -1, -1)
    ]
    assert older.content.decode().count("<html") == 0


def test_a_text_from_a_system_is_shown_as_text():
    run = live_run()
    RunEvent.objects.create(run=run, text="<img src=x onerror=alert(1)>")

    assert "&lt;img src=x onerror=alert(1)&gt;" in html(browser_of(Role.RESEARCHER), f"/runs/{run.pk}/")


def test_the_metrics_are_a_part_for_htmx_and_a_whole_page_without_scripts():
    run, client = make_finished_run(), browser_of(Role.REVIEWER)

    part = client.get(f"/runs/{run.pk}/metrics/", headers={"HX-Request": "true"}).content.decode()
    page = html(client, f"/runs/{run.pk}/metrics/")

    assert (part.count("<html"), page.count("<html")) == (0, 1)
    assert part.count('id="metrics"') == page.count('id="metrics"') == 1
