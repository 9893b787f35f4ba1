"""Pages and programs of concept searches beside modality runs: these are left out, and nothing breaks."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from searches.enums import RunState
from searches.models import Blob, SearchRun, SutRecord
from searches.services.comparison import find_pair, runs_to_compare
from searches.services.garbage import collect_garbage
from searches.services.navigation import count_for_nav
from tests.factories import make_run
from tests.searches.api.asking import Program
from tests.searches.engine import advance
from tests.searches.modality_engine import never_breaks, runs_of, start_modality
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def concept_run():
    return make_run(n_observations=20)


@pytest.fixture
def campaign(concept_run):
    """A campaign of three runs: finished, paused with a reason, waiting."""
    campaign = start_modality(never_breaks(), n=3, inference_budget=2)
    finished, paused, _ = runs_of(campaign)
    advance(finished)
    SearchRun.objects.filter(pk=paused.pk).update(state=RunState.PAUSED, error="The server is away.")
    return campaign


@pytest.fixture
def browser():
    return browser_of(Role.ADMIN)


def test_the_list_of_runs_and_its_filters_leave_them_out(browser, campaign, concept_run):
    page = browser.get("/runs/")

    assert list(page.context["page_obj"]) == [concept_run]
    assert campaign.name not in page.content.decode()
    assert browser.get(f"/runs/?campaign={campaign.pk}&state=live").status_code == 200


def test_the_overview_counts_them_as_work_and_names_their_campaign_once(browser, campaign, concept_run):
    overview = browser.get("/").context["overview"]

    assert (overview.n_runs, overview.runs) == (1, (concept_run,))
    assert overview.totals.queued_runs == 2
    said = [(todo.strong, todo.rest, todo.url) for todo in overview.todos if todo.strong == campaign.name]
    assert said == [
        (campaign.name, "waits: 1 run is halted: The server is away.", f"/modality/{campaign.pk}/")
    ]


def test_the_navigation_counts_live_concept_runs_and_campaigns_apart(campaign, concept_run):
    counts = count_for_nav()

    assert (counts.runs, counts.profiles) == ("1 live", 1)


def test_a_modality_run_leads_to_its_own_page_and_has_no_sets_metrics_or_exports(browser, campaign):
    run = runs_of(campaign)[0]

    answer = browser.get(f"/runs/{run.pk}/")

    assert (answer.status_code, answer.url) == (302, f"/modality/runs/{run.pk}/")
    for part in ("progress/", "metrics/", "log/", "sets/", "export/trials.csv"):
        assert browser.get(f"/runs/{run.pk}/{part}").status_code == 404


def test_settings_of_a_modality_run_are_copied_with_its_campaign(browser, campaign):
    answer = browser.get(f"/runs/{runs_of(campaign)[0].pk}/clone/")

    assert (answer.status_code, answer.url) == (302, f"/modality/{campaign.pk}/clone/")


def test_a_single_modality_run_can_be_paused_resumed_and_ended(browser, campaign):
    run = runs_of(campaign)[2]

    states = []
    for action in ("pause", "resume", "cancel"):
        assert browser.post(f"/runs/{run.pk}/{action}/").status_code == 302
        run.refresh_from_db()
        states.append(run.state)

    assert states == [RunState.PAUSED, RunState.QUEUED, RunState.CANCELLED]


@pytest.mark.parametrize(("limit", "state"), [("1", RunState.QUEUED), ("free", RunState.PAUSED)])
def test_a_limit_that_holds_a_modality_run_is_raised_on_its_own(browser, limit, state):
    run = start_modality(never_breaks(), algorithm="random", slots=8, spend_cap_usd=0.01).runs.get()
    advance(run)

    answer = browser.post(f"/runs/{run.pk}/raise-limit/", {"new_limit": limit})

    run.refresh_from_db()
    assert (answer.status_code, run.state) == (302, state)


def test_modality_runs_are_not_compared_as_concept_runs(browser, campaign, concept_run):
    first, second = runs_of(campaign)[:2]

    assert list(runs_to_compare()) == [concept_run]
    assert find_pair(first.pk, second.pk) is None
    assert browser.get(f"/runs/compare/?first={first.pk}&second={second.pk}").status_code == 200


def test_the_pages_of_systems_and_workers_show_concept_runs_and_do_not_break(browser, campaign):
    sut = SutRecord.objects.get(modality_runs__campaign=campaign, modality_runs__run=runs_of(campaign)[0])

    overview = browser.get(f"/suts/{sut.slug}/").context["overview"]

    assert (overview.runs, overview.n_runs) == ((), 0)
    assert browser.get("/suts/").status_code == browser.get("/workers/").status_code == 200


def test_programs_see_concept_searches_only(campaign, concept_run):
    program, run = Program(), runs_of(campaign)[0]

    assert [one["id"] for one in program.get("/runs")["items"]] == [concept_run.pk]
    assert [one["id"] for one in program.get("/campaigns")["items"]] == [concept_run.campaign_id]
    for path in (f"/runs/{run.pk}", f"/runs/{run.pk}/log", f"/campaigns/{campaign.pk}"):
        program.get(path)
        assert program.status == 404


def test_reading_replies_again_passes_over_modality_runs(campaign, capsys):
    call_command("reparse", "--dry-run")
    with pytest.raises(CommandError, match="There is no run"):
        call_command("reparse", "--run", str(runs_of(campaign)[0].pk))


def test_collection_leaves_the_pictures_of_cases_and_seed_images(campaign):
    case = runs_of(campaign)[0].modality.cases.get()

    collect_garbage(timedelta(seconds=-5))

    kept = set(Blob.objects.values_list("pk", flat=True))
    assert kept == {case.image_sha256, *campaign.dataset.pictures.values_list("image_sha256", flat=True)}
