"""What a modality campaign will take before it is started: runs, evaluations, time, money, shell command."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from django.db.models import Avg, Case, Count, F, IntegerField, Value, When
from django.db.models.functions import Least

from searches.enums import MODALITY_METHOD, ModalityStatus
from searches.models import Campaign, Dataset, ModalityRun, SearchRun, SutRecord
from searches.services.estimates import GUESSED_ANSWER_SECONDS, cost_each, round_duration
from searches.services.modality_campaigns import checked_grid
from searches.services.modality_costs import longest_call, most_a_question_costs
from searches.services.modality_inputs import regime_space
from searches.services.seed_plans import ChosenSeed, SeedPlan, StratumCount
from searches.services.shell_campaigns import shell_config
from vlmlab.core.errors import ConfigError
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.types import Regime
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.web.numbers import write_count, write_duration, write_many, write_money

GUESSED_PERTURB_SECONDS = 0.05
GUESSED_SHARE_WITH_FAILURE = 0.5
GUESSED_FIRST_HIT: dict[str, dict[Regime, int]] = {
    "screen": {"image": 4, "text": 6, "joint": 5},
    "random": {"image": 22, "text": 34, "joint": 15},
    "nsga2": {"image": 78, "text": 264, "joint": 23},
}
"""Median evaluations to the first failure on systems on paper, by algorithm and regime."""
RECENT_CAMPAIGNS = 10
RECENT_RUNS = 200
FEWEST_RUNS = 10
FEWEST_EVALUATIONS = 8
SAME_SETTINGS = ("algorithm", "sweep_levels", "inference_budget", "give_up_after", "early_stop", "refine")


@dataclass(frozen=True)
class SutPlan:
    """What the runs of one system will take.

    Attributes:
        seconds: on one worker, rounded.
        cost_usd: expected; None when a price is unknown.
        most_usd: what it cannot pass; None when a price is unknown.
        text: all of it as sentences with what they rest on.
    """

    sut: SutRecord
    seconds: float
    cost_usd: float | None
    most_usd: float | None
    text: str


@dataclass(frozen=True)
class CampaignPlan:
    """Everything a person should know before the campaign starts.

    Attributes:
        n_runs: places of the grid.
        n_clean: questions about the clean seed images, shared by all regimes.
        strata: seed images taken from each stratum.
        evaluations: expected in all runs.
        most_evaluations: what they cannot pass.
        basis: what the expected number rests on.
        seconds, cost_usd, most_usd: sums over the systems; money only of those whose price is known.
        unpriced: names of the systems whose price is unknown.
        lines: one for each system.
        shell: the commands that start the same.
        confirm_most: failing cases that are confirmed afterwards, at most; None for none.
    """

    n_runs: int
    n_clean: int
    strata: tuple[StratumCount, ...]
    evaluations: int
    most_evaluations: int
    basis: str
    seconds: float
    cost_usd: float
    most_usd: float
    unpriced: tuple[str, ...]
    lines: tuple[SutPlan, ...]
    shell: tuple[str, ...]
    confirm_most: int | None = None

    @property
    def each_confirming(self) -> int:
        """Answers that the confirmation of one failing case takes at most."""
        return 1 + ConfirmConfig().max_samples

    @property
    def most_confirming(self) -> int:
        """Answers that the confirmation afterwards takes at most; every run may fail once."""
        return min(self.confirm_most or 0, self.n_runs) * self.each_confirming

    @property
    def n_seed_images(self) -> int:
        """Seed images in all."""
        return sum(one.n_pictures for one in self.strata)


def plan_campaign(
    config: MostConfig, plan: SeedPlan, *, suts: Sequence[SutRecord], dataset: Dataset
) -> CampaignPlan:
    """Return what a campaign on these systems will take.

    Raises:
        VlmLabError: it cannot be started, see ``modality_campaigns.checked_grid``.
    """
    seeds = checked_grid(config, plan, suts=suts, dataset=dataset)
    n_runs = len(seeds) * len(config.regimes) * plan.replicates
    each, basis = expected_evaluations(config)
    lines = tuple(_sut_plan(sut, config, seeds, n_runs=n_runs, evaluations=each) for sut in suts)
    counted = Counter(seed.row.stratum for seed in seeds)
    return CampaignPlan(
        n_runs=n_runs * len(suts),
        n_clean=len(seeds) * len(suts),
        strata=tuple(StratumCount(name, counted[name]) for name in sorted(counted)),
        evaluations=round(each * n_runs * len(suts)),
        most_evaluations=most_evaluations(config) * n_runs * len(suts),
        basis=basis,
        seconds=sum(line.seconds for line in lines),
        cost_usd=sum(line.cost_usd or 0.0 for line in lines),
        most_usd=sum(line.most_usd or 0.0 for line in lines),
        unpriced=tuple(line.sut.name for line in lines if line.cost_usd is None),
        lines=lines,
        shell=tuple(shell_command(config, plan, sut_slug=sut.slug, dataset=dataset) for sut in suts),
        confirm_most=plan.confirm_most,
    )


def most_evaluations(config: MostConfig) -> int:
    """Return how many evaluations one run cannot pass."""
    if config.algorithm == "sweep":
        return max(_most_of_sweep(config, regime) for regime in config.regimes)
    if config.algorithm == "nsga2":
        return min(config.inference_budget, config.population_size * (1 + config.generations))
    return config.inference_budget


def effort_of(config: MostConfig, regimes: Sequence[Regime]) -> str:
    """Return how many evaluations a run takes at most, as words; a sweep has a number for each regime."""
    if config.algorithm == "sweep":
        most = {regime: _most_of_sweep(config, regime) for regime in regimes}
        numbers = sorted(set(most.values()))
        if len(numbers) > 1:
            each = ", ".join(f"{number:,} ({regime})" for regime, number in most.items())
            return f"at most {each} evaluations"
        return f"at most {write_many(numbers[0], 'evaluation')}"
    if config.give_up_after:
        return f"gives up after {write_many(config.give_up_after, 'evaluation')}"
    return f"at most {write_many(most_evaluations(config), 'evaluation')}"


def _most_of_sweep(config: MostConfig, regime: Regime) -> int:
    return min(config.inference_budget, _n_operators(config, regime) * config.sweep_levels)


def _n_operators(config: MostConfig, regime: Regime) -> int:
    return len(regime_space(config, regime).operators)


def expected_evaluations(config: MostConfig) -> tuple[float, str]:
    """Return how many evaluations a run will probably take, and what that rests on."""
    same = {f"config__{name}": getattr(config, name) for name in SAME_SETTINGS}
    alike = Campaign.objects.filter(method=MODALITY_METHOD, is_sample=False, **same).order_by("-id")
    recent = list(alike.values_list("pk", flat=True)[:RECENT_CAMPAIGNS])
    if recent:
        runs = ModalityRun.objects.filter(
            campaign__in=recent, status=ModalityStatus.FINISHED, regime__in=config.regimes
        )
        found = runs.aggregate(n=Count("pk"), mean=Avg("evaluations"))
        if found["n"] >= FEWEST_RUNS:
            mean = float(found["mean"])
            return mean, f"{mean:,.0f} a run, as {write_many(found['n'], 'finished run')} like these took"
    return _as_in_samples(config) or _guess(config)


def _as_in_samples(config: MostConfig) -> tuple[float, str] | None:
    """Return what runs of the same algorithm that come with the lab would take; None where these say nothing.

    A run that found a failure takes as many as it took there, one that found none goes on until it gives up.
    """
    if not config.early_stop or config.algorithm == "sweep":
        return None
    limit = min(most_evaluations(config), config.give_up_after or most_evaluations(config))
    runs = ModalityRun.objects.filter(
        campaign__method=MODALITY_METHOD,
        campaign__is_sample=True,
        campaign__config__algorithm=config.algorithm,
        campaign__config__early_stop=True,
        status=ModalityStatus.FINISHED,
        regime__in=config.regimes,
    )
    taken = Case(
        When(first_hit__isnull=True, then=Value(limit)),
        default=Least(F("evaluations"), Value(limit)),
        output_field=IntegerField(),
    )
    found = runs.aggregate(n=Count("pk"), mean=Avg(taken))
    if found["n"] < FEWEST_RUNS:
        return None
    mean = float(found["mean"])
    runs_there = write_many(found["n"], "finished run")
    return mean, (
        f"{mean:,.0f} a run, as {runs_there} of the sample data took; on your systems and pictures it may be "
        "more or less"
    )


def _guess(config: MostConfig) -> tuple[float, str]:
    most = most_evaluations(config)
    if config.algorithm == "sweep":
        mean = sum(_most_of_sweep(config, regime) for regime in config.regimes) / len(config.regimes)
        return mean, f"{mean:,.0f} a run, every operator at {config.sweep_levels} severities"
    medians = GUESSED_FIRST_HIT.get(config.algorithm)
    if medians is None or not config.early_stop:
        return most, f"{most:,} a run, the whole budget"
    given_up = min(most, config.give_up_after or most)
    first = sum(medians[regime] for regime in config.regimes) / len(config.regimes)
    if config.algorithm == "screen":
        first += config.bisection_steps
    hit = min(first, most)
    mean = GUESSED_SHARE_WITH_FAILURE * hit + (1 - GUESSED_SHARE_WITH_FAILURE) * given_up
    return mean, (
        f"{mean:,.0f} a run, a guess: every second run finds a failure after about {hit:,.0f} evaluations, "
        f"the others end after {given_up:,}"
    )


def _sut_plan(
    sut: SutRecord,
    config: MostConfig,
    seeds: Sequence[ChosenSeed],
    *,
    n_runs: int,
    evaluations: float,
) -> SutPlan:
    pace, basis = _pace(sut)
    questions = evaluations * n_runs + len(seeds)
    seconds = questions * pace
    if config.wall_clock_budget_s is not None:
        seconds = min(seconds, config.wall_clock_budget_s * n_runs)
    rounded = round_duration(seconds)
    text = f"About {write_duration(rounded)} on one worker: {basis}."
    try:
        most_each, size = most_a_question_costs(sut, seeds), longest_call(sut, seeds).size
    except ConfigError:
        return SutPlan(
            sut, rounded, None, None, f"{text} Its stored settings are not valid any more: edit them."
        )
    if most_each is None:
        unknown = "What it costs is unknown: enter its prices on its page to see it."
        return SutPlan(sut, rounded, None, None, f"{text} {unknown}")
    most = most_each * (most_evaluations(config) * n_runs + len(seeds))
    if config.spend_cap_usd is not None:
        most = min(most, config.spend_cap_usd * n_runs)
    each, cost_basis = cost_each(sut, size=size)
    cost = min(each * questions, most)
    if most:
        text += f" About {write_money(cost)}, {cost_basis}; never more than {write_money(most)}."
    return SutPlan(sut, rounded, cost, most, text)


def _pace(sut: SutRecord) -> tuple[float, str]:
    """Return seconds an evaluation, and what that rests on: box questions of this system lately."""
    runs = SearchRun.objects.filter(
        sut=sut, campaign__method=MODALITY_METHOD, campaign__is_sample=False, n_inferences__gt=0
    ).order_by("-id")
    rows = list(runs.values_list("active_seconds", "n_inferences", "n_cached")[:RECENT_RUNS])
    asked = sum(inferences - cached for _, inferences, cached in rows)
    if asked >= FEWEST_EVALUATIONS:
        pace = sum(seconds for seconds, *_ in rows) / asked
        return pace, f"{pace:.2f} s an evaluation in {write_count(asked)} of its recent ones"
    latency = sut.mean_latency_ms
    answer = GUESSED_ANSWER_SECONDS if latency is None else latency / 1000
    said = f"{'a guess of ' if latency is None else ''}{answer:.1f} s an answer"
    return answer + GUESSED_PERTURB_SECONDS, f"{said} and a guess of {GUESSED_PERTURB_SECONDS} s to perturb"


def shell_command(config: MostConfig, plan: SeedPlan, *, sut_slug: str, dataset: Dataset) -> str:
    """Return the command that starts the same runs of one system from a shell."""
    by_options = shell_config(
        config.algorithm, budget=config.inference_budget, regimes=config.regimes, params={}
    ).model_dump()
    settings = {name: value for name, value in config.model_dump().items() if value != by_options[name]}
    chosen = "" if plan.n_seed_images is None else f" --n-seed-images {plan.n_seed_images}"
    chosen += f" \\\n  --strata {quote(','.join(plan.strata))}" if plan.strata else ""
    chosen += f" --replicates {plan.replicates}" if plan.replicates > 1 else ""
    params = "".join(f" \\\n  --param {quote(f'{k}={_shell_value(v)}')}" for k, v in settings.items())
    return (
        f"python manage.py run_search --method most --sut {sut_slug} \\\n"
        f"  --dataset {dataset.slug} --regimes {','.join(config.regimes)} \\\n"
        f"  --algorithm {config.algorithm} --budget {config.inference_budget} --seed {plan.seed}{chosen}"
        f"{params} \\\n  --json result.json"
    )


def _shell_value(value: object) -> str:
    if value is None:
        return ""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value).lower()
