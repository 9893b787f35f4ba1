"""The wish of a search that what it finds is confirmed: beyond its budget, or with a share of it."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.verdicts.config import ConfirmConfig

PLAN_KEY = "confirm"  # in Campaign.plan
MODES = ("extra", "share")


class WantedConfirmation(BaseModel):
    """How what a search finds is confirmed once it has ended; stored with its campaign."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    mode: Literal["extra", "share"] = Field(
        default="extra", title="Confirm what is found",
        description="extra: with inferences beyond the budget of the search. share: with a part of it.",
    )  # fmt: skip
    share: float = Field(
        default=0.3, gt=0.0, lt=1.0, title="Share of the budget",
        description="Part of the inference budget that is kept for the confirmation.",
    )  # fmt: skip
    inference_budget: int | None = Field(
        default=None, ge=1, title="Inferences of the confirmation",
        description="Answers that the confirmation of each run may take; empty: as many as it needs.",
    )  # fmt: skip
    settings: dict[str, Any] = Field(
        default_factory=dict, title="Settings", description="Other settings of the confirmation.",
    )  # fmt: skip
    outcome: str = Field(
        default="", title="Outcome", description="Why no confirmation was started, once the search has ended."
    )  # fmt: skip

    @property
    def values(self) -> dict[str, Any]:
        """Settings of the confirmation that differ from their defaults."""
        budget = {} if self.inference_budget is None else {"inference_budget": self.inference_budget}
        return {**self.settings, **budget}


def read_wanted(text: str) -> WantedConfirmation | None:
    """Return the wish that a shell or a program writes: ``extra``, ``share``, ``share=0.3``; None of nothing.

    Raises:
        ConfigError: it is something else; ``field`` is ``confirm``.
    """
    mode, _, share = text.strip().partition("=")
    if not mode:
        return None
    if mode not in MODES or (share and mode != "share"):
        raise ConfigError(
            f"There is no way to confirm called “{text}”.", hint="Write extra, or share=0.3.", field="confirm"
        )
    values: dict[str, Any] = {"mode": mode} | ({"share": share} if share else {})
    try:
        return checked_settings(WantedConfirmation, values)
    except ConfigError as error:
        raise ConfigError(error.message, hint=error.hint, field="confirm") from error


def with_confirmation(
    config: RevelioConfig, wanted: WantedConfirmation | None
) -> tuple[RevelioConfig, dict[str, Any]]:
    """Return the settings of the search itself, and what its campaign stores of the wish (``plan``).

    With a share the search gets the rest of the budget.

    Raises:
        ConfigError: the settings of the confirmation are not valid, or no inference is left for one of both.
    """
    if wanted is None:
        return config, {}
    if wanted.mode == "share":
        kept = round(config.inference_budget * wanted.share)
        if not 1 <= kept < config.inference_budget:
            raise ConfigError(
                f"{config.inference_budget:,} inferences cannot be shared with a confirmation.",
                hint="Give the search more, or confirm with extra inferences.",
                field="confirm",
            )
        left = {"inference_budget": config.inference_budget - kept}
        config = checked_settings(RevelioConfig, config.model_dump() | left)
        wanted = wanted.model_copy(update={"inference_budget": kept})
    if config.failure_rate_threshold >= 1.0 and "failure_rate_threshold" not in wanted.values:
        raise ConfigError(
            "With a failure rate threshold of 1 nothing can be confirmed.",
            hint="Lower it, or search without a confirmation.",
            field="confirm",
        )
    checked_settings(ConfirmConfig, wanted.values)
    return config, {PLAN_KEY: wanted.model_dump(mode="json")}


def wanted_of(stored: Mapping[str, Any]) -> WantedConfirmation | None:
    """Return the wish that a campaign stores; None without one, or with one of another version."""
    if PLAN_KEY not in stored:
        return None
    try:
        return WantedConfirmation.model_validate(stored[PLAN_KEY])
    except ValueError:
        return None
