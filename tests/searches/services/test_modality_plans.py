"""What a campaign will take: runs, evaluations, time and money by measured paces, else by named guesses."""

import shlex

import pytest

from searches.enums import RunState
from searches.models import Campaign, ModalityRun, SearchRun
from searches.services.modality_campaigns import create_modality_campaign
from searches.services.modality_plans import effort_of, expected_evaluations, most_evaluations, plan_campaign
from searches.services.seed_plans import SeedPlan
from searches.services.shell_campaigns import shell_config
from tests.factories import make_sut
from tests.searches.modality_factory import make_seed_dataset
from vlmlab.core.most.config import MostConfig
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS

pytestmark = pytest.mark.django_db


def plan(*, suts=None, dataset=None, seeds=None, **config):
    return plan_campaign(
        MostConfig(**config),
        SeedPlan(**seeds or {}),
        suts=[make_sut()] if suts is None else suts,
        dataset=dataset or make_seed_dataset(4),
    )


def finished(n: int, *, evaluations: int, **config):
    """Write a campaign whose runs all took so many evaluations."""
    sut = make_sut()
    campaign = create_modality_campaign(
        MostConfig(regimes=("image",), **config),
        SeedPlan(),
        suts=[sut],
        dataset=make_seed_dataset(n),
        name="Before",
        by=None,
    )
    ModalityRun.objects.filter(campaign=campaign).update(status="finished", evaluations=evaluations)
    SearchRun.objects.filter(campaign=campaign).update(
        state=RunState.SUCCEEDED, n_inferences=evaluations, active_seconds=2.0 * evaluations
    )
    return sut


def test_runs_and_clean_questions_are_those_of_the_grid():
    made = plan(suts=[make_sut(), make_sut()], seeds={"n_seed_images": 3, "replicates": 2})

    assert (made.n_runs, made.n_clean, made.n_seed_images) == (2 * 3 * 3 * 2, 6, 3)
    assert [(one.name, one.n_pictures) for one in made.strata] == [("kitchen", 2), ("street", 1)]
    assert len(made.lines) == len(made.shell) == 2


@pytest.mark.parametrize(
    ("config", "most"),
    [
        ({"algorithm": "screen", "inference_budget": 70}, 70),
        ({"algorithm": "nsga2", "population_size": 10, "generations": 3}, 40),
        ({"algorithm": "nsga2", "population_size": 10, "generations": 3, "inference_budget": 12}, 12),
        ({"algorithm": "sweep", "regimes": ("text",), "sweep_levels": 2}, 2 * len(TEXT_OPERATORS)),
        (
            {"algorithm": "sweep", "regimes": ("text", "image"), "sweep_levels": 2},
            2 * max(len(TEXT_OPERATORS), len(IMAGE_OPERATORS)),
        ),
    ],
)
def test_evaluations_are_bounded_by_budget_generations_and_levels(config, most):
    assert most_evaluations(MostConfig(**config)) == most


def test_without_earlier_campaigns_the_number_of_evaluations_is_a_guess_that_says_so():
    mean, basis = expected_evaluations(MostConfig(algorithm="random", regimes=("image",), give_up_after=100))

    assert mean == 0.5 * 22 + 0.5 * 100
    assert "a guess" in basis


def test_a_search_that_does_not_stop_at_a_failure_takes_its_whole_budget():
    mean, basis = expected_evaluations(MostConfig(early_stop=False, inference_budget=80))

    assert (mean, basis) == (80, "80 a run, the whole budget")


@pytest.mark.parametrize(
    ("config", "regimes", "words"),
    [
        (
            {"algorithm": "sweep", "give_up_after": 50},
            ("image", "text"),
            "at most 10 (image), 5 (text) evaluations",
        ),
        ({"algorithm": "sweep"}, ("text",), "at most 5 evaluations"),
        ({"algorithm": "sweep", "inference_budget": 4}, ("image", "text"), "at most 4 evaluations"),
        ({"algorithm": "screen", "give_up_after": 300}, ("image",), "gives up after 300 evaluations"),
        ({"algorithm": "random", "give_up_after": None}, ("image",), "at most 5,050 evaluations"),
    ],
)
def test_the_effort_of_a_run_is_told_as_what_it_cannot_pass(config, regimes, words):
    kept = {"fog", "rain", "casing"}
    left_out = tuple(name for name in (*IMAGE_OPERATORS, *TEXT_OPERATORS) if name not in kept)
    settings = {"sweep_levels": 5, "inference_budget": 5050, "excluded_operators": left_out} | config

    assert effort_of(MostConfig(**settings), regimes) == words


def test_a_sweep_takes_every_operator_at_every_level():
    config = MostConfig(
        algorithm="sweep", regimes=("text",), sweep_levels=3, excluded_operators=("politeness", "casing")
    )

    assert expected_evaluations(config)[0] == 3 * (len(TEXT_OPERATORS) - 2)


def test_evaluations_are_those_of_earlier_campaigns_with_the_same_settings():
    finished(10, evaluations=13, algorithm="random", give_up_after=100)

    same, basis = expected_evaluations(MostConfig(algorithm="random", give_up_after=100))
    other, _ = expected_evaluations(MostConfig(algorithm="random", give_up_after=101))

    assert (same, basis) == (13.0, "13 a run, as 10 finished runs like these took")
    assert other != 13.0


def test_too_few_earlier_runs_say_nothing():
    finished(9, evaluations=13, algorithm="random")

    assert "a guess" in expected_evaluations(MostConfig(algorithm="random"))[1]


def sampled(n: int, *, hits: int, evaluations: int, **config):
    """Write a campaign of the sample data: so many of its runs found a failure after so many evaluations."""
    finished(n, evaluations=evaluations, **config)
    Campaign.objects.update(is_sample=True)
    found = list(ModalityRun.objects.values_list("pk", flat=True)[:hits])
    ModalityRun.objects.filter(pk__in=found).update(first_hit=evaluations)


def test_without_own_campaigns_the_sample_data_with_the_same_algorithm_say_what_a_run_takes():
    sampled(20, hits=15, evaluations=8, algorithm="screen", inference_budget=100)

    mean, basis = expected_evaluations(MostConfig(algorithm="screen", give_up_after=60))

    assert mean == (15 * 8 + 5 * 60) / 20  # the others go on until this search gives up
    assert "as 20 finished runs of the sample data took" in basis


@pytest.mark.parametrize(
    "config", [{"algorithm": "random"}, {"early_stop": False}, {"algorithm": "sweep"}, {"regimes": ("text",)}]
)
def test_sample_data_say_nothing_of_searches_of_another_kind(config):
    sampled(20, hits=15, evaluations=8, algorithm="screen")

    assert "sample data" not in expected_evaluations(MostConfig(**config))[1]


def test_own_campaigns_say_more_than_the_sample_data():
    sampled(20, hits=20, evaluations=8, algorithm="screen")
    finished(10, evaluations=30, algorithm="screen")

    mean, basis = expected_evaluations(MostConfig(algorithm="screen"))

    assert (mean, "like these took" in basis) == (30, True)


def test_time_is_the_pace_of_this_system_at_questions_like_these():
    sut = finished(10, evaluations=20)

    (line,) = plan(suts=[sut], regimes=("image",), early_stop=False, inference_budget=50).lines

    assert line.seconds == pytest.approx((4 * 50 + 4) * 2.0, abs=30)  # rounded as coarse as an estimate is
    assert "2.00 s an evaluation in 200 of its recent ones" in line.text


def test_before_the_first_answer_of_a_system_the_time_is_a_guess():
    (line,) = plan().lines

    assert "a guess of 0.5 s an answer" in line.text


def test_cost_counts_evaluations_and_clean_questions_and_never_passes_the_limit():
    sut = make_sut(params={"price_usd": 0.01})
    config = {"regimes": ("image",), "early_stop": False, "inference_budget": 50}

    free = plan(suts=[sut], **config)
    limited = plan(suts=[sut], spend_cap_usd=0.1, **config)

    assert (free.cost_usd, free.most_usd) == (pytest.approx(2.04), pytest.approx(2.04))
    assert limited.most_usd == pytest.approx(0.4)  # four runs
    assert limited.cost_usd <= limited.most_usd


def test_a_time_limit_bounds_the_estimate():
    (line,) = plan(wall_clock_budget_s=1.0, early_stop=False).lines

    assert line.seconds <= 20


@pytest.mark.parametrize("algorithm", ["screen", "nsga2", "random", "sweep"])
def test_the_shell_command_starts_the_same(algorithm):
    config = shell_config(algorithm, budget=40, regimes=("text", "joint"), params={}).model_copy(
        update={"excluded_operators": ("fog", "casing"), "early_stop": algorithm == "random", "slots": 3}
    )
    dataset, sut = make_seed_dataset(3), make_sut()

    made = plan_campaign(
        config, SeedPlan(seed=5, n_seed_images=2, strata=("street",)), suts=[sut], dataset=dataset
    )

    words = shlex.split(made.shell[0].replace("\\\n", " "))
    options = {words[at]: words[at + 1] for at in range(3, len(words), 2) if words[at] != "--param"}
    params = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--param")
    again = shell_config(
        options["--algorithm"], budget=int(options["--budget"]), regimes=options["--regimes"], params=params
    )
    assert again == config
    assert (options["--sut"], options["--dataset"], options["--seed"]) == (sut.slug, dataset.slug, "5")
    assert (options["--n-seed-images"], options["--strata"]) == ("2", "street")
