"""The page of a system and its row in the list: health, money, versions, history, calibration."""

from datetime import timedelta

import pytest
from django.utils import timezone

from searches.charts.spending import spending_chart
from searches.models import ApiKey, Calibration, SpendDay, SutRecord, SutVersion, User
from searches.services.audit import record
from searches.services.keys import create_key
from searches.services.sut_health import HEALTH_LABELS, health_filter, health_of
from searches.services.sut_pages import spend_days, sut_overview
from tests.factories import make_finished_run, make_run, make_sut, make_user
from tests.searches.modality_factory import Ending, make_grid, make_modality_campaign, make_seed_dataset
from vlmlab.core.suts.kinds import parse_params
from vlmlab.web.figures import validate_with_plotly
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db
NOW = timezone.now()
EARLIER = NOW - timedelta(hours=1)


def make_remote(slug: str = "remote", *, kind: str = "openai_chat", **values) -> SutRecord:
    params = parse_params(kind, {"model": "m-1"} | values.pop("params", {})).model_dump(mode="json")
    return make_sut(slug, kind=kind, queue="api", params=params, **values)


def make_key(name: str, *, by: User | None = None) -> ApiKey:
    address = "https://api.openai.com/v1"
    return create_key(name=name, kind="openai_chat", secret="0123456789abcdefWXYZ", by=by, address=address)


STATES = {
    "ready": {"n_calls": 5, "n_call_errors": 1, "last_error_at": EARLIER, "last_answer_at": NOW},
    "failing": {"n_calls": 5, "n_call_errors": 1, "last_error_at": NOW, "last_answer_at": EARLIER},
    "never": {"n_calls": 2, "n_call_errors": 2, "last_error_at": NOW},
    "unused": {},
    "limit": {"n_calls": 5, "spend_usd": 2.0, "params": {"spend_cap_usd": 2.0}},
    "below": {"n_calls": 5, "spend_usd": 1.9, "params": {"spend_cap_usd": 2.0}},
    "off": {"is_enabled": False, "n_calls": 5, "spend_usd": 9.0, "params": {"spend_cap_usd": 2.0}},
}


def test_the_filter_by_state_finds_what_the_badge_says():
    for slug, values in STATES.items():
        make_remote(slug, **values)

    found = {
        HEALTH_LABELS[name]: sorted(
            SutRecord.objects.filter(health_filter(name)).values_list("slug", flat=True)
        )
        for name in HEALTH_LABELS
    }
    said: dict[str, list[str]] = {label: [] for label in HEALTH_LABELS.values()}
    for sut in SutRecord.objects.order_by("slug"):
        said[health_of(sut, loaded={}).label].append(sut.slug)

    assert found == said
    assert found == {
        "Ready": ["below", "ready"],
        "Fails": ["failing", "never"],
        "Limit reached": ["limit"],
        "Not asked here yet": ["unused"],
        "Switched off": ["off"],
    }


def test_the_list_narrows_to_a_state_and_a_kind():
    for slug, values in STATES.items():
        make_remote(slug, **values)
    make_sut("scripted-one")
    browser = browser_of(Role.REVIEWER)

    failing = browser.get("/suts/?health=failing").context["lines"]
    scripted = browser.get("/suts/?kind=scripted").context["lines"]

    assert [line.sut.slug for line in failing] == ["failing", "never"]
    assert [line.sut.slug for line in scripted] == ["scripted-one"]


def test_a_system_that_failed_last_says_when_and_why():
    make_remote(last_error="The server refused the API key.", **STATES["failing"])

    page = browser_of(Role.REVIEWER).get("/suts/remote/").content.decode()

    assert "Its last call failed (" in page
    assert page.count("The server refused the API key.") == 1


@pytest.mark.parametrize("rows", [1, 3])
def test_the_page_asks_the_database_as_often_for_three_runs_as_for_one(rows, django_assert_num_queries):
    sut = make_remote(api_key=make_key("K"))
    for number in range(rows):
        make_finished_run(sut)
        SutVersion.objects.create(sut=sut, fingerprint=str(number), params={})
        SpendDay.objects.create(sut=sut, day=NOW.date() - timedelta(days=number), n_calls=1)
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(17):
        browser.get("/suts/remote/")


def test_the_page_shows_the_words_it_is_sent_in_their_template():
    make_remote(params={"asking": {"choice_template": "Well: {question} Now."}})

    shown = browser_of(Role.REVIEWER).get("/suts/remote/").context["overview"].requests

    assert shown[0].prompt.startswith("Find the red car in the picture.")
    assert shown[1].prompt.startswith("Well: The picture is the view")
    assert shown[1].prompt.endswith(" Now.")


def test_only_who_may_change_a_key_is_offered_to_replace_it():
    owner = make_user(Role.RESEARCHER)
    key = make_key("Team", by=owner)
    make_remote(api_key=key)
    offer = f'href="/keys/{key.pk}/replace/"'
    own, other = browser_of(Role.RESEARCHER), browser_of(Role.RESEARCHER)
    own.force_login(owner)

    pages = [one.get("/suts/remote/").content.decode() for one in (own, browser_of(Role.ADMIN), other)]

    assert [offer in page for page in pages] == [True, True, False]
    assert all("Team (…WXYZ)" in page for page in pages)


def test_a_price_that_nobody_entered_is_told_instead_of_a_sum():
    unknown = make_remote("unknown", spend_usd=0.0)
    known = make_remote("known", spend_usd=1.5, params={"input_price_usd": 1.0, "output_price_usd": 2.0})

    assert [sut.is_price_unknown for sut in (unknown, known, make_sut("local"))] == [True, False, False]
    page = browser_of(Role.REVIEWER).get("/suts/").content.decode()
    assert (page.count("price unknown"), page.count("$1.50")) == (1, 1)


def test_the_page_lists_each_version_with_its_runs_and_marks_the_present_one():
    sut = make_remote(fingerprint="b" * 64)
    for letter in "ab":
        SutVersion.objects.create(sut=sut, fingerprint=letter * 64, params={})
    make_run(sut, checkpoint={"fingerprint": "a" * 64})
    make_run(sut, checkpoint={"fingerprint": "a" * 64})

    versions = sut_overview(sut).versions

    assert [(one.row.fingerprint[0], one.n_runs, one.is_current) for one in versions] == [
        ("b", 0, True),
        ("a", 2, False),
    ]


def test_the_history_says_which_settings_a_change_changed_in_words():
    sut = make_remote()
    before = {"name": sut.name, "params": sut.params}
    after = {"name": "New", "params": sut.params | {"temperature": 0.5}}
    record(make_user(username="ada"), "edited", sut, before=before, after=after)

    change = sut_overview(sut).changes[0]

    assert (change.entry.actor_name, change.entry.verb) == ("ada", "edited")
    assert change.changed == (("Name", sut.name, "New"), ("Temperature", "nothing", "0.5"))


@pytest.mark.parametrize(
    ("values", "boxes", "answers"),
    [
        ({}, "Fit", "Can be read"),
        ({"boxes_status": "other_convention"}, "Another convention fits", "Can be read"),
        ({"answers_status": "unreadable"}, "Fit", "Cannot be read"),
        ({"fingerprint": "of an earlier version"}, "Out of date", "Out of date"),
    ],
)
def test_the_calibration_is_told_for_boxes_and_for_answers(values, boxes, answers):
    sut = make_remote()
    stored = {
        "fingerprint": sut.fingerprint,
        "asking": sut.params["asking"],
        "boxes_status": "calibrated",
        "answers_status": "calibrated",
        "reader_version": "1",
    }
    Calibration.objects.create(sut=sut, **stored | values)
    browser = browser_of(Role.REVIEWER)

    word = browser.get("/suts/remote/").context["overview"].calibration_word
    line = browser.get("/suts/").context["lines"][0].calibration

    assert (word.boxes[1], word.answers[1], word.is_done) == (boxes, answers, values == {})
    assert line == word


def test_a_system_without_a_calibration_offers_one_to_those_who_may_start_it():
    make_remote()

    researcher, reviewer = (
        browser_of(role).get("/suts/remote/").content.decode() for role in (Role.RESEARCHER, Role.REVIEWER)
    )

    assert ('action="/suts/remote/calibrate/"' in researcher, "Nobody has checked yet" in reviewer) == (
        True,
        True,
    )
    assert 'action="/suts/remote/calibrate/"' not in reviewer


def test_a_calibration_that_waits_is_told_instead_of_offered_again():
    make_remote()
    browser = browser_of(Role.RESEARCHER)
    browser.post("/suts/remote/calibrate/")

    page = browser.get("/suts/remote/").content.decode()

    assert ("waits for a worker." in page, 'action="/suts/remote/calibrate/"' in page) == (True, False)


def test_the_chart_of_money_covers_thirty_days_with_its_numbers():
    sut = make_remote()
    for days, cost in ((0, 0.5), (29, 0.25), (30, 9.0)):
        day = NOW.date() - timedelta(days=days)
        SpendDay.objects.create(sut=sut, day=day, n_calls=10, n_call_errors=1, input_tokens=7, cost_usd=cost)

    chart = spending_chart(spend_days(sut, today=NOW.date()), until=NOW.date())

    validate_with_plotly(chart.spec)
    assert chart.title == "Cost a day"
    assert chart.sentence == "20 calls for $0.75 in the last 30 days."
    assert [row[1:] for row in chart.rows] == [(10, 1, 7, 0, 0.25), (10, 1, 7, 0, 0.5)]


def test_the_chart_shows_calls_where_nothing_cost_money():
    sut = make_remote()
    SpendDay.objects.create(sut=sut, day=NOW.date(), n_calls=10)

    chart = spending_chart(spend_days(sut, today=NOW.date()), until=NOW.date())

    assert (chart.title, chart.spec["data"][0]["y"]) == ("Calls a day", [10])


def test_the_page_leads_to_the_sensitivity_profiles_of_the_system():
    sut, other = make_remote(), make_sut("other")
    campaign = make_modality_campaign(make_seed_dataset(1), name="Street seeds")
    make_grid(campaign, suts=[sut, other], ended=lambda place: Ending())
    strange = make_modality_campaign(campaign.dataset, name="Without it")
    make_grid(strange, suts=[other], ended=lambda place: Ending())

    page = browser_of(Role.RESEARCHER).get("/suts/remote/").content.decode()
    read = browser_of(Role.REVIEWER).get("/suts/remote/").content.decode()

    assert f'href="{campaign.get_absolute_url()}?sut=remote"' in page
    assert "Without it" not in page
    assert f'href="/modality/new/?sut={sut.pk}"' in page
    assert "/modality/new/" not in read


def test_a_system_without_a_profile_says_how_it_gets_one():
    sut = make_remote()

    page = browser_of(Role.RESEARCHER).get("/suts/remote/").content.decode()

    assert "None yet. A modality search changes picture and prompt" in page
    assert f'href="/modality/new/?sut={sut.pk}"' in page
