"""What Claude takes, model by model: thinking, temperature, and pictures that it does not scale down."""

import re
from dataclasses import dataclass

from pydantic import JsonValue

from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.remote_params import SAFE_CLAUDE_SIDE, ClaudeSizedParams
from vlmlab.core.suts.thinking import LEAST_TOKENS, check_room, level_refused

_NAME = re.compile(
    r"claude-(?:(?P<line>[a-z]+)-(?P<major>\d{1,2})(?:[-.](?P<minor>\d{1,2}))?"
    r"|(?P<old_major>\d)(?:[-.](?P<old_minor>\d))?-(?P<old_line>[a-z]+))(?!\d)"
)
PATCH = 28
_OLD_SIDE, _OLD_PATCHES = 1568, 1568
_NEW_SIDE, _NEW_PATCHES = 2576, 4784
_SAFE_NEW_SIDE = 1932

BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384}
"""Thinking tokens of a level, for models up to 4.5; 1,024 is the least that Anthropic takes."""


@dataclass(frozen=True)
class Claude:
    """A model by its name.

    Attributes:
        line: such as ``sonnet``; "" when the name says nothing.
        version: such as (4, 6); (99, 0) when the name says nothing, for the newest rules apply then.
    """

    line: str
    version: tuple[int, int]

    @property
    def has_thinking(self) -> bool:
        """Whether it can think before it answers."""
        return self.version >= (3, 7)

    @property
    def has_effort(self) -> bool:
        """Whether thinking is asked for by effort instead of a number of tokens."""
        return self.version >= (4, 6)

    @property
    def takes_temperature(self) -> bool:
        """Whether a temperature may be sent."""
        return self.version <= (4, 6)

    @property
    def safe_side(self) -> int:
        """The longest side in pixels at which no picture of any shape is scaled down."""
        return _SAFE_NEW_SIDE if self.version >= (4, 7) and self.line else SAFE_CLAUDE_SIDE

    def off(self) -> dict[str, JsonValue] | None:
        """Return what turns thinking off; None where it cannot be turned off."""
        if not self.has_thinking:
            return {}
        if self.line in {"fable", "mythos"} or (self.line == "opus" and self.version >= (5, 5)):
            return None
        word = "between_tools" if self.line == "sonnet" and self.version >= (5, 5) else "disabled"
        return {"thinking": {"type": word}}


def claude_of(model: str) -> Claude | None:
    """Return which Claude a model id names, at Anthropic or on Bedrock; None when it is no Claude."""
    if "claude" not in model:
        return None
    match = _NAME.search(model)
    if match is None:
        return Claude("", (99, 0))
    if match["line"]:
        return Claude(match["line"], (int(match["major"]), int(match["minor"] or 0)))
    return Claude(match["old_line"], (int(match["old_major"]), int(match["old_minor"] or 0)))


def fits(size: tuple[int, int], claude: Claude) -> bool:
    """Whether a picture of a width and height in pixels reaches the model as it is sent."""
    is_new = claude.version >= (4, 7) and bool(claude.line)
    side, patches = (_NEW_SIDE, _NEW_PATCHES) if is_new else (_OLD_SIDE, _OLD_PATCHES)
    across, down = (-(-length // PATCH) for length in size)
    return max(size) <= side and across * down <= patches


def check_size(size: tuple[int, int], claude: Claude) -> None:
    """Refuse to send a picture that Claude would scale down without saying so.

    Args:
        size: width and height in pixels as it is sent.
        claude: the model.

    Raises:
        CallFailure: it is too large.
    """
    if not fits(size, claude):
        raise CallFailure(
            "too_large",
            f"A picture of {size[0]} x {size[1]} pixels is scaled down by Claude without a word, and boxes "
            f"would move. Set the longest side to at most {claude.safe_side}.",
            is_retryable=False,
        )


def thinking_fields(params: ClaudeSizedParams, claude: Claude) -> dict[str, JsonValue]:
    """Return the fields of a request that ask for the thinking level of a registration.

    Raises:
        ConfigError: the model has no such level, or its longest reply leaves no room for an answer.
    """
    level = params.thinking
    if level == "default":
        return {}
    if level == "off":
        off = claude.off()
        if off is None:
            raise level_refused(f"{params.model} always thinks.", "Choose low, or leave it at default.")
        return off
    if not claude.has_thinking:
        raise level_refused(f"{params.model} cannot think.", "Choose off, or leave it at default.")
    if not claude.has_effort:
        check_room(params, BUDGETS[level] + 1)
        return {"thinking": {"type": "enabled", "budget_tokens": BUDGETS[level]}}
    if level == "minimal":
        raise level_refused(f"{params.model} has no level below low.", "Choose low.")
    check_room(params, LEAST_TOKENS[level])
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": level}}


def check_claude(params: ClaudeSizedParams, claude: Claude) -> None:
    """Refuse settings that the model refuses, or that would move boxes silently.

    Raises:
        ConfigError: what to change, and at which field.
    """
    thinking_fields(params, claude)
    if params.temperature is not None:
        _check_temperature(params, claude)
    if params.max_image_side > claude.safe_side:
        raise ConfigError(
            f"{params.model} scales square pictures of more than {claude.safe_side:,} pixels down without "
            "saying so, and its boxes would move.",
            hint=f"Set the longest side to at most {claude.safe_side}.",
            field="max_image_side",
        )


def _check_temperature(params: ClaudeSizedParams, claude: Claude) -> None:
    if not claude.takes_temperature:
        raise ConfigError(
            f"{params.model} takes no temperature.", hint="Leave it empty.", field="temperature"
        )
    if params.thinking not in {"default", "off"}:
        raise ConfigError(
            "Claude takes no temperature while it thinks.",
            hint="Leave the temperature empty, or turn thinking off.",
            field="temperature",
        )
    if params.temperature is not None and params.temperature > 1:
        raise ConfigError(
            "Claude takes a temperature from 0 to 1.", hint="Enter at most 1.", field="temperature"
        )
