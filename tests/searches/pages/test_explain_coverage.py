"""Coverage of pairs and triples, what more calls would buy, and the follow-up that asks it."""

import pytest

from searches.models import Campaign, Finding
from tests.searches.explained import CONE, EARLY, FOG, ask_fresh, follow_up, searched
from vlmlab.core.revelio.coverage import PartState
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db


def shown(run, query=""):
    return browser_of(Role.RESEARCHER).get(f"/explain/run/{run.pk}/coverage/{query}").context["page"]


def counts(size):
    return {one.state: one.count for one in size.states if one.count}


def test_pairs_and_triples_are_counted_out_of_the_valid_sets_of_their_size():
    pairs, triples = shown(searched()).sizes

    assert (pairs.total, triples.total) == (344, 3024)
    assert (pairs.shown, triples.shown) == (2, 0)
    assert sum(one.count for one in pairs.states) == 344


def test_a_pair_is_failing_safe_or_unknown():
    run = searched()
    domain = load_domain("driving")

    pairs = shown(run).sizes[0]

    around = sum(
        (int(part) & domain.mask((CONE, FOG))) == domain.mask((CONE, FOG)) for part in pairs.found.parts
    )
    assert around == 1
    assert counts(pairs) == {PartState.SUSPECTED: 1, PartState.SAFE: 1, PartState.UNKNOWN: 342}
    assert pairs.least_bound == pytest.approx(1 - 0.05 ** (1 / 5))


def test_a_confirmed_mode_and_a_refuted_one_change_the_state():
    run = searched()
    Finding.objects.filter(run=run).update(state="confirmed")
    assert counts(shown(run).sizes[0])[PartState.CONFIRMED] == 1

    Finding.objects.filter(run=run).update(state="refuted")

    assert counts(shown(run).sizes[0]) == {PartState.MIXED: 1, PartState.SAFE: 1, PartState.UNKNOWN: 342}


def test_sets_that_were_stopped_early_show_what_they_show():
    assert shown(searched(EARLY)).sizes[0].shown == 2


def test_parts_that_stand_only_in_larger_sets_can_be_counted_too():
    run = searched()

    assert shown(run, "?basis=together").sizes[0].total > 344


def test_the_universe_is_that_of_the_search():
    run = searched()
    run.campaign.config |= {"excluded_concepts": [CONE]}
    run.campaign.save()

    assert shown(run).sizes[0].total < 344


def test_a_plan_spends_its_calls_on_unknown_parts():
    page = shown(searched(), "?calls=52&samples=5&largest=3")

    assert (len(page.planned), page.plan.calls) == (10, 50)
    assert page.gains[0].before == 2
    assert page.gains[0].after == 2 + sum(line.new_pairs for line in page.planned)
    known = page.gains[1].before  # none was shown, but some lie around the failure mode
    assert page.gains[1].after == known + sum(line.new_triples for line in page.planned)
    assert page.plan.clean_chance == pytest.approx(1.5 / 4)  # one of three sets had no wrong answer


def test_numbers_that_make_no_plan_are_named_at_the_field():
    run = searched()

    answer = browser_of(Role.RESEARCHER).get(f"/explain/run/{run.pk}/coverage/?calls=0")

    assert answer.status_code == 422
    assert "More calls: Ensure this value" in answer.content.decode()


def test_only_researchers_ask_the_sets_of_a_plan():
    run = searched()

    found = statuses(f"/explain/run/{run.pk}/coverage/fill/", method="post")

    assert (found["reviewer"], found["researcher"]) == (403, 302)


def test_a_button_asks_every_set_of_the_plan_on_fresh_scenes():
    run = searched()
    planned = [line.key for line in shown(run, "?calls=20&samples=4&largest=2").planned]

    browser_of(Role.RESEARCHER).post(
        f"/explain/run/{run.pk}/coverage/fill/", {"calls": 20, "samples": 4, "largest": 2}
    )

    campaign = Campaign.objects.get(follows=run.campaign)
    assert (campaign.kind, campaign.config["scenes"], campaign.runs.get().sut) == ("transfer", 4, run.sut)
    assert [tuple(item.concepts) for item in campaign.items.all()] == planned
    assert len(planned) == 5


def test_a_plan_that_would_show_nothing_new_starts_nothing():
    run = searched()
    client = browser_of(Role.RESEARCHER)

    answer = client.post(
        f"/explain/run/{run.pk}/coverage/fill/", {"calls": 20, "samples": 5, "largest": 1}, follow=True
    )

    assert "No set would show a new pair" in answer.content.decode()
    assert not Campaign.objects.filter(follows=run.campaign).exists()


def test_a_pair_without_a_wrong_answer_is_safe_only_up_to_a_bound():
    answer = browser_of(Role.REVIEWER).get(f"/explain/run/{searched().pk}/coverage/")

    named = {cells[0]: cells for cells in answer.context["charts"][0].rows}
    assert named["Child + Fog"][-1] == "45 %"


def test_only_the_answers_that_are_chosen_count():
    run = searched()
    ask_fresh(follow_up(run), (CONE, "near"), verdicts="PPPPP")

    assert [shown(run, f"?source={source}").sizes[0].shown for source in ("all", "search", "fresh")] == [
        3,
        2,
        1,
    ]
