"""Settings of follow-ups: what all of them share, and one model for each kind."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

FollowUpKind = Literal["confirm", "ablate", "probe", "interact", "transfer", "regress", "envelope"]
FOLLOW_UP_KINDS: tuple[FollowUpKind, ...] = (
    "confirm", "ablate", "probe", "interact", "transfer", "regress", "envelope",
)  # fmt: skip


class FollowUpConfig(BaseModel):
    """What every follow-up needs to ask; frozen, stored with its campaign.

    Pictures and questions must be those of the search that it follows, so these settings are copied from it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    failure_rate_threshold: float = Field(
        default=0.6, gt=0.0, lt=1.0, title="Failure rate threshold",
        description="Share of wrong answers above which a set is a failure mode.",
    )  # fmt: skip
    inference_budget: int | None = Field(
        default=None, ge=1, le=1_000_000, title="Inference budget",
        description="Answers that each run may take; empty: as many as the plan needs.",
    )  # fmt: skip
    slots: int = Field(
        default=8, ge=1, le=64, title="Questions in flight", description="Questions asked together.",
    )  # fmt: skip
    ask_reason: bool = Field(
        default=False, title="Ask for a reason", description="Also ask for one sentence of reason.",
    )  # fmt: skip
    image_width: int = Field(
        default=448, ge=64, le=2048, title="Image width", description="Width of the scenes in pixels.",
    )  # fmt: skip
    image_height: int = Field(
        default=336, ge=64, le=2048, title="Image height", description="Height of the scenes in pixels.",
    )  # fmt: skip
    backend: str = Field(
        default="embedded", max_length=64, title="Pictures from",
        description="What makes the pictures: the embedded renderer, or a picture source of this lab.",
    )  # fmt: skip
    wall_clock_budget_s: float | None = Field(
        default=None, gt=0, title="Time limit",
        description="Seconds of work after which a run ends with what it has; empty for no limit.",
    )  # fmt: skip
    spend_cap_usd: float | None = Field(
        default=None, gt=0, title="Spending limit",
        description="US dollars that each run may cost; it pauses before it would cost more. Empty: none.",
    )  # fmt: skip


class ConfirmConfig(FollowUpConfig):
    """Fresh samples for suspects: sequential with error control, or the paper's fixed re-test."""

    protocol: Literal["sequential", "paper"] = Field(
        default="sequential", title="Protocol",
        description="sequential: each set is asked until the evidence decides, with the false discovery rate "
        "of all sets together held. paper: a fixed number of scenes for the top sets, as published.",
    )  # fmt: skip
    max_samples: int = Field(
        default=100, ge=1, le=10_000, title="Most scenes a set",
        description="Fresh scenes after which a set stays undetermined.",
    )  # fmt: skip
    fdr_level: float = Field(
        default=0.1, gt=0.0, lt=1.0, title="False discovery rate",
        description="Share of confirmed sets that may be false, on average over campaigns.",
    )  # fmt: skip
    later_share: float = Field(
        default=0.2, ge=0.0, lt=1.0, title="Kept for later suspects",
        description="Share of that rate kept for sets that are added after the family was fixed.",
    )  # fmt: skip
    family_size: int = Field(
        default=1, ge=1, title="Sets in the family",
        description="Suspects of the whole campaign, fixed before the first fresh scene.",
    )  # fmt: skip
    later_index: int | None = Field(
        default=None, ge=1, title="First place in line",
        description="For later suspects: how many later ones came before, plus one; empty for the family.",
    )  # fmt: skip
    later_discoveries: int = Field(
        default=0, ge=0, title="Later discoveries so far",
        description="For later suspects: how many of the later ones before were confirmed.",
    )  # fmt: skip
    coverage: float = Field(
        default=0.95, gt=0.5, lt=1.0, title="Level of intervals",
        description="Level of the intervals before they are widened for the choice of the sets.",
    )  # fmt: skip
    futility: float = Field(
        default=0.05, ge=0.0, lt=1.0, title="Give up below",
        description="A set is given up when the predicted chance that more scenes decide it is lower.",
    )  # fmt: skip
    paper_samples: int = Field(
        default=20, ge=1, le=10_000, title="Scenes a set (paper)",
        description="Fresh scenes of each set in the paper's protocol.",
    )  # fmt: skip
    paper_top: int = Field(
        default=10, ge=1, le=10_000, title="Sets (paper)",
        description="How many of the sets with the highest failure rates are asked in the paper's protocol.",
    )  # fmt: skip

    @model_validator(mode="after")
    def _check_together(self) -> "ConfirmConfig":
        if self.later_index is not None and self.later_share == 0.0:
            sentence = "Later suspects need a part of the false discovery rate. Keep more than 0 for them."
            raise PydanticCustomError(
                "settings_together", "{sentence}", {"field": "later_share", "sentence": sentence}
            )
        return self


class AblateConfig(FollowUpConfig):
    """Paired ablation: which concepts of a set its failures need, and the smallest set that still fails."""

    pairs: int = Field(
        default=40, ge=5, le=1_000, title="Paired scenes",
        description="Scenes on which the set and each set with a concept less are both asked.",
    )  # fmt: skip
    level: float = Field(
        default=0.05, gt=0.0, lt=0.5, title="Significance level",
        description="Chance of calling a concept necessary or contributory that is neither, a set.",
    )  # fmt: skip
    margin: float = Field(
        default=0.1, gt=0.0, lt=1.0, title="Margin",
        description="A concept is irrelevant when leaving it out surely changes the failure rate by less.",
    )  # fmt: skip
    reduces: bool = Field(
        default=True, title="Look for the smallest set",
        description="Also take away several concepts, as long as the rest still fails.",
    )  # fmt: skip
    reduce_scenes: int = Field(
        default=20, ge=1, le=1_000, title="Scenes a smaller set",
        description="Fresh scenes on which a smaller set is judged; fewer once they can only end one way.",
    )  # fmt: skip


class ProbeConfig(FollowUpConfig):
    """True and false statements in the same reply, and the same scenes without them."""

    scenes: int = Field(
        default=20, ge=2, le=1_000, title="Scenes a set",
        description="Fresh scenes of each set, asked with and without statements.",
    )  # fmt: skip


class InteractConfig(FollowUpConfig):
    """The designed four-cell test: neither, one, the other, both of two concepts on the same layouts."""

    scenes: int = Field(
        default=60, ge=5, le=2_000, title="Scenes a cell",
        description="Layouts that are shown with neither, one, the other and both concepts.",
    )  # fmt: skip
    level: float = Field(
        default=0.05, gt=0.0, lt=0.5, title="Significance level",
        description="Chance of calling an interaction that is none, a pair.",
    )  # fmt: skip


class TransferConfig(FollowUpConfig):
    """The top sets of some systems, asked of other systems on the same scenes."""

    scenes: int = Field(
        default=20, ge=1, le=1_000, title="Scenes a set",
        description="Fresh scenes of each set, the same for every system.",
    )  # fmt: skip
    random_sets: int = Field(
        default=20, ge=0, le=1_000, title="Random sets",
        description="Sets chosen at random, asked too: how often a system fails without being provoked.",
    )  # fmt: skip


class RegressConfig(FollowUpConfig):
    """A family of pinned failure modes or cases, asked of two systems on the same scenes."""

    scenes: int = Field(
        default=40, ge=1, le=2_000, title="Scenes a mode",
        description="Fresh scenes of each failure mode, the same for both systems.",
    )  # fmt: skip
    level: float = Field(
        default=0.05, gt=0.0, lt=0.5, title="Significance level",
        description="Chance of any false “changed” in the whole family.",
    )  # fmt: skip
    margin: float = Field(
        default=0.1, gt=0.0, lt=1.0, title="Margin",
        description="A mode passes when the new system surely fails at most this much more often.",
    )  # fmt: skip
    goal: Literal["no_worse", "all_fixed"] = Field(
        default="no_worse", title="Passes when",
        description="no_worse: no mode fails more often than before. all_fixed: every mode surely fails less "
        "often than the threshold.",
    )  # fmt: skip


class EnvelopeConfig(FollowUpConfig):
    """A declared operating envelope, asked on fresh draws from its cells."""

    level: float = Field(
        default=0.95, gt=0.5, lt=1.0, title="Confidence",
        description="Level at which all bounds of the card hold together.",
    )  # fmt: skip
    stops_failed: bool = Field(
        default=False, title="Stop failed cells early",
        description="End a cell once its errors suffice to fail it; it has no error rate then.",
    )  # fmt: skip


FOLLOW_UP_CONFIGS: dict[FollowUpKind, type[FollowUpConfig]] = {
    "confirm": ConfirmConfig,
    "ablate": AblateConfig,
    "probe": ProbeConfig,
    "interact": InteractConfig,
    "transfer": TransferConfig,
    "regress": RegressConfig,
    "envelope": EnvelopeConfig,
}
