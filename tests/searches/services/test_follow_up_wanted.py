"""A search may wish that what it finds is confirmed: once, with its share, or declined with a line."""

import pytest

from searches.enums import RunState
from searches.models import Campaign, Finding, SearchRun
from searches.services.follow_up_wanted import start_missing, start_wanted
from searches.services.reaper import reap
from searches.services.runs import cancel_run, create_campaign
from searches.services.wanted_confirmations import read_wanted, with_confirmation
from tests.searches.engine import advance, scripted
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.config import RevelioConfig

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
