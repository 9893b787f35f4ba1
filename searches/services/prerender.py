"""The render farm: other workers draw scenes of this batch from its end, and of the next one, into the cache.

Scenes are pure functions of (back end, concepts, seed), so drawing one twice or in vain is never wrong: the
cache is the only thing that workers share, and a run goes on without any of them.
"""

import logging
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import DatabaseError, connection, transaction
from django.db.models import QuerySet

from searches.enums import JobKind, Queue
from searches.models import Job, SearchRun
from searches.services.domain_store import find_domain
from searches.services.leases import JobLease, own_job
from searches.services.live_scenes import LiveScenes, QueryT
from searches.services.navigation import alive_workers
from searches.services.scene_sources import scene_source
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.scene import DrawsAhead

logger = logging.getLogger(__name__)

BATCHES_AHEAD = 4
WORKERS_KNOWN_SECONDS = 5.0
NAMESPACE = uuid.UUID("6f0c1d1e-8f0f-4f2c-9a53-6e7a6d1f2b11")


@dataclass
class _Known:
    """How many workers draw ahead, as last seen."""

    count: int = 0
    seen_at: float = float("-inf")


_known = _Known()


def renderers() -> int:
    """Return how many workers serve the rendering queue; looked up every few seconds."""
    if time.monotonic() - _known.seen_at > WORKERS_KNOWN_SECONDS:
        serving = alive_workers().values_list("queues", flat=True)
        _known.count = sum(Queue.RENDER.value in queues for queues in serving)
        _known.seen_at = time.monotonic()
    return _known.count


def forget_renderers() -> None:
    """Look the rendering workers up again at the next question."""
    _known.seen_at = float("-inf")


def share_batch(run: SearchRun, live: LiveScenes[QueryT], queries: Sequence[QueryT]) -> None:
    """Let rendering workers draw a batch from its end, while this worker begins at its front."""
    _replace(run, live, tuple(reversed(queries)), keep_first=1)


def draw_ahead(run: SearchRun, live: LiveScenes[QueryT]) -> None:
    """Let rendering workers draw what the search will probably ask after its pending batch."""
    if renderers():
        _replace(run, live, live.ahead(BATCHES_AHEAD * live.config.slots))


def withdraw(run_id: int) -> None:
    """Take back what rendering workers were to draw for a run; whoever is at it stops after its scene.

    A database that does not answer is no trouble: the reaper takes old wishes away.
    """
    try:
        _wishes(run_id).delete()
    except DatabaseError as error:
        logger.warning("run %s: what was to be drawn ahead stays for a while: %s", run_id, error)
        connection.close()


def _wishes(run_id: int) -> QuerySet[Job]:
    return Job.objects.filter(kind=JobKind.PRERENDER, group=_group(run_id))


def prerender(job: Job) -> dict[str, int]:
    """Draw the scenes of a job into the cache until they are done or the job is withdrawn.

    A scene that cannot be made is left to the run, which records why.
    """
    params, lease = job.params, JobLease(str(job.pk), job.attempts, job.owner)
    domain = find_domain(params["domain"])
    source = scene_source(domain, params["backend"], width=int(params["width"]), height=int(params["height"]))
    drawn = 0
    if not isinstance(source, DrawsAhead):
        return {"drawn": 0}
    for concepts, seed in params["scenes"]:
        if not own_job(lease).exists():
            break
        key = tuple(concepts)
        if source.is_kept(key, seed=int(seed)):
            continue
        try:
            source.generate(key, seed=int(seed))
            drawn += 1
        except VlmLabError as error:
            logger.info("not drawn ahead: %s", error.message)
    return {"drawn": drawn}


def _replace(
    run: SearchRun, live: LiveScenes[QueryT], queries: Sequence[QueryT], *, keep_first: int = 0
) -> None:
    """Store one job for each rendering worker in place of those of this run that are left."""
    count, config = renderers(), live.config
    if not count:
        return
    source = scene_source(live.domain, config.backend, width=config.image_width, height=config.image_height)
    if not isinstance(source, DrawsAhead):
        return
    wanted = [live.scene_of(query, run_seed=run.run_seed) for query in queries]
    missing = [[list(key), seed] for key, seed in dict.fromkeys(wanted) if not source.is_kept(key, seed=seed)]
    if len(missing) <= keep_first:
        return
    common = {
        "domain": live.domain.ref,
        "backend": config.backend,
        "width": config.image_width,
        "height": config.image_height,
    }
    jobs = [
        Job(
            kind=JobKind.PRERENDER,
            queue=Queue.RENDER,
            group=_group(run.pk),
            params={**common, "scenes": missing[number::count]},
        )
        for number in range(min(count, len(missing)))
    ]
    try:
        with transaction.atomic():
            _wishes(run.pk).delete()
            Job.objects.bulk_create(jobs)
    except DatabaseError as error:  # nobody draws ahead then; the run itself must not suffer
        logger.warning("run %s: nothing is drawn ahead: %s", run.pk, error)


def _group(run_id: int) -> uuid.UUID:
    return uuid.uuid5(NAMESPACE, str(run_id))
