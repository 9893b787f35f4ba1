"""A modality campaign may wish that its failing cases are confirmed; that starts with its last run's end."""

import pytest

from searches.enums import FINAL_STATES, RunState
from searches.models import Campaign
from searches.services.case_wanted import start_missing_cases, start_wanted_cases
from searches.services.case_wishes import confirm_cases_wish
from searches.services.follow_ups import create_follow_up
from searches.services.modality_campaigns import create_modality_campaign, plan_of
from searches.services.modality_steering import cancel_campaign, clone_values
from searches.services.reaper import reap
from searches.services.seed_plans import SeedPlan
from tests.searches.case_engine import NOISE, cases_of
from tests.searches.engine import advance
from tests.searches.modality_engine import (
    advance_all,
    breaks_now_and_then,
    make_seed_dataset,
    never_breaks,
    small_config,
)

pytestmark = pytest.mark.django_db


def start(*suts, n=2, most=None):
    return create_modality_campaign(
        small_config(**NOISE),
        SeedPlan(seed=5, n_seed_images=n, confirm_most=most),
        suts=suts,
        dataset=make_seed_dataset(n=n),
        name="Wished",
        by=None,
    )


def confirmations() -> list[Campaign]:
    return list(Campaign.objects.filter(kind="confirm"))


def test_it_starts_once_with_the_last_run():
    campaign = start(breaks_now_and_then(share=1.0), most=10)
    first, second = campaign.runs.order_by("pk")

    advance(first)
    before = confirmations()
    advance(second)

    [made] = confirmations()
    assert before == []
    assert (made.follows, made.method) == (campaign, "case_follow_up")
    assert made.config["family_size"] == made.items.count() == len(cases_of(campaign)) == 2
    assert start_wanted_cases(campaign) is None
    assert start_missing_cases() == []


def test_it_takes_as_many_cases_as_were_wished():
    campaign = start(breaks_now_and_then(share=1.0), n=3, most=2)

    advance_all(campaign)

    [made] = confirmations()
    assert made.config["family_size"] == made.items.count() == 2


def test_without_the_wish_nothing_follows():
    campaign = start(breaks_now_and_then(share=1.0))

    advance_all(campaign)

    assert confirmations() == []
    assert "confirm_most" not in campaign.plan


def test_a_campaign_that_found_nothing_says_so_once():
    campaign = start(never_breaks(), n=1, most=5)

    advance_all(campaign)

    campaign.refresh_from_db()
    assert campaign.plan["confirm_outcome"].startswith("No confirmation was started: No case")
    assert [event.text for event in campaign.runs.get().events.all()][-1] == campaign.plan["confirm_outcome"]
    assert start_missing_cases() == []
    assert plan_of(campaign).confirm_most == 5
    assert "confirm_outcome" not in clone_values(campaign)


def test_a_campaign_that_a_person_ended_is_found_by_the_reaper():
    campaign = start(breaks_now_and_then(share=1.0), most=10)
    advance(campaign.runs.order_by("pk")[0])
    cancel_campaign(campaign, by=None)
    assert set(campaign.runs.values_list("state", flat=True)) <= FINAL_STATES

    reap()

    [made] = confirmations()
    assert made.items.count() == 1
    assert campaign.runs.filter(state=RunState.CANCELLED).count() == 1


def test_a_case_that_was_confirmed_by_hand_before_the_end_does_not_take_the_place_of_the_family():
    campaign = start(breaks_now_and_then(share=1.0), n=3, most=10)
    first, *others = campaign.runs.order_by("pk")
    advance(first)
    by_hand = create_follow_up(confirm_cases_wish(cases_of(campaign)), by=None)
    for run in others:
        advance(run)

    family = next(one for one in confirmations() if one != by_hand)

    assert (by_hand.config["later_index"], family.config["later_index"]) == (1, None)
    assert family.config["family_size"] == family.items.count() == 2
    assert start_missing_cases() == []
