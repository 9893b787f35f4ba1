"""Ablations say what findings need, make suspects of smaller sets, and confirmed ones explain the larger."""

import pytest

from searches.models import Finding
from searches.services.follow_up_settling import settle
from searches.services.follow_up_wishes import ablate_wish, confirm_wish, interact_wish, probe_wish
from searches.services.follow_ups import create_follow_up
from tests.factories import make_finding, make_run, make_trial
from tests.searches.engine import advance, scripted
from tests.searches.follow_up_engine import suspects
from vlmlab.core.errors import VlmLabError

pytestmark = pytest.mark.django_db


def ablated(**values):
    found = suspects(sets=[("cone", "near")])
    campaign = create_follow_up(
        ablate_wish(found, values={"pairs": 12, "reduce_scenes": 5} | values), by=None
    )
    run = campaign.runs.get()
    advance(run)
    found[0].refresh_from_db()
    return found[0], campaign, run


def test_a_set_whose_failures_need_one_concept_is_reducible_to_it():
    finding, campaign, run = ablated()

    assert (run.state, campaign.items.get().state) == ("succeeded", "reducible")
    assert finding.minimality == "reducible"
    assert finding.necessity["near"]["verdict"] in ("irrelevant", "undetermined")
    new = Finding.objects.get(run=run)
    assert (new.key, new.state, new.expected_action) == ("cone", "suspected", "emergency_stop")
    assert new.trial.block == campaign.items.get().block
    assert (new.fails, new.n) == (new.trial.fails, new.trial.answers)
    assert finding.covered_by is None  # only what is confirmed explains anything


def test_settling_an_ablation_again_adds_nothing():
    _, campaign, run = ablated()
    before = list(Finding.objects.order_by("pk").values())

    settle(campaign)

    assert list(Finding.objects.order_by("pk").values()) == before
    assert run.events.filter(text__startswith="Failure mode").count() == 1


def test_a_smaller_set_explains_the_larger_one_while_it_is_confirmed():
    finding, _, run = ablated()
    new = Finding.objects.get(run=run)
    confirmed = create_follow_up(confirm_wish([new], values={"max_samples": 40}), by=None)
    assert confirmed.follows == finding.run.campaign

    advance(confirmed.runs.get())
    finding.refresh_from_db()
    assert finding.covered_by == new

    Finding.objects.filter(pk=new.pk).update(state="refuted")
    again = create_follow_up(confirm_wish([finding], values={"max_samples": 40}), by=None)
    assert again.config["later_index"] == 1
    advance(again.runs.get())
    finding.refresh_from_db()
    assert finding.covered_by is None


def test_sets_of_which_nothing_can_be_left_out_are_refused():
    run = make_run(scripted(), state="succeeded")
    single = make_finding(make_trial(run, ("cone",)))

    with pytest.raises(VlmLabError, match="Nothing can be left out"):
        ablate_wish([single])


def test_a_probe_asks_the_same_scenes_with_and_without_statements():
    found = suspects()[:1]
    run = create_follow_up(probe_wish(found, values={"scenes": 3}), by=None).runs.get()

    advance(run)

    assert run.samples.count() == 6
    assert run.items.get().state == "measured"


def test_four_cells_stand_on_a_base_that_asks_the_same_of_all():
    found = suspects()
    wish = interact_wish(found[0].run, [("near", "weather_foggy")], base=("cone",), values={"scenes": 5})
    run = create_follow_up(wish, by=None).runs.get()

    advance(run)

    assert set(run.trials.values_list("key", flat=True)) == {
        "cone+near+weather_foggy", "cone+near", "cone+weather_foggy", "cone",
    }  # fmt: skip
    assert run.samples.count() == 20
    with pytest.raises(VlmLabError, match="The base holds one of"):
        interact_wish(found[0].run, [("cone", "near")], base=("cone",))
