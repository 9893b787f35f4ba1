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
