"""The log of a run: one line for each thing a person wants to know afterwards."""

from collections.abc import Sequence

from searches.models import RunEvent


def log_event(run_id: int, text: str, *, level: str = "info") -> None:
    """Add a line to a run's log; levels are info, warning and error."""
    RunEvent.objects.create(run_id=run_id, text=text, level=level)


def log_events(run_id: int, lines: Sequence[str]) -> None:
    """Add several lines at once."""
    RunEvent.objects.bulk_create([RunEvent(run_id=run_id, text=line) for line in lines])
