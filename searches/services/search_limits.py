"""The limits that the settings of every method have, so that one rule can keep them."""

from typing import Protocol


class SearchLimits(Protocol):
    """Settings of a search that bound its money and its time."""

    @property
    def spend_cap_usd(self) -> float | None:
        """US dollars that a run may cost; None for no limit."""
        ...

    @property
    def wall_clock_budget_s(self) -> float | None:
        """Seconds of work after which a run ends; None for no limit."""
        ...


class SceneSettings(SearchLimits, Protocol):
    """Settings of whatever asks about scenes: how these are made, and how a question about one reads."""

    @property
    def backend(self) -> str:
        """What makes the pictures."""
        ...

    @property
    def image_width(self) -> int:
        """Width of the pictures in pixels."""
        ...

    @property
    def image_height(self) -> int:
        """Height of the pictures in pixels."""
        ...

    @property
    def ask_reason(self) -> bool:
        """Whether one sentence of reason is asked for."""
        ...

    @property
    def slots(self) -> int:
        """Questions asked together, about."""
        ...
