"""Experiments as rows: campaigns for every arm and seed, limits, re-tests of the top sets."""

import pytest

from searches import launch
from searches.enums import RunState
from searches.models import AuditEntry, Campaign, Experiment, Finding, FollowUpItem, SearchRun, Trial
from searches.services import experiment_results
from searches.services.experiment_pages import experiment_page
from searches.services.experiment_plans import plan_experiment
from searches.services.experiment_retests import retest_page, retest_wishes
from searches.services.experiments import create_experiment, default_name, spec_of
from searches.services.follow_ups import create_follow_up
from tests.factories import make_sut, make_user
from tests.searches.experiment_rows import answer_items, fill_run, make_experiment, make_wish
from vlmlab.core.errors import VlmLabError

pytestmark = pytest.mark.django_db


def test_an_experiment_is_a_campaign_for_each_seed_and_arm_with_a_run_for_each_system():
    suts = [make_sut(), make_sut()]

    experiment = create_experiment(make_wish(suts, seeds=(7, 8)), by=make_user())

    campaigns = Campaign.objects.filter(experiment=experiment).order_by("pk")
    assert [one.arm for one in campaigns] == [
        {"name": name, "algorithm": name, "value": "", "seed": seed}
        for seed in (7, 8)
        for name in ("random", "beam")
    ]
    assert [one.runs.count() for one in campaigns] == [2, 2, 2, 2]
    assert set(SearchRun.objects.values_list("run_seed", "state")) == {(7, "queued"), (8, "queued")}
    assert spec_of(experiment) == make_wish(suts, seeds=(7, 8)).spec
    assert AuditEntry.objects.filter(verb="started", object_type="experiment").count() == 1


def test_too_many_runs_are_refused_and_nothing_is_stored():
    with pytest.raises(VlmLabError, match="at most 300"):
        create_experiment(
            make_wish(algorithms=("random", "beam", "gpts", "sits", "beam-literal", "sits-minimal", ),
                      seeds=tuple(range(50)), suts=[make_sut(), make_sut()]),
            by=None,
        )  # fmt: skip

    assert Experiment.objects.count() == SearchRun.objects.count() == 0


def test_a_system_that_is_switched_off_takes_the_whole_experiment_back():
    with pytest.raises(VlmLabError, match="switched off"):
        create_experiment(make_wish([make_sut(), make_sut(is_enabled=False)]), by=None)

    assert Experiment.objects.count() == Campaign.objects.count() == 0


def test_a_second_start_by_the_same_person_finds_the_first_but_not_another_wish():
    person, suts = make_user(), [make_sut()]
    first = launch.start_experiment(make_wish(suts), by=person)

    again = launch.start_experiment(make_wish(suts), by=person)
    other = launch.start_experiment(make_wish(suts, seeds=(9,)), by=person)

    assert (again.pk, other.pk == first.pk) == (first.pk, False)


def test_names_say_what_is_varied():
    assert default_name(make_wish().spec) == "2 algorithms, Driving"
    assert default_name(make_wish(algorithms=("beam",), axis="beam_width").spec) == "Beam width k, Driving"


def test_a_plan_sums_over_systems_arms_and_seeds():
    suts = [make_sut(params={"price_usd": 0.01}), make_sut()]
    wish = make_wish(suts, seeds=(1, 2))

    plan = plan_experiment(wish.spec, suts)

    assert (plan.spec.n_runs, plan.spec.n_inferences) == (8, 280)
    assert plan.most_usd == pytest.approx(4 * 35 * 0.01)
    assert plan.lines[0].seconds == 4 * plan.lines[0].first.seconds


def test_results_are_read_again_only_for_runs_that_changed(django_assert_num_queries):
    experiment = make_experiment(seeds=(1, 2))
    experiment_results.experiment_results(experiment)
    with django_assert_num_queries(2):
        experiment_results.experiment_results(experiment)
    run = SearchRun.objects.order_by("pk").last()
    Trial.objects.filter(run=run).delete()
    fill_run(run, (5, 5, 5, 5))
    SearchRun.objects.filter(pk=run.pk).update(step=2)

    found = {one.run.pk: one.facts for one in experiment_results.experiment_results(experiment)}

    assert found[run.pk].metrics.pfm.numerator == 4


def test_a_run_whose_settings_are_not_known_any_more_is_left_out_and_counted():
    experiment = make_experiment()
    broken = Campaign.objects.order_by("pk").first()
    Campaign.objects.filter(pk=broken.pk).update(config=broken.config | {"magic": 1})

    page = experiment_page(experiment)

    assert page.unreadable == 1
    assert page.arms[0].summary.n_runs == 2


def test_a_retest_takes_the_sets_with_the_highest_rates_failure_modes_or_not():
    """Of seven sets the ten best are all; fails 5, 4, 3, 1, then zeros."""
    make_experiment(algorithms=("beam",), seeds=(1,), fails=lambda run: (0, 4, 5, 1, 3))

    (wish,) = retest_wishes(Experiment.objects.get())

    ((_, items),) = wish.items
    assert [item.key for item in items] == [
        ("cyclist",), ("debris_far",), ("chain_barrier_far",), ("obstruction_near",), ("cone",),
    ]  # fmt: skip
    assert [item.finding is not None for item in items] == [True, True, True, False, False]
    assert (wish.kind, wish.config.protocol, wish.config.paper_samples) == ("confirm", "paper", 20)


def test_a_retest_of_a_search_without_rates_draws_among_its_failure_modes():
    make_experiment(algorithms=("sits",), seeds=(1,), fails=lambda run: (3, 0, 3, 0, 3))
    Trial.objects.update(is_curtailed=True)

    (wish,) = retest_wishes(Experiment.objects.get())

    assert {item.key for item in wish.items[0][1]} == {("cone",), ("cyclist",), ("chain_barrier_far",)}


def test_only_campaigns_that_have_ended_are_retested_and_each_once():
    experiment = make_experiment(seeds=(1, 2))
    waiting = SearchRun.objects.order_by("pk").first()
    SearchRun.objects.filter(pk=waiting.pk).update(state=RunState.PAUSED)

    first = launch.start_retests(experiment, by=make_user())

    assert len(first) == 3
    assert waiting.campaign_id not in {one.follows_id for one in first}
    with pytest.raises(VlmLabError, match="No run is ready"):
        launch.start_retests(experiment, by=make_user())
    assert retest_page(experiment, experiment_page(experiment)).n_ready == 0


def test_retested_sets_stand_by_arm_beside_the_published_ones():
    """random: 10, 10 of 20 in one set each of two seeds; beam: 16 and 20 of 20."""
    experiment = make_experiment(seeds=(1, 2), fails=lambda run: (5,), preset="revelio-table-1")
    tests = [create_follow_up(wish, by=None) for wish in retest_wishes(experiment)]
    for test in tests:
        arm = test.follows.arm
        answer_items(
            test, lambda item, arm=arm: 10 if arm["name"] == "random" else 16 + 4 * (arm["seed"] - 1)
        )

    page = retest_page(experiment, experiment_page(experiment))

    ours, first = page.rows[0], page.rows[1]
    assert page.heads == ("random", "beam")
    assert [(cell.text, cell.note) for cell in ours.cells] == [
        ("50.0 ± 0.0 %", "0 of 2 reach 80 %; 40 answers"), ("90.0 ± 10.0 %", "2 of 2 reach 80 %; 40 answers"),
    ]  # fmt: skip
    assert (first.title, first.is_ours) == ("Gemini (minimal), published", False)
    assert [cell.text for cell in first.cells] == ["82.0 ± 16.6 %", "100.0 ± 0.0 %"]
    assert FollowUpItem.objects.count() == Finding.objects.count() == 4


def test_follow_ups_of_an_experiment_are_no_runs_of_it():
    experiment = make_experiment(seeds=(1,))
    before = len(experiment_results.experiment_results(experiment))

    launch.start_retests(experiment, by=make_user())

    assert len(experiment_results.experiment_results(experiment)) == before == 2


def modes_of(beam_leads_by: list[int]):
    """Return wrong answers: random finds one mode, the beam as many more as its run seed says."""

    def fails(run: SearchRun) -> list[int]:
        lead = beam_leads_by[run.run_seed - 1] if run.campaign.arm["algorithm"] == "beam" else 0
        return [5] * (1 + lead) + [0] * (6 - lead)

    return fails


def test_a_lead_that_chance_may_explain_is_said_to_be_one():
    # Leads of 1, 0 and 2: mean 1, standard deviation 1, so t = 1.73 and p = 0.23.
    experiment = make_experiment(seeds=(1, 2, 3), fails=modes_of([1, 0, 2]))

    sentence = experiment_page(experiment).sentence

    assert sentence.startswith("Most failure modes: beam, 2.0 a run on average over 3 run seeds.")
    assert "Chance is not excluded as the reason for its lead over the other arm." in sentence


def test_a_lead_beyond_chance_needs_no_such_words():
    # Leads of 2 and 3 in turn: mean 2.5, standard deviation 0.55, so t = 11.2 and p = 0.0001.
    experiment = make_experiment(seeds=(1, 2, 3, 4, 5, 6), fails=modes_of([2, 3, 2, 3, 2, 3]))

    assert "Chance" not in experiment_page(experiment).sentence
