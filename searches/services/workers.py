"""What the workers page shows: heartbeat rows, judged by the database's clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from searches.models import SearchRun, WorkerHeartbeat

FORGET_AFTER = timedelta(days=1)


@dataclass(frozen=True)
class WorkerLine:
    """One worker with the words the page shows."""

    heartbeat: WorkerHeartbeat
    state: str
    run: SearchRun | None

    @property
    def is_alive(self) -> bool:
        """Whether it reported itself within a lease's time."""
        return self.state != "silent"


def workers_now(now: datetime | None = None) -> list[WorkerLine]:
    """Return the workers of the last day: busy, idle, stopping, or silent for longer than a lease."""
    moment = now or timezone.now()
    beats = list(WorkerHeartbeat.objects.filter(seen_at__gt=moment - FORGET_AFTER))
    runs = SearchRun.objects.select_related("campaign", "sut").in_bulk(
        [beat.run_id for beat in beats if beat.run_id is not None]
    )
    limit = moment - timedelta(seconds=settings.LEASE_SECONDS)
    return [WorkerLine(beat, _state(beat, limit), runs.get(beat.run_id or 0)) for beat in beats]


def _state(beat: WorkerHeartbeat, limit: datetime) -> str:
    if beat.seen_at < limit:
        return "silent"
    if beat.is_stopping:
        return "stopping"
    return "busy" if beat.run_id is not None or beat.job_id else "idle"
