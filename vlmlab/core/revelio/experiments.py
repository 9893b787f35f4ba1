"""Experiments: the same search again and again, with one thing varied and the run seeds held.

Arms are configurations. All arms have the same run seeds, so runs with one seed are paired: they see the
same scenes of a concept set.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.bench import ALGORITHM_NAMES
from vlmlab.core.revelio.config import CHOICE_LABELS, RevelioConfig, config_from_values

MOST_ARMS = 24
MOST_SEEDS = 50
ALL_ALGORITHMS = frozenset({"random", "beam", "gpts", "sits"})
LEVELS = frozenset({"beam", "gpts"})

CONCERNS: Mapping[str, frozenset[str]] = {
    "beam_width": LEVELS,
    "diversity_weight": LEVELS,
    "beam_literal": LEVELS,
    "warm_start_share": frozenset({"gpts"}),
    "pool": frozenset({"gpts"}),
    "kernel": frozenset({"gpts"}),
    "curtail": frozenset({"random", "beam", "gpts"}),
    **dict.fromkeys(
        ("minimal", "novelty", "size_penalty", "keep_probability", "sits_pool"), frozenset({"sits"})
    ),
}
"""Settings that only some algorithms read; all others concern every algorithm."""
FIXED = frozenset(
    {
        *("algorithm", "backend", "image_width", "image_height", "excluded_concepts", "required_concepts"),
        *("wall_clock_budget_s", "spend_cap_usd"),
    }
)
"""Settings that no axis may vary: algorithms are chosen apart, sets and scenes must be the same for all."""


@dataclass(frozen=True)
class Axis:
    """One setting to vary.

    Attributes:
        name: of the axis; for a setting of one's own the name of the setting.
        field: the setting.
        symbol: how arms are named: ``k = 5``.
        values: as words, what is tried unless something else is wanted.
        note: what one should know, "" for nothing.
    """

    name: str
    title: str
    field: str
    symbol: str
    values: tuple[str, ...]
    note: str = ""


AXES: dict[str, Axis] = {
    axis.name: axis
    for axis in (
        Axis("beam_width", "Beam width k", "beam_width", "k", ("1", "5", "10")),
        Axis(
            "diversity_weight", "Diversity weight λ", "diversity_weight", "λ", ("0", "0.25", "0.5", "1"),
            "Only 0.25 is a published value; the others are ours.",
        ),
        Axis(
            "warm_start", "Warm start of gpts, B_BS", "warm_start_share", "B_BS / B",
            ("0", "0.25", "0.5", "0.75", "1"),
            "Of 1,000 inferences: 0, 250, 500, 750 and 1,000. 0 samples from the first set on, 1 is the "
            "beam alone.",
        ),
        Axis(
            "samples", "Samples per set m", "samples_per_set", "m", ("5", "10"),
            "At the same budget: twice the samples are half the sets.",
        ),
        Axis(
            "threshold", "Failure rate threshold τ", "failure_rate_threshold", "τ",
            ("0.4", "0.6", "0.8", "1"),
            "Searches with full samples ask the same sets for any threshold, so the curve over τ of one arm "
            "says the same for less. Only searches that stop sets early ask differently.",
        ),
        Axis("kernel", "Kernel of gpts", "kernel", "kernel", ("linear", "rbf")),
        Axis(
            "curtail", "Stop a set early", "curtail", "early stop", ("no", "yes"),
            "Ours. Sets that are stopped early have no rate: such arms show no MFR and no curve over τ.",
        ),
        Axis("beam_literal", "Beam as printed", "beam_literal", "as printed", ("no", "yes")),
        Axis("pool", "Candidates of gpts", "pool", "candidates", ("rand1000", "le3", "all")),
    )
}  # fmt: skip


class Arm(BaseModel):
    """One configuration of an experiment with the words that tell it from the others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(max_length=80)
    algorithm: str
    value: str = ""
    config: RevelioConfig


class ExperimentSpec(BaseModel):
    """What an experiment was made from; stored with it, never changed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: str
    suts: tuple[str, ...] = Field(min_length=1)
    axis: str = ""
    arms: tuple[Arm, ...] = Field(min_length=1, max_length=MOST_ARMS)
    run_seeds: tuple[int, ...] = Field(min_length=1, max_length=MOST_SEEDS)

    @property
    def axis_title(self) -> str:
        """The varied setting in words; "" where only algorithms differ."""
        return axis_of(self.axis).title if self.axis else ""

    @property
    def n_runs(self) -> int:
        """Runs in all."""
        return len(self.suts) * len(self.arms) * len(self.run_seeds)

    @property
    def n_inferences(self) -> int:
        """Inferences that all runs may take."""
        each = sum(arm.config.inference_budget for arm in self.arms)
        return each * len(self.suts) * len(self.run_seeds)


def axis_of(name: str) -> Axis:
    """Return an axis of the table, or one over a setting of the core by its name.

    Raises:
        ConfigError: there is no such setting, or it cannot be varied.
    """
    if name in AXES:
        return AXES[name]
    if name in RevelioConfig.model_fields and name not in FIXED:
        title = RevelioConfig.model_fields[name].title or name
        return Axis(name, title, name, title.lower(), ())
    raise ConfigError(
        f"“{name}” cannot be varied.", hint=f"Known: {', '.join(varied_settings())}.", field="axis"
    )


def varied_settings() -> list[str]:
    """Return the names of all axes and of all settings that can be varied, axes first."""
    taken = {axis.field for axis in AXES.values()}
    return [*AXES, *(name for name in RevelioConfig.model_fields if name not in FIXED | taken)]


def read_values(text: str) -> list[str]:
    """Return the values of an axis from words with commas, each once, in their order."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def make_arms(
    base: Mapping[str, Any], algorithms: Sequence[str], *, axis: str = "", values: Iterable[str] = ()
) -> tuple[Arm, ...]:
    """Return an arm for each algorithm and value of the axis, algorithms first.

    An algorithm that does not read the setting has one arm: varying it would repeat the same search.

    Args:
        base: what all arms share; algorithm and varied setting are put over it.
        algorithms: names as a shell calls them, such as ``sits-minimal``.
        axis: see ``axis_of``; "" where only algorithms differ.
        values: of the axis, as words.

    Raises:
        ConfigError: a name or value is unknown, nothing would differ, or there are too many arms; ``field``
            is ``algorithms``, ``axis``, ``values`` or a setting.
    """
    unknown = [name for name in algorithms if name not in ALGORITHM_NAMES]
    if unknown or not algorithms:
        hint = f"Known: {', '.join(ALGORITHM_NAMES)}."
        told = f"There is no algorithm “{unknown[0]}”." if unknown else "No algorithm is chosen."
        raise ConfigError(told, hint=hint, field="algorithms")
    if not axis:
        if list(values):
            raise ConfigError("Values were given, but no setting to vary.", field="values")
        return _checked([_arm(base, name) for name in dict.fromkeys(algorithms)], axis)
    varied = axis_of(axis)
    wanted = list(values) or list(varied.values)
    if not wanted:
        raise ConfigError("Enter the values to try, with commas between them.", field="values")
    arms = []
    for name in dict.fromkeys(algorithms):
        concerned = str(ALGORITHM_NAMES[name]["algorithm"]) in CONCERNS.get(varied.field, ALL_ALGORITHMS)
        pinned = varied.field in ALGORITHM_NAMES[name] and varied.field != "minimal"
        chosen: Sequence[str] = wanted if concerned and not pinned else [""]
        arms += [_arm(base, name, axis=varied, value=one, is_alone=len(algorithms) == 1) for one in chosen]
    if all(arm.value == "" for arm in arms):
        raise ConfigError(
            f"{varied.title} changes nothing for {', '.join(algorithms)}.",
            hint="Choose another algorithm, or another setting to vary.",
            field="axis",
        )
    return _checked(arms, axis)


def make_spec(**values: Any) -> ExperimentSpec:
    """Return the stored form of an experiment.

    Raises:
        ConfigError: a value is out of range.
    """
    return checked_settings(ExperimentSpec, values)


def _arm(
    base: Mapping[str, Any],
    algorithm: str,
    *,
    axis: Axis | None = None,
    value: str = "",
    is_alone: bool = False,
) -> Arm:
    settings = {**base, **ALGORITHM_NAMES[algorithm]}
    if axis is None or value == "":
        return Arm(name=algorithm, algorithm=algorithm, config=config_from_values(settings))
    try:
        config = config_from_values(settings | {axis.field: value})
    except ConfigError as error:
        if error.field == axis.field:
            raise ConfigError(f"“{value}”: {error.message}", hint=error.hint, field="values") from error
        raise
    shown = CHOICE_LABELS.get(axis.field, {}).get(value, value)
    words = f"{axis.symbol} = {shown}"
    name = words if is_alone else f"{algorithm}, {words}"
    return Arm(name=name[:80], algorithm=algorithm, value=value, config=config)


def _checked(arms: Sequence[Arm], axis: str) -> tuple[Arm, ...]:
    if len(arms) > MOST_ARMS:
        raise ConfigError(
            f"These are {len(arms)} arms; at most {MOST_ARMS} fit into one experiment.",
            hint="Take fewer algorithms or values.",
            field="values" if axis else "algorithms",
        )
    for number, arm in enumerate(arms):
        for earlier in arms[:number]:
            if arm.config == earlier.config:
                raise ConfigError(
                    f"“{earlier.name}” and “{arm.name}” are the same search.",
                    hint="Leave one of them out.",
                    field="values" if axis else "algorithms",
                )
    return tuple(arms)
