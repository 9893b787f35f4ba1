"""A search may wish that what it finds is confirmed: once, with its share, or declined with a line."""

import pytest

from searches.enums import RunState
from searches.models import Campaign, Finding, SearchRun
from searches.services.follow_up_wanted import affordable, start_missing, start_wanted
from searches.services.follow_up_wishes import confirm_wish
from searches.services.follow_ups import create_follow_up
from searches.services.reaper import reap
from searches.services.runs import cancel_run, create_campaign
from searches.services.wanted_confirmations import read_wanted, with_confirmation
from tests.factories import make_campaign, make_finding, make_run, make_trial
from tests.searches.engine import advance, scripted
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.planner import affordable_suspects

SETS = (
    ("cone", "near"), ("cone", "weather_foggy"), ("cyclist", "near"), ("cone", "far"), ("cyclist", "far"),
    ("cyclist", "weather_foggy"),
)  # fmt: skip
pytestmark = pytest.mark.django_db


def search(confirm="extra", *, suts=None, budget=60, **config):
    return create_campaign(
        config=RevelioConfig(algorithm="sits", inference_budget=budget, **config),
        suts=suts or [scripted()],
        domain_slug="driving",
        name="Test search",
        run_seed=11,
        by=None,
        confirm=read_wanted(confirm),
    )


def test_what_a_search_found_is_confirmed_once_it_has_ended():
    campaign = search()
    run = campaign.runs.get()

    advance(run)

    made = campaign.follow_ups.get()
    n_found = Finding.objects.filter(run=run).count()
    assert n_found > 0
    assert (made.kind, made.items.count(), made.config["family_size"]) == ("confirm", n_found, n_found)
    assert made.runs.get().state == RunState.QUEUED
    assert run.events.filter(text=f"The confirmation of what was found is follow-up {made.pk}.").exists()
    advance(made.runs.get())
    assert not Finding.objects.filter(run=run, state="suspected").exists()


def test_a_share_of_the_budget_is_kept_for_the_confirmation():
    campaign = search("share=0.25", budget=80)

    advance(campaign.runs.get())

    made = campaign.follow_ups.get()
    assert (campaign.config["inference_budget"], made.config["inference_budget"]) == (60, 20)
    follow_run = made.runs.get()
    advance(follow_run)
    assert follow_run.n_inferences <= 20


def test_the_family_is_cut_to_what_the_share_of_the_budget_settles():
    campaign = search("share=0.9", budget=200)  # 20 to search with, 180 to confirm with
    run = campaign.runs.get()
    sure, unsure, surest = [
        make_finding(make_trial(run, concepts, verdicts=verdicts, expected_action="emergency_stop"))
        for concepts, verdicts in ((SETS[0], "FFFFP"), (SETS[1], "FFPPF"), (SETS[2], "FFFFF"))
    ]
    config = ConfirmConfig(inference_budget=180)
    most = affordable_suspects(180, config)
    assert [one.pk for one in affordable([sure, unsure, surest], {"inference_budget": 80})] == [
        one.pk for one in (surest, sure, unsure)[: affordable_suspects(80, config)]
    ]

    others = [
        make_finding(make_trial(run, concepts, verdicts="FFFPP", expected_action="emergency_stop"))
        for concepts in SETS[3:]
    ]
    SearchRun.objects.filter(pk=run.pk).update(state="succeeded")
    made = start_wanted(campaign)

    assert 2 < most < 3 + len(others)
    assert (made.items.count(), made.config["family_size"]) == (most, most)
    assert [one.finding for one in made.items.order_by("order")][:2] == [surest, sure]
    line = run.events.get(text__startswith="The confirmation of what was found").text
    assert f"It takes up {most} of {3 + len(others)}, about as many as its budget settles" in line
    assert (
        Finding.objects.filter(run=run, follow_up_items=None, state="suspected").count()
        == 3 + len(others) - most
    )


def test_a_family_without_a_budget_is_not_cut():
    run = search().runs.get()
    found = [
        make_finding(make_trial(run, concepts, verdicts="FFFPP", expected_action="emergency_stop"))
        for concepts in SETS
    ]

    assert affordable(found, {}) == found
    assert affordable(found, {"protocol": "paper", "inference_budget": 50}) == found
    assert affordable([], {"inference_budget": 50}) == []


def test_a_confirmation_by_hand_takes_the_place_of_the_wished_one_and_the_log_says_so():
    campaign = search(suts=[scripted("one"), scripted("two")])
    first, second = campaign.runs.order_by("pk")
    advance(first)
    by_hand = create_follow_up(confirm_wish(campaign=campaign), by=None)

    cancel_run(second, by=None)
    assert start_wanted(campaign) is None

    text = f"Follow-up {by_hand.pk} was started before the search had ended, so none was started by itself."
    assert second.events.filter(text=text).count() == 1
    assert campaign.follow_ups.get() == by_hand


def test_a_published_retest_does_not_take_the_place_of_the_wished_confirmation():
    campaign = search(suts=[scripted("one"), scripted("two")])
    first, second = campaign.runs.order_by("pk")
    advance(first)
    Finding.objects.update(is_curtailed=False)
    wish = confirm_wish(campaign=campaign, values={"protocol": "paper", "paper_samples": 2})
    create_follow_up(wish, by=None)

    cancel_run(second, by=None)

    assert sorted(one.config["protocol"] for one in campaign.follow_ups.all()) == ["paper", "sequential"]


def test_searches_all_of_whose_runs_failed_take_no_turn_from_others():
    for number in range(21):
        make_run(
            campaign=make_campaign(
                name=f"Failed {number}", plan={"confirm": read_wanted("extra").model_dump(mode="json")}
            ),
            state="failed",
        )
    campaign = search()
    run = campaign.runs.get()
    advance(run)
    campaign.follow_ups.get().delete()

    [made] = start_missing()

    assert made.follows == campaign


def test_the_confirmation_waits_for_the_last_system():
    campaign = search(suts=[scripted("one"), scripted("two")])
    first, second = campaign.runs.order_by("pk")

    advance(first)
    assert not campaign.follow_ups.exists()
    cancel_run(second, by=None)

    made = campaign.follow_ups.get()
    assert made.runs.get().sut.slug == "one"  # the other one found nothing


def test_a_search_that_finds_nothing_says_that_nothing_is_confirmed():
    campaign = search(budget=3)
    run = campaign.runs.get()

    advance(run)

    campaign.refresh_from_db()
    assert not campaign.follow_ups.exists()
    assert campaign.plan["confirm"]["outcome"] == "Nothing was found that could be confirmed."
    assert run.events.filter(text="Nothing was found that could be confirmed.").exists()


def test_a_confirmation_that_cannot_be_started_leaves_the_search_finished_and_says_why():
    campaign = search()
    plan = campaign.plan["confirm"] | {"settings": {"spend_cap_usd": 0.000001}}
    Campaign.objects.filter(pk=campaign.pk).update(plan={"confirm": plan})
    run = campaign.runs.get()

    advance(run)

    assert run.state == RunState.SUCCEEDED
    assert not campaign.follow_ups.exists()
    assert run.events.filter(level="warning", text__startswith="No confirmation was started").count() == 1
    assert start_missing() == []


def test_a_missing_confirmation_is_started_by_the_reaper_and_never_twice():
    campaign = search()
    run = campaign.runs.get()
    advance(run)
    campaign.follow_ups.get().delete()

    reap()
    reap()
    assert start_wanted(campaign) is None

    assert campaign.follow_ups.count() == 1


def test_nothing_is_confirmed_while_a_run_is_paused_or_when_all_failed():
    campaign = search()
    run = campaign.runs.get()
    for state in (RunState.PAUSED, RunState.FAILED):
        SearchRun.objects.filter(pk=run.pk).update(state=state)
        assert start_wanted(campaign) is None
    assert Campaign.objects.count() == 1


@pytest.mark.parametrize("text", ["later", "extra=0.3", "share=0", "share=1", "share=much"])
def test_a_wish_that_cannot_be_read_is_refused(text):
    with pytest.raises(ConfigError) as refused:
        read_wanted(text)

    assert refused.value.field == "confirm"


def test_a_budget_that_is_too_small_to_share_is_refused():
    with pytest.raises(ConfigError, match="3 inferences cannot be shared"):
        with_confirmation(RevelioConfig(inference_budget=3), read_wanted("share=0.01"))
