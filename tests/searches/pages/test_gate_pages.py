"""Pages of regression families, regressions and canaries: who sees what, what forms say, query counts."""

import pytest

from searches.enums import RunState
from searches.models import Campaign, Canary, FollowUpSource, RegressionFamily
from searches.services.canaries import create_canary
from searches.services.regression_settling import settle_regression
from tests.factories import make_finding, make_run, make_sut, make_trial
from tests.searches.gate_factory import make_confirmed, make_family, make_regression
from tests.searches.pages.people import browser_of, statuses
from vlmlab.web.figures import validate_with_plotly
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db
FOR_READERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
FOR_RESEARCHERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403}
FIXED, WORSE = ("F" * 36 + "P" * 4, "F" * 6 + "P" * 34), ("P" * 30 + "F" * 10, "F" * 36 + "PPPI")


def text_of(answer) -> str:
    return " ".join(answer.content.decode().split())


def settled(family, answers, **values) -> Campaign:
    campaign = make_regression(family, answers, **values)
    settle_regression(campaign)
    return campaign


def test_families_are_read_by_readers_and_changed_by_researchers():
    family = make_family(1)
    campaign = settled(family, {0: FIXED})

    for path in (f"/families/{family.slug}/", f"/families/regressions/{campaign.pk}/"):
        assert statuses(path) == FOR_READERS, path
    assert statuses(f"/families/{family.slug}/edit/") == FOR_RESEARCHERS
    page = text_of(browser_of(Role.REVIEWER).get(f"/families/{family.slug}/"))
    assert "Start the regression" not in page
    assert "Take it out" not in page


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_families(rows, django_assert_num_queries):
    sut = make_sut("old")
    for number in range(rows):
        settled(make_family(2, baseline=sut, name=f"Family {number}"), {0: FIXED, 1: WORSE})
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(6):  # session, person, count, families, archived, navigation
        page = text_of(browser.get("/families/"))

    assert page.count('class="primary-link"') == rows
    assert page.count('class="badge failed"') == rows


@pytest.mark.parametrize("rows", [1, 3])
def test_a_family_takes_the_same_queries_for_any_number_of_members_and_regressions(
    rows, django_assert_num_queries
):
    family = make_family(rows)
    for _ in range(rows):
        settled(family, dict.fromkeys(range(rows), FIXED))
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(10):
        page = text_of(browser.get(f"/families/{family.slug}/"))

    assert page.count("Fixed</span>") == rows * rows


@pytest.mark.parametrize("rows", [1, 3])
def test_canaries_take_the_same_queries_for_any_number_of_them(rows, django_assert_num_queries):
    family = make_family(1)
    for number in range(rows):
        create_canary(family, make_sut(f"new-{number}"), every_hours=6, by=None)
    browser = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(7):
        page = text_of(browser.get("/families/canaries/"))

    assert page.count('class="primary-link"') == rows


def test_a_list_may_send_what_was_chosen_and_its_numbers_arrive():
    run = make_run()
    sure, unsure = make_confirmed(run, ("cone",)), make_finding(make_trial(run, ("near", "cone")))
    browser = browser_of(Role.RESEARCHER)

    answer = browser.post("/families/pin/", {"finding": [sure.pk, unsure.pk]})

    assert (answer.status_code, answer.url) == (
        302, f"/families/pin/?finding={sure.pk}&finding={unsure.pk}",
    )  # fmt: skip
    page = text_of(browser.get(answer.url))
    assert "1 of 2 is not confirmed (1 suspected)." in page
    assert "No family of this kind is there yet." in page
    nothing = browser.post("/families/pin/", {}, follow=True)
    assert "Nothing is chosen. Choose at least one" in text_of(nothing)


def test_findings_become_a_family_and_others_join_it():
    run = make_run()
    first, second = make_confirmed(run, ("cone",)), make_confirmed(run, ("near", "cone"))
    browser = browser_of(Role.RESEARCHER)
    plan = {"scenes": "20", "margin": "0.1", "level": "0.05", "goal": "no_worse"}

    made = browser.post("/families/new/", {"finding": first.pk, "name": "Cones", **plan})

    family = RegressionFamily.objects.get()
    assert (made.status_code, made.url) == (302, "/families/cones/")
    assert (family.config["scenes"], family.baseline) == (20, None)
    joined = browser.post(
        "/families/pin/", {"finding": [first.pk, second.pk], "family": "cones"}, follow=True
    )
    assert "1 pinned to Cones. 1 were in it already." in text_of(joined)
    assert family.members.count() == 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "This field is required."),
        ({"scenes": "0"}, "greater than or equal to 1"),
        ({"scenes": "many"}, "Enter a whole number."),
        ({"margin": "nan"}, "Enter a number."),
        ({"level": "0.7"}, "less than or equal to 0.4999"),
        ({"goal": "better"}, "Select a valid choice"),
        ({"baseline": "9" * 30}, "Select a valid choice"),
    ],
)
def test_what_a_family_cannot_be_is_said_at_its_field_and_nothing_is_lost(wrong, said):
    finding = make_confirmed(make_run(), ("cone",))
    values = {"name": "Cones", "scenes": "20", "margin": "0.1", "level": "0.05", "goal": "no_worse"}

    answer = browser_of(Role.RESEARCHER).post("/families/new/", values | wrong | {"finding": finding.pk})

    assert answer.status_code == 422
    assert said in text_of(answer)
    assert f'name="finding" value="{finding.pk}"' in text_of(answer)
    assert not RegressionFamily.objects.exists()


def test_the_plan_of_a_form_in_the_making_is_shown_before_it_is_kept():
    family = make_family(2)

    page = text_of(browser_of(Role.RESEARCHER).get(f"/families/{family.slug}/edit/?scenes=4&level=nonsense"))
    other = text_of(browser_of(Role.RESEARCHER).get(f"/families/{family.slug}/edit/?scenes=4"))

    assert "What 4 scenes" not in page
    assert "What 4 scenes a mode can tell, corrected for 2 modes" in other
    assert "Too few: below 7 scenes no change can be significant" in other


def test_a_regression_is_started_and_a_system_is_not_tried_against_itself():
    family, new = make_family(2), make_sut("new")
    browser = browser_of(Role.RESEARCHER)

    answer = browser.post(
        f"/families/{family.slug}/start/", {"candidate": "new", "baseline": "old", "scenes": "5"}
    )
    refused = browser.post(
        f"/families/{family.slug}/start/", {"candidate": "old", "baseline": "old", "scenes": "5"}
    )

    campaign = Campaign.objects.get(kind="regress")
    assert (answer.status_code, answer.url) == (302, f"/families/regressions/{campaign.pk}/")
    assert FollowUpSource.objects.get().spec == {"baseline": family.baseline_id, "candidate": new.pk}
    assert campaign.items.count() == 4
    assert refused.status_code == 422
    assert "A system cannot be compared with itself." in text_of(refused)


def test_the_page_of_a_regression_gives_verdict_counts_scenes_and_a_chart_of_svg_traces():
    campaign = settled(make_family(2), {0: FIXED, 1: WORSE}, with_samples=True)

    answer = browser_of(Role.REVIEWER).get(f"/families/regressions/{campaign.pk}/?mode=1")

    page = text_of(answer)
    assert "New fails more often than before on 1 mode: Debris, near." in page
    assert "36/40" in page
    assert "1 invalid" in page
    assert "30 only before, 0 only now" in page
    assert 'id="scenes"' in page
    validate_with_plotly(answer.context["chart"].spec)
    assert [row[1] for row in answer.context["chart"].rows] == ["Fixed", "Worse"]


@pytest.mark.parametrize("members", [1, 3])
def test_a_regression_takes_the_same_queries_for_any_number_of_modes(members, django_assert_num_queries):
    campaign = settled(make_family(members), dict.fromkeys(range(members), FIXED), with_samples=True)
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(12):
        browser.get(f"/families/regressions/{campaign.pk}/?mode=0")


def test_progress_is_asked_for_until_both_runs_have_ended():
    family = make_family(1)
    live = make_regression(family, {0: ("FF", "F")}, state=RunState.RUNNING)
    done = settled(family, {0: FIXED})
    browser = browser_of(Role.REVIEWER)

    answer = browser.get(f"/families/regressions/{live.pk}/progress/")
    again = browser.get(
        f"/families/regressions/{live.pk}/progress/", headers={"If-None-Match": answer["ETag"]}
    )
    ended = browser.get(f"/families/regressions/{done.pk}/progress/")

    assert (answer.status_code, again.status_code, ended.status_code) == (200, 304, 286)
    assert 'hx-trigger="every 3s"' in text_of(answer)
    assert ended["HX-Refresh"] == "true"


@pytest.mark.parametrize("path", ["99/", "99/file/xml/", "99999999999999999999/", "99/progress/"])
def test_what_is_no_regression_is_not_found(path):
    other = make_run(state=RunState.SUCCEEDED).campaign

    browser = browser_of(Role.REVIEWER)
    assert browser.get(f"/families/regressions/{path}").status_code == 404
    assert browser.get(f"/families/regressions/{other.pk}/").status_code == 404


def test_a_canary_is_made_switched_changed_started_and_deleted():
    family, new = make_family(1), make_sut("new")
    browser = browser_of(Role.RESEARCHER)

    made = browser.post("/families/canaries/new/", {"family": family.slug, "sut": "new", "every_hours": "12"})
    twice = browser.post("/families/canaries/new/", {"family": family.slug, "sut": "new", "every_hours": "0"})

    canary = Canary.objects.get()
    path = f"/families/canaries/{canary.pk}/"
    assert (made.status_code, twice.status_code, canary.sut, canary.every_hours) == (302, 422, new, 12)
    browser.post(path, {"do": "off"})
    browser.post(path, {"do": "interval", "every_hours": "3"})
    canary.refresh_from_db()
    assert (canary.is_on, canary.every_hours) == (False, 3)
    refused = browser.post(path, {"do": "interval", "every_hours": "-3"}, follow=True)
    assert "Enter a whole number of hours from 1 to 8,784." in text_of(refused)
    started = browser.post(path, {"do": "now"})
    canary.refresh_from_db()
    assert started.url == f"/families/regressions/{canary.last_campaign_id}/"
    browser.post(path, {"do": "delete"})
    assert not Canary.objects.exists()
    assert Campaign.objects.filter(kind="regress").count() == 1
    assert browser.post(path, {"do": "on"}).status_code == 404


def test_an_archived_family_is_out_of_the_list_and_comes_back():
    family = make_family(1)
    create_canary(family, make_sut("new"), every_hours=6, by=None)
    browser = browser_of(Role.RESEARCHER)

    browser.post(f"/families/{family.slug}/archive/", {"do": "archive"})

    assert family.name not in text_of(browser.get("/families/"))
    assert family.name in text_of(browser.get("/families/?archived=1"))
    assert not Canary.objects.get().is_on
    browser.post(f"/families/{family.slug}/archive/", {"do": "bring-back"})
    assert family.name in text_of(browser.get("/families/"))


def test_a_member_is_taken_out_and_the_last_one_stays():
    family = make_family(2)
    browser = browser_of(Role.RESEARCHER)
    first, second = family.members.all()

    browser.post(f"/families/{family.slug}/unpin/", {"member": first.pk})
    refused = browser.post(f"/families/{family.slug}/unpin/", {"member": second.pk}, follow=True)

    assert [one.pk for one in family.members.all()] == [second.pk]
    assert "It is the last member." in text_of(refused)
