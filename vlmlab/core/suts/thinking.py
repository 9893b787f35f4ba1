"""What providers that count thinking as output share: room for an answer, and complaints about a level."""

from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.remote_params import RemoteParams

LEAST_TOKENS = {"low": 2048, "medium": 4096, "high": 8192}
"""Room for thinking and answer together, in tokens, that a level without a budget of its own needs."""


def check_room(params: RemoteParams, least: int) -> None:
    """Refuse a longest reply that thinking may use up before the answer begins.

    Args:
        params: settings of the registration.
        least: tokens that the level needs, thinking and answer together.

    Raises:
        ConfigError: the longest reply is shorter; ``field`` is ``max_output_tokens``.
    """
    if params.max_output_tokens < least:
        raise ConfigError(
            f"Thinking is part of the reply, and {params.max_output_tokens:,} tokens leave no room for an "
            f"answer at the level {params.thinking}.",
            hint=f"Set the longest reply to at least {least:,} tokens.",
            field="max_output_tokens",
        )


def level_refused(message: str, hint: str) -> ConfigError:
    """Return the error of a level that a model does not have; its ``field`` is ``thinking``."""
    return ConfigError(message, hint=hint, field="thinking")
