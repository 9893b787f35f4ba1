"""Celery tasks: each fetches nothing but ids and calls one service; a lost message costs seconds."""

from threading import Event
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down

import vlmlab.celery  # noqa: F401 - makes our application the one that these tasks publish through
from searches.enums import Queue
from searches.services.canaries import start_due_canaries
from searches.services.garbage import collect_garbage
from searches.services.owners import this_owner
from searches.services.presence import presence
from searches.services.reaper import reap, release_dead_local_owners
from searches.services.work import has_work, work_once

stopping = Event()
"""Set when the worker is asked to stop: the slice in hand ends after its batch."""

served: set[str] = set()
"""The queues of this worker. It looks at all, whichever woke it: a job does not wait for a whole run."""


def queue_of_task(task: object) -> str:
    """Return the queue a message came through, which tells what this worker can do."""
    delivery = getattr(getattr(task, "request", None), "delivery_info", None) or {}
    queue = delivery.get("routing_key", "")
    return queue if queue in Queue.values else Queue.CPU.value


@shared_task(bind=True, acks_late=False, ignore_result=True, max_retries=0)
def advance_run_task(self: object, run_id: int | None = None) -> None:
    """Do a slice of the oldest work of this worker, then pass one baton; the id is only for the log."""
    woken = queue_of_task(self)
    queues = [woken, *sorted(served - {woken})]
    if not work_once(this_owner(), queues, should_stop=stopping.is_set):
        return
    for queue in queues:
        if has_work([queue]):
            advance_run_task.apply_async(queue=queue)
            return


@shared_task(acks_late=False, ignore_result=True, max_retries=0)
def reap_task() -> None:
    """Repair what dead workers left, and wake the queues where work waits unannounced."""
    for queue in sorted(reap().queues):
        advance_run_task.apply_async(queue=queue)


@shared_task(acks_late=False, ignore_result=True, max_retries=0)
def collect_garbage_task() -> None:
    """Delete old jobs, and pictures that nothing names any more."""
    collect_garbage()


@shared_task(acks_late=False, ignore_result=True, max_retries=0)
def start_canaries_task() -> None:
    """Start the regressions that are due, and wake the queues that they wait in."""
    for queue in sorted({run.queue for campaign in start_due_canaries() for run in campaign.runs.all()}):
        advance_run_task.apply_async(queue=queue)


def _announce(sender: Any = None, **kwargs: Any) -> None:
    queues = sorted(sender.app.amqp.queues.consume_from) if sender is not None else []
    served.update(queue for queue in queues if queue in Queue.values)
    release_dead_local_owners()
    presence.announce(this_owner(), queues=queues, mode="celery")
    for queue in sorted(reap().queues):
        advance_run_task.apply_async(queue=queue)


def _stop(**kwargs: Any) -> None:
    stopping.set()
    presence.is_stopping = True


def _retire(**kwargs: Any) -> None:
    presence.retire()


worker_ready.connect(_announce)
worker_shutting_down.connect(_stop)
worker_shutdown.connect(_retire)
