"""Published numbers beside measured ones; they are never of the same system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from vlmlab.core.revelio.arm_summaries import MEASURES, ArmSummary
from vlmlab.core.revelio.experiments import Arm, ExperimentSpec
from vlmlab.core.revelio.inconsistencies import Inconsistency, find_inconsistencies
from vlmlab.core.revelio.published import PAPER_DOMAINS, published
from vlmlab.core.revelio.published_cells import CellKey, PublishedRow, published_rows
from vlmlab.core.verdicts.reproduction import REPRODUCTIONS, Reproduction
from vlmlab.web.numbers import write_decimals

NOT_THE_SAME = (
    "Published numbers are of other systems, scenes and words: they say what the paper found, not what this "
    "system should reach."
)
SHOWN = ("pfm", "mfr", "diversity")


@dataclass(frozen=True)
class SideColumn:
    """One column: the arm and the measure."""

    arm: Arm
    measure: str

    @property
    def title(self) -> str:
        """Both in words."""
        return f"{self.arm.name}: {MEASURES[self.measure].title}"


@dataclass(frozen=True)
class SideCell:
    """A number as people read it, with what stands below it."""

    text: str
    note: str = ""


@dataclass(frozen=True)
class SideRow:
    """One system: published, or of this lab."""

    title: str
    cells: tuple[SideCell, ...]
    is_ours: bool


@dataclass(frozen=True)
class SideBySide:
    """The table of published and measured numbers.

    Attributes:
        differences: settings in which the experiment is not the published one.
    """

    reproduction: Reproduction
    columns: tuple[SideColumn, ...]
    rows: tuple[SideRow, ...]
    differences: tuple[str, ...]
    inconsistencies: tuple[Inconsistency, ...]


def inconsistencies_of(reproduction: Reproduction) -> list[Inconsistency]:
    """Return what of the papers does not fit in a table; nothing is known of MoST's."""
    if reproduction.paper != "Revelio" or not reproduction.number:
        return []
    return [one for one in _inconsistencies() if reproduction.number in one.tables]


@lru_cache(maxsize=1)
def _inconsistencies() -> tuple[Inconsistency, ...]:
    # The published tables come with the code; all cards ask for the same.
    return tuple(find_inconsistencies(published()))


def side_by_side(
    preset: str, spec: ExperimentSpec, measured: Mapping[str, Sequence[ArmSummary]]
) -> SideBySide | None:
    """Return published and measured numbers, None where nothing published has the shape of an experiment.

    Args:
        preset: what is reproduced.
        spec: of the experiment.
        measured: name of a system -> its arms.
    """
    reproduction = REPRODUCTIONS.get(preset)
    domain = spec.domain.partition("@")[0]
    if reproduction is None or domain not in PAPER_DOMAINS:
        return None
    number = 2 if preset == "revelio-table-1" else reproduction.number
    rows = published_rows(published(), number, domain)
    if reproduction.paper != "Revelio" or not rows:
        return None
    known = {key for row in rows for key in row.cells}
    columns = tuple(
        SideColumn(arm, measure) for arm in spec.arms for measure in SHOWN if _key(arm, measure) in known
    )
    return SideBySide(
        reproduction=reproduction,
        columns=columns,
        rows=(
            *(_ours(name, columns, arms) for name, arms in measured.items()),
            *(_theirs(row, columns) for row in rows),
        ),
        differences=tuple(changed_settings(spec)),
        inconsistencies=tuple(inconsistencies_of(REPRODUCTIONS[f"revelio-table-{number}"])),
    )


def changed_settings(spec: ExperimentSpec) -> list[str]:
    """Return a sentence for each setting in which an experiment is not the published one."""
    setting, changed = published().setting, []
    budgets = {arm.config.inference_budget for arm in spec.arms}
    if budgets != {setting.inference_budget}:
        written = ", ".join(f"{one:,}" for one in sorted(budgets))
        changed.append(
            f"A small version: {written} instead of {setting.inference_budget:,} inferences a run. Levels of "
            "the beam, the warm start and every count change with it."
            if max(budgets) < setting.inference_budget
            else f"{written} instead of {setting.inference_budget:,} inferences a run."
        )
    if spec.axis != "samples" and {arm.config.samples_per_set for arm in spec.arms} != {
        setting.samples_per_set
    }:
        changed.append(f"Other samples a set than the published {setting.samples_per_set}.")
    if spec.axis != "threshold" and {arm.config.failure_rate_threshold for arm in spec.arms} != {
        setting.failure_rate_threshold
    }:
        changed.append(f"Another threshold than the published {setting.failure_rate_threshold:g}.")
    if any(arm.config.is_curtailed for arm in spec.arms):
        changed.append("Arms that stop sets early have no MFR.")
    return changed


def _key(arm: Arm, measure: str) -> CellKey:
    return CellKey(arm.algorithm, arm.value, measure)


def _theirs(row: PublishedRow, columns: Sequence[SideColumn]) -> SideRow:
    cells = tuple(
        SideCell(write_measure(column.measure, row.cells.get(_key(column.arm, column.measure))))
        for column in columns
    )
    return SideRow(f"{row.model}, published", cells, is_ours=False)


def _ours(name: str, columns: Sequence[SideColumn], arms: Sequence[ArmSummary]) -> SideRow:
    by_name = {arm.arm: arm for arm in arms}
    return SideRow(name, tuple(_our_cell(column, by_name.get(column.arm.name)) for column in columns), True)


def _our_cell(column: SideColumn, arm: ArmSummary | None) -> SideCell:
    found = arm.measures[column.measure] if arm is not None else None
    if found is None or found.seeds is None:
        return SideCell("–", "early stop: no rate" if column.arm.config.is_curtailed else "")
    text = write_measure(column.measure, found.seeds.mean)
    counts = f"{found.pooled.numerator:,} / {found.pooled.denominator:,}" if found.pooled else ""
    return SideCell(text, counts)


def write_measure(measure: str, value: float | None) -> str:
    """Return a value as the papers print it: shares in percent with one decimal, others as they are."""
    if value is None:
        return "–"
    if MEASURES[measure].is_share:
        return f"{100.0 * value:.1f} %"
    return write_decimals(value, 2 if measure == "diversity" else 1)
