"""Pairs of an explanation, and the four-cell tests that are started from them."""

import pytest

from searches.models import Campaign, FollowUpItem
from tests.factories import make_trial
from tests.searches.explained import CONE, FOG, follow_up, searched
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db


def pairs(run, query=""):
    return browser_of(Role.RESEARCHER).get(f"/explain/run/{run.pk}/pairs/{query}").context["page"]


def test_a_pair_stands_beside_two_independent_causes_and_no_effect_at_all():
    run = searched()

    line = pairs(run, "?least_sets=1").lines[0]

    # F(cone) = .6, F(fog) = .5, F = 1.2 / 3 = .4 over the three sets.
    assert line.effect.pair == (CONE, FOG)
    assert line.effect.base == pytest.approx(0.6 + 0.5 - 0.3)
    assert line.effect.lift == pytest.approx(1.0 - 0.8)
    assert line.effect.no_effect == pytest.approx(0.4**2 - 0.4)
    assert line.effect.interaction is None  # no set has neither


def test_an_interaction_needs_a_set_in_every_cell():
    run = searched()
    make_trial(run, ("town_town01",), verdicts="PPPPP", expected_action="continue")

    line = pairs(run, "?least_sets=1").lines[0]

    assert line.effect.interaction.value > 0


def test_pairs_in_fewer_sets_are_counted_only():
    shown = pairs(searched())

    assert (shown.lines, shown.too_few) == ([], 2)


def test_a_designed_test_stands_beside_its_pair():
    run = searched()
    fresh = follow_up(run, "interact")
    found = {"value": 0.25, "low": 0.1, "high": 0.4}
    FollowUpItem.objects.create(
        campaign=fresh.campaign,
        run=fresh,
        order=0,
        block="b",
        key=f"{CONE}+{FOG}+x",
        concepts=[CONE, FOG, "x"],
        spec={"settings": {"pair": [FOG, CONE]}},
        state="synergy",
        n=60,
        numbers={"interaction": {"additive": found, "n": 60, "level": 0.95, "depends_on_scale": False}},
    )

    (test,) = pairs(run, "?least_sets=1").lines[0].tests

    assert test.title == "More than they add up to"
    assert test.numbers == "0.25 (95 %: 0.10 to 0.40), 60 scenes a cell"
    assert [one.pair for one in pairs(run).tests] == [(CONE, FOG)]  # too few sets for a line of its own


def test_only_researchers_start_a_four_cell_test():
    run = searched()

    found = statuses(f"/explain/run/{run.pk}/pairs/test/", method="post")

    assert (found["reviewer"], found["researcher"]) == (403, 302)


def test_a_button_starts_the_four_cells_of_its_pair():
    run = searched()

    answer = browser_of(Role.RESEARCHER).post(f"/explain/run/{run.pk}/pairs/test/", {"c": [CONE, FOG]})

    campaign = Campaign.objects.get(kind="interact")
    assert answer.url == campaign.get_absolute_url()
    assert campaign.follows == run.campaign
    assert len(campaign.items.get().spec["arms"]) == 3
    assert [one.pair for one in pairs(run).tests] == [(CONE, FOG)]


@pytest.mark.parametrize("chosen", [[], [CONE], [CONE, CONE], [CONE, "nothing"]])
def test_what_is_no_pair_starts_nothing(chosen):
    run = searched()
    client = browser_of(Role.RESEARCHER)

    answer = client.post(f"/explain/run/{run.pk}/pairs/test/", {"c": chosen}, follow=True)

    assert "Choose two different concepts" in answer.content.decode()
    assert not Campaign.objects.filter(kind="interact").exists()
