"""Settings of a concept-set search, their help texts, presets, and reading them from words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from vlmlab.core.complaints import checked_settings
from vlmlab.core.revelio.racing import fails_needed

Algorithm = Literal["random", "beam", "gpts", "sits"]
ALGORITHMS: tuple[Algorithm, ...] = ("random", "beam", "gpts", "sits")


class RevelioConfig(BaseModel):
    """Everything that decides what a Revelio run asks; frozen, stored with the run.

    Defaults are those of the paper; ``sits`` and its settings are our own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    algorithm: Algorithm = Field(
        default="sits",
        title="Algorithm",
        description="How concept sets are chosen. sits learns which concepts fail together and finds the "
        "most; gpts and beam are the published ones; random is the yardstick.",
    )
    inference_budget: int = Field(
        default=1000, ge=1, le=1_000_000, title="Inference budget",
        description="Inferences the run may take: calls that got an answer. Failed calls do not count.",
    )  # fmt: skip
    failure_rate_threshold: float = Field(
        default=0.6, gt=0.0, le=1.0, title="Failure rate threshold",
        description="Share of wrong answers from which a concept set is a failure mode.",
    )  # fmt: skip
    samples_per_set: int = Field(
        default=5, ge=1, le=100, title="Samples per set",
        description="Different scenes shown of one concept set before it is judged.",
    )  # fmt: skip
    strict: bool = Field(
        default=False, title="Strictly above the threshold",
        description="Ask for more wrong answers than the threshold, not just as many.",
    )  # fmt: skip
    max_set_size: int = Field(
        default=5, ge=1, le=5, title="Largest set",
        description="Concepts in the largest set that is tried (the depth of the beam).",
    )  # fmt: skip
    curtail: bool = Field(
        default=False, title="Stop a set early",
        description="Stop sampling a set once the remaining samples cannot change its class: about 1.5 "
        "times the sets for the same budget, with the same classes, but such sets have no failure rate. "
        "sits always does this.",
    )  # fmt: skip
    slots: int = Field(
        default=8, ge=1, le=64, title="Questions in flight",
        description="Questions asked together. More is faster on an API but lets the search learn later.",
    )  # fmt: skip
    excluded_concepts: tuple[str, ...] = Field(
        default=(), title="Leave out", description="Concepts that no set may contain.",
    )  # fmt: skip
    required_concepts: tuple[str, ...] = Field(
        default=(), title="Always include", description="Concepts that every set must contain.",
    )  # fmt: skip
    ask_reason: bool = Field(
        default=False, title="Ask for a reason",
        description="Also ask for one sentence of reason; it is quoted on the findings. Longer answers "
        "take more time, and the question is then a slightly different one.",
    )  # fmt: skip
    image_width: int = Field(
        default=448, ge=64, le=2048, title="Image width",
        description="Width of the scenes in pixels.",
    )  # fmt: skip
    image_height: int = Field(
        default=336, ge=64, le=2048, title="Image height",
        description="Height of the scenes in pixels.",
    )  # fmt: skip
    backend: str = Field(
        default="embedded", max_length=64, title="Pictures from",
        description="What makes the pictures: the embedded renderer, or a picture source of this lab.",
    )  # fmt: skip
    wall_clock_budget_s: float | None = Field(
        default=None, gt=0, title="Time limit",
        description="Seconds of work after which the run ends with what it has; empty for no limit.",
    )  # fmt: skip
    spend_cap_usd: float | None = Field(
        default=None, gt=0, title="Spending limit",
        description="US dollars that the run may cost; it pauses before it would cost more. Empty: no limit.",
    )  # fmt: skip
    beam_width: int = Field(
        default=5, ge=1, le=100, title="Beam width",
        description="beam, gpts: sets kept at each level to be extended by one concept.",
    )  # fmt: skip
    diversity_weight: float = Field(
        default=0.25, ge=0.0, le=10.0, title="Diversity weight",
        description="beam, gpts: failure rate a set loses for full overlap with a set already kept.",
    )  # fmt: skip
    beam_literal: bool = Field(
        default=False, title="Beam as printed",
        description="beam, gpts: try every extension at each level, as published; it then rarely passes "
        "sets of three concepts. Otherwise each level gets an equal share of the budget.",
    )  # fmt: skip
    warm_start_share: float = Field(
        default=0.5, ge=0.0, le=1.0, title="Warm start",
        description="gpts: share of the budget that the beam spends before Thompson sampling; 0: sampling "
        "from the first set on, 1: the beam alone.",
    )  # fmt: skip
    pool: Literal["rand1000", "le3", "all"] = Field(
        default="rand1000", title="Candidates of gpts",
        description="gpts: untested sets considered at each step: 1,000 random ones of up to four "
        "concepts, all of up to three, or all.",
    )  # fmt: skip
    kernel: Literal["linear", "rbf"] = Field(
        default="linear", title="Kernel",
        description="gpts: linear is the published dot product with noise; rbf is for comparison.",
    )  # fmt: skip
    minimal: bool = Field(
        default=True, title="Prefer minimal sets",
        description="sits: look for small sets that fail and for modes that do not contain each other. "
        "Without it more failure modes are found, most of four or five concepts.",
    )  # fmt: skip
    novelty: float | None = Field(
        default=None, ge=0.0, le=10.0, title="Novelty",
        description="sits: log-odds a set loses for each failure mode (at most 3) already inside it; empty "
        "for 1 when minimal sets are preferred and 0 otherwise.",
    )  # fmt: skip
    size_penalty: float | None = Field(
        default=None, ge=0.0, le=10.0, title="Size penalty",
        description="sits: log-odds a set loses for each concept; empty for 0.3 when minimal sets are "
        "preferred and 0 otherwise.",
    )  # fmt: skip
    keep_probability: float = Field(
        default=0.30, ge=0.0, lt=1.0, title="Keep going from",
        description="sits: a set is put aside when its chance to become a failure mode falls below this.",
    )  # fmt: skip
    sits_pool: Literal["mixed", "all"] = Field(
        default="mixed", title="Candidates of sits",
        description="sits: all small sets and 4,000 random larger ones, or every set (slower).",
    )  # fmt: skip

    @model_validator(mode="after")
    def _check_together(self) -> "RevelioConfig":
        if self.fails_needed > self.samples_per_set:
            raise _refused(
                "strict",
                f"More than {self.failure_rate_threshold:g} of {self.samples_per_set} samples cannot fail. "
                "Turn “Strictly above the threshold” off, or lower the failure rate threshold.",
            )
        both = sorted(set(self.excluded_concepts) & set(self.required_concepts))
        if both:
            raise _refused("excluded_concepts", f"“{both[0]}” cannot be left out and always included.")
        if self.kernel == "rbf" and self.pool != "rand1000":
            raise _refused(
                "pool", "The rbf kernel works only with 1,000 random candidates. Choose them, or linear."
            )
        if self.inference_budget < self.smallest_budget:
            raise _refused("inference_budget", self._budget_too_small())
        return self

    def _budget_too_small(self) -> str:
        if self.is_curtailed:
            why = f"a set is a failure mode after {self.smallest_budget} wrong answers, so none can be found"
        else:
            why = f"every set takes {self.smallest_budget} samples, so nothing would be asked"
        return f"Enter at least {self.smallest_budget}: {why} with fewer."

    @property
    def smallest_budget(self) -> int:
        """Inferences below which no set can be found to fail."""
        return self.fails_needed if self.is_curtailed else self.samples_per_set

    @property
    def fails_needed(self) -> int:
        """Wrong answers among ``samples_per_set`` that make a failure mode."""
        return fails_needed(self.samples_per_set, self.failure_rate_threshold, strict=self.strict)

    @property
    def is_curtailed(self) -> bool:
        """Whether sets stop early; sits always does."""
        return self.curtail or self.algorithm == "sits"

    @property
    def novelty_weight(self) -> float:
        """Novelty in log-odds, after the preset."""
        return (1.0 if self.minimal else 0.0) if self.novelty is None else self.novelty

    @property
    def size_weight(self) -> float:
        """Size penalty in log-odds a concept, after the preset."""
        return (0.3 if self.minimal else 0.0) if self.size_penalty is None else self.size_penalty


CHOICE_LABELS: Mapping[str, Mapping[str, str]] = {
    "pool": {
        "rand1000": "1,000 random sets of up to 4",
        "le3": "All sets of up to 3",
        "all": "All sets",
    },
    "kernel": {"linear": "Linear (published)", "rbf": "RBF (for comparison)"},
    "sits_pool": {"mixed": "Small sets and 4,000 larger", "all": "All sets (slower)"},
}


@dataclass(frozen=True)
class Preset:
    """A named set of values that a person can start from."""

    title: str
    description: str
    values: Mapping[str, str | int | float | bool]


_PAPER = {"inference_budget": 1000, "curtail": False}
PRESETS: dict[str, Preset] = {
    "quick_look": Preset(
        "Quick look (60 inferences)",
        "A few minutes: tries every concept once and follows the first signs of failure.",
        {"algorithm": "sits", "minimal": True, "inference_budget": 60},
    ),
    "standard": Preset(
        "Standard (300 inferences)",
        "Finds small concept sets that fail and leaves out those that only add to them.",
        {"algorithm": "sits", "minimal": True, "inference_budget": 300},
    ),
    "thorough": Preset(
        "Thorough (1,000 inferences)",
        "The budget of the paper with our search for minimal failure modes.",
        {"algorithm": "sits", "minimal": True, "inference_budget": 1000},
    ),
    "most_modes": Preset(
        "Most failure modes (1,000 inferences)",
        "As many failing sets as possible; most have four or five concepts and overlap.",
        {"algorithm": "sits", "minimal": False, "inference_budget": 1000},
    ),
    "paper_gpts": Preset(
        "Paper 1,000: Thompson sampling",
        "Published algorithm 2: beam with half of the budget, then Thompson sampling; full samples.",
        {"algorithm": "gpts", **_PAPER},
    ),
    "paper_1000": Preset(
        "Paper 1,000: beam search",
        "Published algorithm 1 with an equal share of the budget for each set size; full samples.",
        {"algorithm": "beam", **_PAPER},
    ),
    "paper_beam_literal": Preset(
        "Paper 1,000: beam search as printed",
        "Every extension at each level; rarely reaches sets of four concepts within the budget.",
        {"algorithm": "beam", "beam_literal": True, **_PAPER},
    ),
    "paper_random": Preset(
        "Paper 1,000: random",
        "Random sets of one to four concepts; full samples. The yardstick for every other search.",
        {"algorithm": "random", **_PAPER},
    ),
}


def config_from_values(values: Mapping[str, Any]) -> RevelioConfig:
    """Return the configuration for named values, which may be words (``"0.5"``, ``"true"``, ``"a,b"``).

    Raises:
        ConfigError: a name is unknown or a value out of range; ``field`` names the first one.
    """
    return checked_settings(RevelioConfig, {name: _split_list(name, value) for name, value in values.items()})


def _split_list(name: str, value: object) -> object:
    if name in ("excluded_concepts", "required_concepts") and isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if value == "" and name in ("wall_clock_budget_s", "spend_cap_usd", "novelty", "size_penalty"):
        return None
    return value


def _refused(field: str, sentence: str) -> PydanticCustomError:
    """Return the error of a check of several settings together, which stands at one of their fields."""
    return PydanticCustomError("settings_together", "{sentence}", {"field": field, "sentence": sentence})
