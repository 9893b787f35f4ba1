"""How long a run will take and cost, from what this lab measured where it measured anything."""

from dataclasses import dataclass

from django.db.models import F, Q, QuerySet

from searches.enums import JobKind, JobState
from searches.models import Job, PictureSource, SearchRun, SutRecord
from searches.services.call_costs import most_an_inference_costs
from searches.services.domain_store import find_domain
from searches.services.picture_bills import most_pictures_cost
from searches.services.suts import params_of
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.core.suts.pictures import fitted_size
from vlmlab.core.suts.prices import cost_of, likely_input_tokens
from vlmlab.core.suts.remote_params import RemoteParams
from vlmlab.web.numbers import write_duration, write_many, write_money

GUESSED_RENDER_SECONDS = 1.5
GUESSED_ANSWER_SECONDS = 0.5
GUESSED_SOURCE_SECONDS = {"image_pool": 0.1, "image_api": 15.0, "carla": 4.0}
GUESS_SIZE = (448, 336)  # pixels of the scenes that the guess is for
GUESSED_PROMPT_CHARACTERS = 400
GUESSED_OUTPUT_TOKENS = 100
RECENT_RUNS = 5
FEWEST_INFERENCES = 8  # below, starting up says more than the pace


@dataclass(frozen=True)
class Estimate:
    """What a run will take.

    Attributes:
        seconds: wall time on one worker, rounded.
        cost_usd: money, 0 for systems on this machine; None when a price is unknown.
        most_usd: what it cannot pass, by its limit or by the longest reply to every question; None when a
            price is unknown.
        text: all of it as sentences with what they rest on.
    """

    seconds: float
    cost_usd: float | None
    most_usd: float | None
    text: str


def estimate(sut: SutRecord, config: RevelioConfig, *, domain_slug: str = "driving") -> Estimate:
    """Return how long a run will take and cost, from recent runs of the system at this picture size.

    Raises:
        VlmLabError: the domain is unknown.
    """
    pace, basis = _pace(sut, config)
    seconds = config.inference_budget * pace
    if config.wall_clock_budget_s is not None:
        seconds = min(seconds, config.wall_clock_budget_s)
    rounded = round_duration(seconds)
    text = f"About {write_duration(rounded)} on one worker: {basis}."
    domain = find_domain(domain_slug)
    try:
        most_each, picture = most_an_inference_costs(sut, config, domain=domain), most_pictures_cost(config)
    except ConfigError:
        return Estimate(rounded, None, None, f"{text} Its stored settings are not valid any more: edit them.")
    if most_each is None:
        return Estimate(
            rounded, None, None, f"{text} What it costs is unknown: enter its prices on its page to see it."
        )
    if picture is None:
        unknown = "What its pictures cost is unknown: enter the price on the page of their source to see it."
        return Estimate(rounded, None, None, f"{text} {unknown}")
    most_each += picture
    most = config.inference_budget * most_each
    if config.spend_cap_usd is not None:
        most = min(most, config.spend_cap_usd)
    each, cost_basis = cost_each(sut, size=(config.image_width, config.image_height))
    cost = min(config.inference_budget * (each + picture), most)
    if picture:
        cost_basis += f" and pictures at up to {write_money(picture)} each"
    is_bound = not picture or config.spend_cap_usd is not None
    limit = f"never more than {write_money(most)}" if is_bound else "pictures that are refused cost more"
    if most:
        text += f" About {write_money(cost)}, {cost_basis}; {limit}."
    return Estimate(rounded, cost, most, text)


def cost_each(sut: SutRecord, *, size: tuple[int, int]) -> tuple[float, str]:
    """Return US dollars an inference with a picture of a size, and what that rests on.

    Tokens count at today's prices.
    """
    params = params_of(sut)
    answered = sut.n_calls - sut.n_call_errors
    if isinstance(params, RemoteParams):
        if answered and sut.input_tokens:
            measured = cost_of(params, input_tokens=sut.input_tokens, output_tokens=sut.output_tokens)
            return measured / answered, f"as {write_many(answered, 'answer')} took so far"
        sent_size = fitted_size(size, params.max_image_side)
        tokens = likely_input_tokens(params, "x" * GUESSED_PROMPT_CHARACTERS, sent_size=sent_size)
        guessed = cost_of(params, input_tokens=round(tokens), output_tokens=GUESSED_OUTPUT_TOKENS)
        return guessed, "a guess before its first answer"
    if sut.n_calls:
        return sut.spend_usd / sut.n_calls, f"as {write_many(sut.n_calls, 'call')} took so far"
    return getattr(params, "price_usd", 0.0), "by its price"


def round_duration(seconds: float) -> float:
    """Return seconds as coarse as an estimate is: to 10 s, 1 min, 5 min or half an hour."""
    steps = ((60, 10), (600, 60), (5400, 300))
    step = next((step for limit, step in steps if seconds < limit), 1800)
    return float(max(step, round(seconds / step) * step))


def _pace(sut: SutRecord, config: RevelioConfig) -> tuple[float, str]:
    """Return seconds an inference, and what that rests on."""
    of_size = _runs_of_size(config)
    like_it = of_size.filter(sut=sut, campaign__config__ask_reason=config.ask_reason)
    rows = list(like_it.values_list("active_seconds", "n_inferences", "n_cached")[:RECENT_RUNS])
    asked = sum(inferences - cached for _, inferences, cached in rows)
    if asked:
        pace = sum(seconds for seconds, *_ in rows) / asked
        return pace, f"{pace:.1f} s an inference in {write_many(len(rows), 'recent run')} of this size"
    latency = sut.mean_latency_ms
    answer = GUESSED_ANSWER_SECONDS if latency is None else latency / 1000
    picture = _picture_seconds(of_size, config)
    render = picture or _guessed_render_seconds(config)
    said = f"{'a guess of ' if latency is None else ''}{answer:.1f} s an answer"
    return answer + render, f"{said} and {'' if picture else 'a guess of '}{render:.1f} s a picture"


def _guessed_render_seconds(config: RevelioConfig) -> float:
    """Return seconds a picture before this lab has made one: the renderer's by area, others by kind."""
    if config.backend == EMBEDDED:
        return GUESSED_RENDER_SECONDS * config.image_width * config.image_height / _area(GUESS_SIZE)
    kind = PictureSource.objects.filter(slug=config.backend).values_list("kind", flat=True).first() or ""
    return GUESSED_SOURCE_SECONDS.get(kind, GUESSED_RENDER_SECONDS)


def _runs_of_size(config: RevelioConfig) -> QuerySet[SearchRun]:
    """Return this lab's own runs with pictures of this size, newest first."""
    backend = Q(campaign__config__backend=config.backend)
    if config.backend == EMBEDDED:  # what earlier versions of the lab stored names none
        backend |= Q(campaign__config__backend__isnull=True)
    runs = SearchRun.objects.filter(
        backend,
        campaign__is_sample=False,
        campaign__config__image_width=config.image_width,
        campaign__config__image_height=config.image_height,
        active_seconds__gt=0,
        n_inferences__gte=F("n_cached") + FEWEST_INFERENCES,
    )
    return runs.order_by("-id")


def _picture_seconds(runs: QuerySet[SearchRun], config: RevelioConfig) -> float | None:
    """Return seconds a picture on this machine, from runs or else from scenes that people have drawn."""
    row = runs.filter(render_seconds__gt=0).values_list("render_seconds", "n_inferences").first()
    if row is not None:
        return float(row[0] / row[1])
    if config.backend != EMBEDDED:
        return None
    drawn = Job.objects.filter(kind=JobKind.RENDER_SCENE, state=JobState.DONE).order_by("-created_at")
    for params, result in drawn.values_list("params", "result")[:RECENT_RUNS]:
        if result.get("seconds"):
            size = params["width"], params["height"]
            return float(result["seconds"] * config.image_width * config.image_height / _area(size))
    return None


def _area(size: tuple[int, int]) -> int:
    return size[0] * size[1]
