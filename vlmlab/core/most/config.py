"""Settings of a modality search, their help texts, presets, and reading them from words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from vlmlab.core.complaints import checked_settings
from vlmlab.core.most.genotype import LARGEST_INITIAL_SEVERITY, PERTURBATION_BUDGET, SMALLEST_SEVERITY
from vlmlab.core.most.outcomes import BASELINE_IOU, eligible_iou
from vlmlab.core.most.types import REGIMES, Regime, Thresholds

Algorithm = Literal["screen", "nsga2", "random", "sweep"]
ALGORITHMS: tuple[Algorithm, ...] = ("screen", "nsga2", "random", "sweep")


class MostConfig(BaseModel):
    """Everything that decides what a MoST run asks; frozen, stored with the run.

    Thresholds, budget and population are those of the paper; ``screen``, the check of fidelity before
    asking, and giving up are our own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    algorithm: Algorithm = Field(
        default="screen",
        title="Algorithm",
        description="How perturbations are chosen. screen tries a little of everything, then each operator "
        "alone, and learns which belong together; nsga2 is the published one; random is the yardstick; sweep "
        "searches nothing: it asks each operator alone at even steps.",
    )
    regimes: tuple[Regime, ...] = Field(
        default=REGIMES, title="Regimes",
        description="What may be perturbed: the image, the text, or both on one budget.",
    )  # fmt: skip
    inference_budget: int = Field(
        default=5050, ge=1, le=1_000_000, title="Inference budget",
        description="Strategies a run may ask: calls that got an answer. Failed calls do not count.",
    )  # fmt: skip
    give_up_after: int | None = Field(
        default=500, ge=1, le=1_000_000, title="Give up after",
        description="Strategies without a failure after which a run ends; empty to use the whole budget.",
    )  # fmt: skip
    slots: int = Field(
        default=8, ge=1, le=64, title="Questions in flight",
        description="Questions asked together. More is faster on an API but lets the search learn later.",
    )  # fmt: skip
    perturbation_budget: float = Field(
        default=PERTURBATION_BUDGET, gt=0.0, le=100.0, title="Perturbation budget",
        description="Sum of the severities of a strategy, over image and text together.",
    )  # fmt: skip
    smallest_severity: float = Field(
        default=SMALLEST_SEVERITY, ge=0.0, lt=1.0, title="Smallest severity",
        description="A severity below this is none.",
    )  # fmt: skip
    baseline_iou: float = Field(
        default=BASELINE_IOU, gt=0.0, le=1.0, title="IoU of the clean answer",
        description="A seed image is tested when the clean answer reaches this IoU, and the IoU threshold.",
    )  # fmt: skip
    iou_threshold: float = Field(
        default=0.5, gt=0.0, le=1.0, title="IoU threshold",
        description="Boxes below this IoU are a failure.",
    )  # fmt: skip
    max_image_distance: float = Field(
        default=0.2, gt=0.0, le=1.0, title="Largest image distance",
        description="A failure counts only when the picture changed no more than this (f2).",
    )  # fmt: skip
    max_prompt_distance: float = Field(
        default=0.15, gt=0.0, le=1.0, title="Largest prompt distance",
        description="A failure counts only when the prompt changed no more than this (f3).",
    )  # fmt: skip
    early_stop: bool = Field(
        default=True, title="Stop at a failure",
        description="End a run once it has a failure (screen first weakens it as far as it still fails; "
        "sweep goes on).",
    )  # fmt: skip
    fidelity_first: bool = Field(
        default=True, title="Check fidelity first",
        description="Weaken a strategy that changes picture or prompt too much before it is asked, which "
        "takes no inference.",
    )  # fmt: skip
    protect_format: bool = Field(
        default=True, title="Protect the format",
        description="Leave the part of the prompt that says how to answer as it is.",
    )  # fmt: skip
    excluded_operators: tuple[str, ...] = Field(
        default=(), title="Leave out", description="Operators that no strategy may use.",
    )  # fmt: skip
    homophone_table: str = Field(
        default="", max_length=64, title="Homophones",
        description="Short name of a reviewed table for the operator homophone; empty: the shipped one.",
    )  # fmt: skip
    synonym_table: str = Field(
        default="", max_length=64, title="Synonyms",
        description="Short name of a reviewed table for the operator synonym; empty: the shipped one.",
    )  # fmt: skip
    wall_clock_budget_s: float | None = Field(
        default=None, gt=0, title="Time limit",
        description="Seconds of work after which the run ends with what it has; empty for no limit.",
    )  # fmt: skip
    spend_cap_usd: float | None = Field(
        default=None, gt=0, title="Spending limit",
        description="US dollars that the run may cost; it pauses before it would cost more. Empty: no limit.",
    )  # fmt: skip
    population_size: int = Field(
        default=50, ge=4, le=1000, title="Population",
        description="nsga2: strategies in a generation.",
    )  # fmt: skip
    generations: int = Field(
        default=100, ge=0, le=10_000, title="Generations",
        description="nsga2: generations after the first; also those after the screen, see below.",
    )  # fmt: skip
    largest_initial_severity: float = Field(
        default=LARGEST_INITIAL_SEVERITY, gt=0.0, le=1.0, title="Largest initial severity",
        description="nsga2: severities of the first generation are drawn between 0 and this.",
    )  # fmt: skip
    most_operators: int = Field(
        default=5, ge=1, le=20, title="Most operators",
        description="screen, random: operators that one strategy may combine.",
    )  # fmt: skip
    strongest: int = Field(
        default=8, ge=0, le=20, title="Strongest operators",
        description="screen: operators whose interactions are learnt.",
    )  # fmt: skip
    bisection_steps: int = Field(
        default=5, ge=0, le=20, title="Bisection steps",
        description="screen: inferences spent on weakening the first failure; 0 keeps it as found.",
    )  # fmt: skip
    refine: bool = Field(
        default=False, title="Refine with NSGA-II",
        description="screen: go on with nsga2 from all that was asked, for a whole front of trade-offs.",
    )  # fmt: skip
    sweep_levels: int = Field(
        default=5, ge=1, le=50, title="Levels",
        description="sweep: severities of each operator, evenly spaced up to the largest one allowed.",
    )  # fmt: skip

    @field_validator("regimes", mode="before")
    @classmethod
    def _check_regimes(cls, value: object) -> object:
        if not isinstance(value, list | tuple) or not value or any(one not in REGIMES for one in value):
            raise ValueError(f"choose any of {', '.join(REGIMES)}")
        if len(set(value)) != len(value):
            raise ValueError("name each regime once")
        return value

    @model_validator(mode="after")
    def _check_together(self) -> "MostConfig":
        if self.smallest_severity > min(1.0, self.perturbation_budget):
            raise _refused(
                "smallest_severity",
                f"No severity can be as small as {self.smallest_severity:g} within a perturbation budget of "
                f"{self.perturbation_budget:g}. Lower it, or raise the budget.",
            )
        if self.refine and self.algorithm != "screen":
            raise _refused("refine", "Only screen can be refined. Choose it, or turn this off.")
        if self.refine and self.early_stop:
            raise _refused(
                "refine", "Refining goes on after a failure. Turn “Stop at a failure” off, or this."
            )
        return self

    @property
    def thresholds(self) -> Thresholds:
        """When an answer is a failure."""
        return Thresholds(
            iou=self.iou_threshold,
            image_distance=self.max_image_distance,
            prompt_distance=self.max_prompt_distance,
        )

    @property
    def eligible_iou(self) -> float:
        """IoU that the clean answer of a seed image must reach."""
        return eligible_iou(self.iou_threshold, baseline_iou=self.baseline_iou)


@dataclass(frozen=True)
class Preset:
    """A named set of values that a person can start from."""

    title: str
    description: str
    values: Mapping[str, str | int | float | bool | None]


PRESETS: dict[str, Preset] = {
    "quick": Preset(
        "Quick look (up to 100 inferences a run)",
        "A little of everything, each operator alone, some combinations: most failures take a handful.",
        {"algorithm": "screen", "inference_budget": 100, "give_up_after": 100, "bisection_steps": 3},
    ),
    "standard": Preset(
        "Standard (gives up after 500 inferences)",
        "Our search: the first failure of each seed image and regime, weakened as far as it still fails.",
        {"algorithm": "screen", "inference_budget": 5050, "give_up_after": 500},
    ),
    "fronts": Preset(
        "Whole fronts (5,050 inferences)",
        "Our search first, then generations from all it asked: the trade-off between damage and likeness.",
        {"algorithm": "screen", "early_stop": False, "refine": True, "give_up_after": None, "slots": 50},
    ),
    "faithful": Preset(
        "Paper: NSGA-II, 50 x (1 + 100)",
        "The published search with its population, generations and thresholds; nothing of ours.",
        {
            "algorithm": "nsga2", "population_size": 50, "generations": 100, "inference_budget": 5050,
            "give_up_after": None, "slots": 50, "fidelity_first": False, "early_stop": True,
        },
    ),
    "random": Preset(
        "Random (gives up after 500 inferences)",
        "Strategies drawn at random. The yardstick for every other search.",
        {"algorithm": "random", "inference_budget": 5050, "give_up_after": 500},
    ),
    "sweep": Preset(
        "Severity response (up to 205 inferences a run)",
        "Each operator alone at five severities, whatever is answered: how the answers fall with severity.",
        {
            "algorithm": "sweep", "sweep_levels": 5, "inference_budget": 5050, "give_up_after": None,
            "fidelity_first": False, "early_stop": False,
        },
    ),
}  # fmt: skip


def config_from_values(values: Mapping[str, Any]) -> MostConfig:
    """Return the configuration for named values, which may be words (``"0.5"``, ``"true"``, ``"a,b"``).

    Raises:
        ConfigError: a name is unknown or a value out of range; ``field`` names the first one.
    """
    return checked_settings(MostConfig, {name: _from_words(name, value) for name, value in values.items()})


def _from_words(name: str, value: object) -> object:
    if name in ("regimes", "excluded_operators") and isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if value == "" and name in ("give_up_after", "wall_clock_budget_s", "spend_cap_usd"):
        return None
    return value


def _refused(field: str, sentence: str) -> PydanticCustomError:
    """Return the error of a check of several settings together, which stands at one of their fields."""
    return PydanticCustomError("settings_together", "{sentence}", {"field": field, "sentence": sentence})
