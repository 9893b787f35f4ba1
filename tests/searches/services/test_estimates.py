import pytest

from searches.enums import JobKind, JobState
from searches.models import Job
from searches.services.estimates import estimate, round_duration
from tests.factories import make_campaign, make_run, make_sut
from vlmlab.core.revelio.config import RevelioConfig

pytestmark = pytest.mark.django_db


def measured(sut, *, n_inferences: int, active_seconds: float, is_sample: bool = False, **values: object):
    settings = {name: values.pop(name) for name in ("ask_reason", "image_width") if name in values}
    campaign = make_campaign(config=RevelioConfig(**settings).model_dump(mode="json"), is_sample=is_sample)
    return make_run(
        sut=sut, campaign=campaign, n_inferences=n_inferences, active_seconds=active_seconds, **values
    )


def test_a_system_that_was_never_asked_gets_a_guess_that_is_called_one():
    guess = estimate(make_sut(), RevelioConfig(inference_budget=60))

    assert guess.seconds == 120.0
    assert (
        guess.text == "About 2 min on one worker: a guess of 0.5 s an answer and a guess of 1.5 s a picture."
    )


def test_recent_runs_of_the_system_at_this_size_decide_with_all_that_they_took():
    sut = make_sut(n_calls=12, latency_ms_sum=1200.0)
    measured(sut, n_inferences=40, active_seconds=200.0)
    measured(sut, n_inferences=30, n_cached=10, active_seconds=40.0)

    guess = estimate(sut, RevelioConfig(inference_budget=300))

    assert guess.seconds == 1200.0  # 240 s of work for 60 fresh inferences: 4 s each
    assert guess.text == "About 20 min on one worker: 4.0 s an inference in 2 recent runs of this size."


def test_runs_that_say_nothing_of_this_search_are_left_out():
    sut = make_sut()
    measured(sut, n_inferences=40, active_seconds=4000.0, is_sample=True)
    measured(sut, n_inferences=40, active_seconds=4000.0, ask_reason=True)
    measured(sut, n_inferences=40, active_seconds=4000.0, image_width=640)
    measured(sut, n_inferences=5, active_seconds=4000.0)
    measured(sut, n_inferences=40, n_cached=40, active_seconds=4000.0)
    measured(make_sut(), n_inferences=40, active_seconds=4000.0)

    assert estimate(sut, RevelioConfig(inference_budget=60)).seconds == 120.0


def test_pictures_are_timed_on_runs_of_other_systems_or_on_scenes_drawn_by_people():
    sut, config = make_sut(n_calls=10, latency_ms_sum=5000.0), RevelioConfig(inference_budget=60)
    Job.objects.create(
        kind=JobKind.RENDER_SCENE, state=JobState.DONE,
        params={"width": 896, "height": 672}, result={"seconds": 10.0},
    )  # fmt: skip

    drawn = estimate(sut, config).text
    measured(make_sut(), n_inferences=40, active_seconds=90.0, render_seconds=80.0)
    measured_by_runs = estimate(sut, config).text

    assert drawn == "About 3 min on one worker: 0.5 s an answer and 2.5 s a picture."
    assert measured_by_runs == "About 2 min on one worker: 0.5 s an answer and 2.0 s a picture."


def test_a_time_limit_bounds_the_time_and_earlier_spending_gives_the_cost():
    sut = make_sut(
        params={"price_usd": 0.06}, n_calls=12, n_call_errors=2, latency_ms_sum=5000.0, spend_usd=0.6
    )

    guess = estimate(sut, RevelioConfig(inference_budget=100, wall_clock_budget_s=60))

    assert (guess.seconds, guess.cost_usd) == (60.0, pytest.approx(5.0))
    assert guess.most_usd == pytest.approx(6.0)
    assert guess.text.endswith(" About $5.00, as 12 calls took so far; never more than $6.00.")


def priced(**values: object):
    prices = {"input_price_usd": 1.0, "output_price_usd": 10.0, "max_output_tokens": 100}
    return make_sut(kind="openai_chat", params={"model": "m"} | prices, **values)


def test_measured_tokens_at_todays_prices_give_the_cost_and_the_longest_reply_its_bound():
    sut = priced(n_calls=11, n_call_errors=1, input_tokens=5_000, output_tokens=200)

    guess = estimate(sut, RevelioConfig(inference_budget=100))

    # 500 and 20 tokens an answer: 0.0005 + 0.0002 dollars
    assert guess.cost_usd == pytest.approx(0.07)
    # 380 bytes, ceil(448 x 336 / 196) = 768 and 3,000 for the picture, 200 around: 4,348 + 100 at most
    assert guess.most_usd == pytest.approx(100 * (4_348 * 1.0 + 100 * 10.0) / 1e6)
    assert guess.text.endswith(" About $0.07, as 10 answers took so far; never more than $0.53.")


def test_a_system_without_answers_gets_a_guess_and_a_spending_limit_bounds_it():
    guess = estimate(priced(), RevelioConfig(inference_budget=1000, spend_cap_usd=1.0))

    # 400 / 4 + 448 x 336 / 784 = 292 tokens in, 100 out
    assert guess.cost_usd == pytest.approx(1.0)
    assert guess.most_usd == pytest.approx(1.0)
    assert "a guess before its first answer" in guess.text


def test_a_system_with_broken_settings_still_gets_its_time():
    guess = estimate(make_sut(params={"unheard_of": 1}), RevelioConfig(inference_budget=60))

    assert (guess.seconds, guess.cost_usd) == (120.0, None)
    assert guess.text.endswith("Its stored settings are not valid any more: edit them.")


def test_without_prices_the_cost_is_said_to_be_unknown():
    guess = estimate(make_sut(kind="openai_chat", params={"model": "m"}), RevelioConfig())

    assert (guess.cost_usd, guess.most_usd) == (None, None)
    assert guess.text.endswith("What it costs is unknown: enter its prices on its page to see it.")


@pytest.mark.parametrize(
    ("seconds", "rounded"),
    [(2, 10), (44, 40), (100, 120), (599, 600), (1402, 1500), (7000, 7200), (14_000, 14_400)],
)
def test_estimates_are_rounded_to_what_they_know(seconds, rounded):
    assert round_duration(seconds) == rounded
