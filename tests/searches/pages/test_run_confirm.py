"""The form that starts a search can wish that what is found is confirmed; programs can, too."""

import pytest

from searches.forms import run as run_form
from searches.models import Campaign
from tests.factories import make_campaign, make_run, make_sut
from tests.searches.api.asking import Program
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db


def posted(**changes: object) -> dict[str, object]:
    values = run_form.initial_values("quick_look") | {"run_seed": 11} | changes
    return {name: value for name, value in values.items() if value is not None and value is not False}


def start(**changes: object):
    return browser_of(Role.RESEARCHER).post("/runs/new/", posted(**changes))


def test_without_a_wish_nothing_is_confirmed_by_itself():
    make_sut()

    start()

    assert Campaign.objects.get().plan == {}


def test_extra_inferences_leave_the_budget_of_the_search_alone():
    make_sut()

    start(confirm="extra")

    campaign = Campaign.objects.get()
    assert campaign.plan["confirm"]["mode"] == "extra"
    assert campaign.config["inference_budget"] == 60


def test_a_share_is_taken_from_the_budget_and_a_copy_shows_the_whole_again():
    make_sut()

    start(confirm="share", confirm_share="0.25")

    campaign = Campaign.objects.get()
    assert (campaign.config["inference_budget"], campaign.plan["confirm"]["inference_budget"]) == (45, 15)
    form = browser_of(Role.RESEARCHER).get(f"/runs/{campaign.runs.get().pk}/clone/").context["form"]
    shown = {name: form[name].value() for name in ("inference_budget", "confirm", "confirm_share")}
    assert shown == {"inference_budget": 60, "confirm": "share", "confirm_share": 0.25}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"confirm": "maybe"}, "confirm"),
        ({"confirm": "share", "confirm_share": "2"}, "confirm_share"),
        ({"confirm": "extra", "failure_rate_threshold": "1"}, "confirm"),
    ],
)
def test_a_wish_that_cannot_be_kept_is_refused_at_its_field(changes, field):
    make_sut()

    answer = start(**changes)

    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert not Campaign.objects.exists()


def test_the_estimate_says_what_the_confirmation_adds_and_the_shell_what_to_write():
    make_sut()
    page = browser_of(Role.RESEARCHER)

    extra = page.get("/runs/estimate/", posted(confirm="extra")).content.decode()
    share = page.get("/runs/estimate/", posted(confirm="share", confirm_share="0.5")).content.decode()

    assert "at most 100 fresh scenes for each failure mode" in extra
    assert "--confirm extra" in extra
    assert "Of these inferences up to 30 are kept for the confirmation" in share
    assert "--confirm share=0.5" in share


def test_a_run_of_a_follow_up_has_no_page_and_no_form_of_its_own():
    run = make_run(campaign=make_campaign(method="follow_up", kind="confirm"))
    page = browser_of(Role.RESEARCHER)

    assert page.get(f"/runs/{run.pk}/")["Location"] == run.campaign.get_absolute_url()
    assert page.get(f"/runs/{run.pk}/clone/")["Location"] == run.campaign.get_absolute_url()


def test_a_program_wishes_it_in_words():
    make_sut("toy")
    program = Program()
    search = {"suts": ["toy"], "config": {"inference_budget": 10}}

    started = program.post("/campaigns", search | {"confirm": "share=0.3"})
    assert (program.status, started["config"]["inference_budget"]) == (201, 7)

    refused = program.post("/campaigns", search | {"confirm": "much"})
    assert (program.status, refused["field"]) == (422, "confirm")
