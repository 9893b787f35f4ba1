"""The pages that start follow-ups: what may be chosen together, what it will take, and what is started."""

import pytest

from searches.enums import FindingState
from searches.models import Campaign, FollowUpItem
from tests.factories import make_campaign, make_finding, make_finished_run, make_run, make_trial
from tests.searches.engine import FLAT
from tests.searches.follow_up_factory import make_confirmation, make_suspects
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db

RESEARCHERS_MAY = {"": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403}
FORM = {
    "kind": "confirm", "protocol": "sequential", "max_samples": "100", "fdr_level": "0.1",
    "paper_samples": "20", "paper_top": "10", "later_share": "0.2", "coverage": "0.95",
    "futility": "0.05", "slots": "8",
}  # fmt: skip
ABLATION = {"pairs": "10", "level": "0.05", "margin": "0.1", "reduce_scenes": "20", "slots": "8"}


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT


def suspects():
    """Return two findings whose sets can be drawn, of one run."""
    run = make_run()
    return [
        make_finding(make_trial(run, concepts, verdicts="FFFPF"))
        for concepts in (("cone", "far"), ("cyclist", "near"))
    ]


def test_forms_are_open_to_researchers_only():
    finding = suspects()[0]

    for path in (
        f"/follow-ups/new/?finding={finding.pk}",
        f"/follow-ups/estimate/?kind=probe&scenes=20&slots=8&finding={finding.pk}",
    ):
        assert statuses(path) == RESEARCHERS_MAY, path


def test_chosen_findings_lead_to_the_form_of_what_was_wished():
    first, second = suspects()
    client = browser_of(Role.RESEARCHER)

    def goes_to(wish: str) -> str:
        return client.post("/findings/select/", {"finding": [first.pk, second.pk], "do": wish})["Location"]

    query = f"finding={first.pk}&finding={second.pk}"
    assert goes_to("confirm") == f"/follow-ups/new/?kind=confirm&{query}"
    assert goes_to("ablate") == f"/follow-ups/new/?kind=ablate&{query}"
    assert goes_to("pin") == f"/families/pin/?{query}"
    assert goes_to("nonsense") == f"/follow-ups/new/?kind=confirm&{query}"


def test_choosing_nothing_is_said():
    page = browser_of(Role.RESEARCHER).post("/findings/select/", {"do": "confirm"}, follow=True)

    assert "No finding is chosen. Tick at least one in the list." in page.content.decode()


def test_confirming_chosen_findings_stores_an_item_for_each():
    findings = suspects()

    answer = browser_of(Role.RESEARCHER).post(
        "/follow-ups/new/", FORM | {"finding": [one.pk for one in findings]}
    )

    campaign = Campaign.objects.get(method="follow_up")
    assert answer["Location"] == f"/follow-ups/{campaign.pk}/"
    assert (campaign.kind, campaign.follows_id) == ("confirm", findings[0].run.campaign_id)
    assert sorted(FollowUpItem.objects.values_list("finding_id", flat=True)) == [one.pk for one in findings]


def test_all_suspects_of_a_run_are_offered_and_settled_ones_are_not():
    findings = suspects()
    findings[0].state = FindingState.CONFIRMED
    findings[0].save()

    page = browser_of(Role.RESEARCHER).get(f"/follow-ups/new/?kind=confirm&run={findings[0].run_id}")

    assert [one.pk for one in page.context["source"].findings] == [findings[1].pk]


@pytest.mark.parametrize(("which", "n"), [("all", 3), ("minimal", 2), ("top", 1)])
def test_the_form_narrows_what_is_looked_at(which, n):
    run = make_suspects()[0].run
    run.findings.filter(key="cone+far").update(is_minimal_in_run=False)

    page = browser_of(Role.RESEARCHER).get(
        "/follow-ups/estimate/", FORM | {"run": run.pk, "which": which, "top": "1"}
    )

    estimate = page.context["estimate"]
    assert (estimate.n_items, estimate.most) == (n, 100 * n)


@pytest.mark.parametrize(
    ("kind", "values", "most"),
    [
        ("confirm", FORM | {"protocol": "paper"}, 20),
        ("ablate", ABLATION, 30),
        ("ablate", ABLATION | {"reduces": "on"}, 30),  # two concepts have no smaller set than the drops
        ("probe", {"scenes": "20", "slots": "8"}, 40),
    ],
)
def test_the_estimate_counts_the_most_inferences(kind, values, most):
    finding = suspects()[0]

    page = browser_of(Role.RESEARCHER).get(
        "/follow-ups/estimate/", values | {"kind": kind, "finding": finding.pk}
    )

    assert page.context["estimate"].most == most


def test_an_estimate_of_a_wrong_form_says_what_is_wrong():
    finding = suspects()[0]

    page = browser_of(Role.RESEARCHER).get(
        "/follow-ups/estimate/", FORM | {"max_samples": "0", "finding": finding.pk}
    )

    assert "Most scenes a set: Enter a whole number from 1 to 10,000." in page.content.decode()


def test_a_wrong_value_stands_at_its_field_and_nothing_is_lost():
    finding = suspects()[0]

    page = browser_of(Role.RESEARCHER).post(
        "/follow-ups/new/", FORM | {"fdr_level": "2", "finding": finding.pk, "name": "Mine"}
    )

    assert page.status_code == 422
    assert list(page.context["form"].errors) == ["fdr_level"]
    assert 'value="Mine"' in page.content.decode()
    assert not Campaign.objects.filter(method="follow_up").exists()


def test_unknown_findings_are_named():
    page = browser_of(Role.RESEARCHER).get("/follow-ups/new/?finding=987654", follow=True)

    assert "There is no finding 987654." in page.content.decode()


def other_domain():
    return make_campaign(domain="indoor", domain_version="000000000000")


def other_source():
    return make_campaign(config={"algorithm": "random", "inference_budget": 60, "backend": "warehouse"})


def other_size():
    return make_campaign(
        config={"algorithm": "random", "inference_budget": 60, "image_width": 320, "image_height": 240}
    )


def other_threshold():
    return make_campaign(
        config={"algorithm": "random", "inference_budget": 60, "failure_rate_threshold": 0.8}
    )


@pytest.mark.parametrize(
    ("campaign", "said"),
    [
        (other_domain, "belong to different domains"),
        (other_source, "have pictures from different sources"),
        (other_size, "have pictures of different sizes"),
        (other_threshold, "have different failure rate thresholds"),
    ],
)
def test_findings_that_do_not_go_together_are_refused_in_one_sentence(campaign, said):
    first = suspects()[0]
    second = make_finding(make_trial(make_run(campaign=campaign()), ("cone",), verdicts="FFFPF"))

    page = browser_of(Role.RESEARCHER).get(
        f"/follow-ups/new/?finding={first.pk}&finding={second.pk}", follow=True
    )

    assert f"The chosen findings {said}" in page.content.decode()


def test_findings_of_two_searches_are_refused_where_errors_are_held_for_one():
    first, second = suspects()[0], suspects()[0]

    page = browser_of(Role.RESEARCHER).post("/follow-ups/new/", FORM | {"finding": [first.pk, second.pk]})

    assert page.status_code == 422
    assert "These findings are of several campaigns." in page.content.decode()


def test_a_campaign_that_is_no_search_has_nothing_to_follow_up():
    campaign = make_confirmation()

    page = browser_of(Role.RESEARCHER).get(f"/follow-ups/new/?campaign={campaign.pk}", follow=True)

    assert "There is nothing to follow up." in page.content.decode()


def test_a_run_without_suspects_says_so():
    run = make_finished_run()
    run.findings.all().delete()

    page = browser_of(Role.RESEARCHER).get(f"/follow-ups/new/?run={run.pk}").content.decode()

    assert "None is left." in page


def test_a_later_confirmation_shows_the_error_rate_of_the_first_and_keeps_it():
    first, second = suspects()
    client = browser_of(Role.RESEARCHER)
    client.post("/follow-ups/new/", FORM | {"finding": first.pk, "fdr_level": "0.05"})

    page = client.get(f"/follow-ups/new/?finding={second.pk}&fdr_level=0.5").content.decode()
    client.post("/follow-ups/new/", FORM | {"finding": second.pk, "fdr_level": "0.5"})

    shown = next(part for part in page.split("<input") if 'name="fdr_level"' in part)
    assert 'value="0.05"' in shown
    assert "disabled" in shown
    assert "As in the first confirmation of this search" in page
    later = Campaign.objects.get(items__finding=second)
    assert (later.config["fdr_level"], later.config["later_index"]) == (0.05, 1)
