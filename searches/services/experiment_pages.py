"""What the page of an experiment shows: its arms over run seeds, differences, curves, published numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from searches.enums import RunState
from searches.models import Experiment, SearchRun, SutRecord
from searches.services.domain_store import find_domain
from searches.services.experiment_progress import ExperimentProgress, progress_of
from searches.services.experiment_published import SideBySide, side_by_side, write_measure
from searches.services.experiment_results import ExperimentRun, experiment_results
from searches.services.experiments import spec_of
from searches.services.results import PFM_NOTE
from vlmlab.core.revelio.arm_summaries import (
    COMPARED,
    MEASURES,
    ArmDifference,
    ArmSummary,
    BandPoint,
    Measure,
    MeasureSummary,
    RunFacts,
    band,
    differences,
    pooled_taus,
    summarise,
)
from vlmlab.core.revelio.experiments import Arm, ExperimentSpec
from vlmlab.core.revelio.metrics import Share
from vlmlab.core.stats.seeds import SeedMean
from vlmlab.core.verdicts.reproduction import REPRODUCTIONS, Reproduction
from vlmlab.web.numbers import write_decimals, write_many

GRID_STEPS = 40
SHOWN = ("modes", "minimal", "confirmed", "pfm", "mfr", "diversity", "invalid", "inferences")
SHOWN_BY_EXPECTED = ("modes", "minimal", "pfm", "mfr", "diversity", "invalid")

CHANCE = 0.05  # adjusted p-values from which chance stays a reason


@dataclass(frozen=True)
class ArmRow:
    """One arm of the table.

    Attributes:
        cells: by measure, those of the head in its order.
        runs: of the arm on the shown system.
    """

    arm: Arm
    summary: ArmSummary
    cells: tuple[MeasureSummary, ...]
    runs: tuple[SearchRun, ...]

    @property
    def n_ended(self) -> int:
        """Runs that have ended by themselves."""
        return sum(run.state == RunState.SUCCEEDED for run in self.runs)


@dataclass(frozen=True)
class ExpectedRow:
    """One arm and expected answer."""

    arm: Arm
    label: str
    cells: tuple[MeasureSummary, ...]


@dataclass(frozen=True)
class ArmBand:
    """The mean curve of an arm."""

    arm: Arm
    points: list[BandPoint]


@dataclass(frozen=True)
class ArmTaus:
    """The curve over tau of an arm: threshold, counts of all runs, mean over runs."""

    arm: Arm
    lines: list[tuple[float, Share, SeedMean | None]]


@dataclass(frozen=True)
class ExperimentPage:
    """Everything of the page of one experiment, for one of its systems.

    Attributes:
        measures: of the table's head.
        compared: of the differences; ``measure`` is the one that is shown.
        budget: where the axis of inferences ends.
        all_runs: on all systems.
        unreadable: runs whose settings this version does not understand.
    """

    experiment: Experiment
    spec: ExperimentSpec
    progress: ExperimentProgress
    suts: tuple[SutRecord, ...]
    sut: SutRecord | None
    measures: tuple[Measure, ...]
    arms: tuple[ArmRow, ...]
    expected_measures: tuple[Measure, ...]
    expected: tuple[ExpectedRow, ...]
    compared: tuple[Measure, ...]
    measure: Measure
    differences: tuple[ArmDifference, ...]
    mode_differences: tuple[ArmDifference, ...]
    bands: tuple[ArmBand, ...]
    taus: tuple[ArmTaus, ...]
    published: SideBySide | None
    reproduction: Reproduction | None
    budget: int
    all_runs: tuple[SearchRun, ...] = ()
    unreadable: int = 0
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def sentence(self) -> str:
        """What it has found so far, in one sentence."""
        known = [(row, row.summary.measures["modes"].seeds) for row in self.arms]
        means = [(row.arm.name, seeds.mean) for row, seeds in known if seeds is not None]
        if not means or not self.progress.n_inferences:
            return "Nothing is known yet: its runs wait or have just begun."
        best = max(means, key=lambda one: one[1])
        if not best[1]:
            return (
                "No failure mode was found."
                if self.progress.is_final
                else "No failure mode was found so far."
            )
        on = f" on {self.sut.name}" if self.sut and len(self.suts) > 1 else ""
        so_far = "" if self.progress.is_final else " so far"
        seeds = write_many(len(self.spec.run_seeds), "run seed")
        return (
            f"Most failure modes{on}{so_far}: {best[0]}, {write_decimals(best[1], 1)} a run on average over "
            f"{seeds}.{self._chance(best[0])} All are suspected until they are confirmed."
        )

    def _chance(self, best: str) -> str:
        """Say whether chance explains the lead of an arm over some other one."""
        pairs = [one for one in self.mode_differences if best in (one.first, one.second)]
        if not self.progress.is_final or not pairs:
            return ""
        if all(one.p_adjusted is not None and one.p_adjusted < CHANCE for one in pairs):
            return ""
        others = "the other arm" if len(pairs) == 1 else "every other arm"
        return f" Chance is not excluded as the reason for its lead over {others}."


def experiment_page(experiment: Experiment, *, sut: str = "", measure: str = "") -> ExperimentPage:
    """Return the page of an experiment.

    Args:
        experiment: the row.
        sut: slug of the system to show; anything else shows the first one.
        measure: whose differences are shown; anything else shows those of failure modes.

    Raises:
        VlmLabError: what is stored is not known to this version.
    """
    spec = spec_of(experiment)
    results = experiment_results(experiment)
    suts = _suts(results)
    chosen = next((one for one in suts if one.slug == sut), suts[0] if suts else None)
    shown = [one for one in results if chosen is not None and one.run.sut_id == chosen.pk]
    facts = _facts(shown)
    names = [arm.name for arm in spec.arms]
    has_confirmed = any(one.confirmed is not None for one in facts)
    asked = MEASURES.get(measure if measure in COMPARED else "", MEASURES["modes"])
    budget = max(arm.config.inference_budget for arm in spec.arms)
    summaries = summarise(names, facts)
    return ExperimentPage(
        experiment=experiment,
        spec=spec,
        progress=progress_of([one.run for one in results]),
        suts=suts,
        sut=chosen,
        measures=_measures(SHOWN, has_confirmed=has_confirmed),
        arms=tuple(
            _row(arm, one, shown, has_confirmed) for arm, one in zip(spec.arms, summaries, strict=True)
        ),
        expected_measures=tuple(MEASURES[name] for name in SHOWN_BY_EXPECTED),
        expected=tuple(_expected(spec, summaries)),
        compared=_measures(COMPARED, has_confirmed=has_confirmed),
        measure=asked,
        differences=tuple(differences(names, facts, asked)),
        mode_differences=tuple(differences(names, facts, MEASURES["modes"])),
        bands=tuple(ArmBand(arm, band(_of(facts, arm), _grid(budget))) for arm in spec.arms),
        taus=tuple(ArmTaus(arm, lines) for arm in spec.arms if (lines := pooled_taus(_of(facts, arm)))),
        published=side_by_side(
            experiment.preset,
            spec,
            {one.name: summarise(names, _facts(_on(results, one))) for one in suts},
        ),
        reproduction=REPRODUCTIONS.get(experiment.preset),
        budget=budget,
        all_runs=tuple(one.run for one in results),
        unreadable=sum(one.facts is None for one in results),
        notes=tuple(_notes(spec)),
    )


def cell_text(cell: MeasureSummary) -> str:
    """Return the mean of a measure as people read it."""
    return write_measure(cell.measure.name, cell.seeds.mean if cell.seeds is not None else None)


def cell_interval(cell: MeasureSummary) -> str:
    """Return the interval of the mean over seeds, "" where there is none."""
    seeds = cell.seeds
    if seeds is None or seeds.low is None or seeds.high is None:
        return ""
    return write_range(cell.measure, seeds.low, seeds.high)


def write_range(measure: Measure, low: float, high: float) -> str:
    """Return two values of a measure as ``3.1 to 5.0`` or ``31.0 to 50.2 %``."""
    if measure.is_share:
        return f"{write_decimals(100.0 * low, 1)} to {write_decimals(100.0 * high, 1)} %"
    places = 2 if measure.name == "diversity" else 1
    return f"{write_decimals(low, places)} to {write_decimals(high, places)}"


def _suts(results: Sequence[ExperimentRun]) -> tuple[SutRecord, ...]:
    return tuple({one.run.sut_id: one.run.sut for one in results}.values())


def _on(results: Sequence[ExperimentRun], sut: SutRecord) -> list[ExperimentRun]:
    return [one for one in results if one.run.sut_id == sut.pk]


def _facts(results: Sequence[ExperimentRun]) -> list[RunFacts]:
    return [one.facts for one in results if one.facts is not None]


def _of(facts: Sequence[RunFacts], arm: Arm) -> list[RunFacts]:
    return [one for one in facts if one.arm == arm.name]


def _measures(names: Sequence[str], *, has_confirmed: bool) -> tuple[Measure, ...]:
    return tuple(MEASURES[name] for name in names if has_confirmed or name != "confirmed")


def _row(arm: Arm, summary: ArmSummary, shown: Sequence[ExperimentRun], has_confirmed: bool) -> ArmRow:  # noqa: FBT001 - a private step
    head = _measures(SHOWN, has_confirmed=has_confirmed)
    return ArmRow(
        arm=arm,
        summary=summary,
        cells=tuple(summary.measures[one.name] for one in head),
        runs=tuple(one.run for one in shown if one.arm == arm.name),
    )


def _expected(spec: ExperimentSpec, summaries: Sequence[ArmSummary]) -> list[ExpectedRow]:
    actions = find_domain(spec.domain).actions
    order = {action: place for place, action in enumerate(actions)}
    return [
        ExpectedRow(arm, actions.get(action, action), tuple(cells[name] for name in SHOWN_BY_EXPECTED))
        for arm, summary in zip(spec.arms, summaries, strict=True)
        for action, cells in sorted(
            summary.by_expected.items(), key=lambda one: order.get(one[0], len(order))
        )
    ]


def _grid(budget: int) -> list[int]:
    steps = min(GRID_STEPS, budget)
    return [round(budget * number / steps) for number in range(steps + 1)]


def _notes(spec: ExperimentSpec) -> list[str]:
    notes = []
    algorithms = {arm.config.algorithm for arm in spec.arms}
    if len(algorithms) > 1:
        notes.append("Algorithms are compared by failure modes for the same inferences, not by PFM.")
    if "sits" in algorithms:
        notes.append(PFM_NOTE)
    curtailed = {arm.config.is_curtailed for arm in spec.arms}
    if True in curtailed:
        notes.append("Arms that stop sets early have no failure rates: no MFR, and no curve over τ.")
    if len(spec.run_seeds) < 3:
        notes.append(
            "One run seed says nothing about chance: there are no intervals."
            if len(spec.run_seeds) == 1
            else "Two run seeds give very wide intervals; three or more are better."
        )
    return notes
