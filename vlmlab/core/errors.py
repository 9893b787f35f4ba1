"""Errors a person can act on: each carries a message, a hint, and where it belongs."""


class VlmLabError(Exception):
    """A condition that a person can understand and change.

    Args:
        message: what happened, one sentence, no internals.
        hint: what to do about it; may be empty.
        field: the form field or configuration key it belongs to, if any.
    """

    def __init__(self, message: str, *, hint: str = "", field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.field = field

    def __str__(self) -> str:
        """Return the message and the hint as one line."""
        return f"{self.message} {self.hint}".strip()


class ConfigError(VlmLabError):
    """A stored or submitted setting is out of range or unknown."""


class ConceptError(VlmLabError):
    """A concept id is unknown, or a concept set is not valid in its domain."""


class GenerationError(VlmLabError):
    """A scene could not be made; never a failure of the system under test.

    Attributes:
        cost_usd: what was paid in vain.
        n_refusals: how often a provider refused to draw it.
    """

    cost_usd: float = 0.0
    n_refusals: int = 0


class SourceAwayError(GenerationError):
    """What makes pictures is away or refuses everything: no scene at all can be made until a person acts.

    A run waits for it; told to the search as scenes that cannot be drawn, it would use up concept sets.
    """


class DrawingStoppedError(SourceAwayError):
    """The worker was asked to stop before a picture came; it is asked for again later."""


class SutError(VlmLabError):
    """A system under test cannot be registered, loaded or reached."""


class ImageError(VlmLabError):
    """An image file is refused: format, size, or damage."""
