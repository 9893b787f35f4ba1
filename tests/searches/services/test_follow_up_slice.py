"""Follow-ups ask fresh scenes of suspects, pair their arms, and end by themselves, by a limit, or early."""

import pytest

from searches.enums import RunState
from searches.services.follow_up_live import live_follow_up
from searches.services.follow_up_wishes import confirm_wish
from searches.services.follow_ups import create_follow_up
from tests.doubles import FlatSceneSource
from tests.factories import make_trial
from tests.searches.engine import advance, as_new_process, scripted
from tests.searches.follow_up_engine import follow, follow_up_digest, suspects
from vlmlab.core.verdicts.queries import fresh_scene_seed

pytestmark = pytest.mark.django_db


def test_a_follow_up_asks_fresh_scenes_of_every_item_and_ends_by_itself():
    campaign = follow(suspects())
    run = campaign.runs.get()

    advance(run)

    assert run.state == RunState.SUCCEEDED
    assert run.ending == "3 sets asked in 18 inferences."
    assert (run.n_inferences, run.n_trials, run.samples.count()) == (18, 3, 18)
    items = list(run.items.all())
    assert [item.n for item in items] == [6, 6, 6]
    assert [item.state for item in items] == ["measured"] * 3
    assert [item.fails for item in items] == [
        run.samples.filter(trial__block=item.block, verdict="fail").count() for item in items
    ]
    assert items[0].fails >= 4
    assert items[2].fails <= 2
    assert {(one.scene_seed, one.trial.block) for one in run.samples.select_related("trial")} == {
        (fresh_scene_seed(5, item.block, number), item.block) for item in items for number in range(6)
    }


def test_arms_of_an_item_are_asked_on_the_same_scenes_and_in_the_same_order_of_options():
    campaign = follow(suspects()[:1], variant_arms=[("cone",)])
    run = campaign.runs.get()

    advance(run)

    sets = {trial.key: trial for trial in run.trials.all()}
    assert set(sets) == {"cone+near", "cone"}
    both = [dict(one.samples.values_list("number", "scene_seed")) for one in sets.values()]
    assert both[0] == both[1]
    assert len({str(one.actions) for one in run.samples.filter(number=0)}) == 1


def test_all_systems_of_a_follow_up_see_the_same_scenes():
    campaign = follow(suspects()[:1], suts=[scripted("one"), scripted("two")])

    for run in campaign.runs.all():
        advance(run)

    shown = [list(run.samples.values_list("image_sha256", flat=True)) for run in campaign.runs.all()]
    assert shown[0] == shown[1]


def test_a_follow_up_that_is_started_again_sees_other_scenes():
    found = suspects()[:1]
    runs = [follow(found, wish={"run_seed": None}).runs.get() for _ in range(2)]

    for run in runs:
        advance(run)

    shown = [set(run.samples.values_list("scene_seed", flat=True)) for run in runs]
    assert not shown[0] & shown[1]
    assert not shown[0] & set(found[0].trial.samples.values_list("scene_seed", flat=True))


def test_statements_are_asked_kept_and_told_apart_from_the_letter():
    sut = scripted(
        default="1. T\n2. F\nB",
        rules=[{"image_contains": ["|cone|"], "answer_option": "Continue: keep the speed and the lane."}],
    )
    campaign = follow(suspects(sut)[:1], "probe", scenes=3)
    run = campaign.runs.get()

    advance(run)

    assert set(run.trials.values_list("variant", flat=True)) == {"", "statements"}
    probed = run.samples.filter(trial__variant="statements")
    assert probed.count() == 3
    one = probed.first()
    assert one.prompt.startswith("Say of each statement")
    assert {each["concept"] for each in one.statements} == {"cone", "near"}
    plain = run.samples.get(trial__variant="", number=one.number)
    assert plain.statements == []
    assert (plain.scene_seed, plain.actions, plain.image_sha256) == (
        one.scene_seed, one.actions, one.image_sha256,
    )  # fmt: skip


def test_a_budget_ends_a_run_with_what_it_has():
    run = follow(suspects(), inference_budget=10, slots=4).runs.get()

    advance(run)

    assert (run.state, run.n_inferences) == (RunState.SUCCEEDED, 8)
    assert run.ending.startswith("the budget of 10 inferences leaves no room for the next questions")
    assert set(run.items.values_list("state", "reason")) == {("undetermined", "budget")}


def test_a_run_that_is_halted_and_resumed_in_a_new_process_ends_like_one_that_nobody_disturbed():
    sut = scripted(call_error_rate=0.15)
    found = suspects(sut)
    whole, halted = (follow(found, variant_arms=[("cone",)], slots=4).runs.get() for _ in range(2))
    advance(whole)

    while not halted.is_final:
        as_new_process()
        advance(halted, slice_seconds=0)

    assert halted.n_call_errors > 0
    assert follow_up_digest(halted) == follow_up_digest(whole)


def test_ending_early_leaves_open_items_undetermined_and_resuming_opens_them_again():
    from searches.services.runs import cancel_run, pause_run, resume_run

    run = follow(suspects(), slots=4).runs.get()
    advance(run, slice_seconds=0)
    pause_run(run, by=None)
    cancel_run(run, by=None)
    assert set(run.items.values_list("state", "reason")) == {("undetermined", "ended")}

    run.refresh_from_db()
    resume_run(run, by=None)
    run.refresh_from_db()
    advance(run)

    assert set(run.items.values_list("state", "reason")) == {("measured", "complete")}


def test_a_photograph_that_the_search_was_shown_is_no_fresh_scene():
    found = suspects()[:1]
    run = follow(found, backend="photos", scenes=2).runs.get()
    live = live_follow_up(run)
    query, other = live.search.ask()[0], live.search.ask()[1]
    source = FlatSceneSource()
    shown = live.prepare(query, source=source, run_seed=run.run_seed).scene
    again = live.prepare(other, source=source, run_seed=run.run_seed).scene
    found[0].trial.samples.filter(number=0).update(image_sha256=shown.image_sha256)
    live = live_follow_up(run)

    first, second = (live.prepare(one, source=source, run_seed=run.run_seed) for one in (query, other))

    assert first.scene is None
    assert first.generation_error.startswith("The source gave a picture that this set was judged on")
    assert second.scene.image_sha256 == again.image_sha256


def test_a_photograph_of_an_earlier_confirmation_or_ablation_is_no_fresh_scene_of_a_later_one():
    found = suspects()[:1]
    settings = {"values": {"backend": "photos", "max_samples": 30}}
    earlier = [
        create_follow_up(confirm_wish(found, **settings), by=None),
        follow(found, "ablate", backend="photos"),
    ]
    run = create_follow_up(confirm_wish(found, **settings), by=None).runs.get()
    source, live = FlatSceneSource(), live_follow_up(run)
    first, second, third = live.search.ask()[:3]
    pictures = [
        live.prepare(one, source=source, run_seed=run.run_seed).scene.image_sha256
        for one in (first, second, third)
    ]
    key = tuple(found[0].concepts)
    for campaign, shown in zip(earlier, pictures, strict=False):
        trial = make_trial(campaign.runs.get(), key, verdicts="P", block="x")
        trial.samples.update(image_sha256=shown)
    later = create_follow_up(confirm_wish(found, **settings), by=None).runs.get()
    make_trial(later, key, verdicts="P", block="x").samples.update(image_sha256=pictures[2])
    live = live_follow_up(run)

    again = [live.prepare(one, source=source, run_seed=run.run_seed) for one in (first, second, third)]

    assert [one.scene is None for one in again] == [True, True, False]
