"""Wakes a worker once a wish is committed; a dead queue delays work, it never loses any."""

import logging
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from searches.enums import RunState
from searches.models import Campaign, Experiment, SearchRun
from searches.services import experiments, modality_steering
from vlmlab.web.queue_state import queue_state

logger = logging.getLogger(__name__)


def wake_up(queue: str) -> bool:
    """Send a wake-up to a queue; False when no broker is configured or it does not answer."""
    if not settings.BROKER_URL:
        return False
    # Imported here: without a broker no page needs Celery.
    from kombu.exceptions import KombuError, OperationalError

    from searches.tasks import advance_run_task

    try:
        advance_run_task.apply_async(queue=queue, retry=False)
    except (KombuError, OperationalError, OSError) as error:
        logger.warning("the queue did not take a wake-up (the reaper sends another): %s", error)
        queue_state.note(is_taken=False)
        return False
    queue_state.note(is_taken=True)
    return True


def wake_for_run(run: SearchRun) -> None:
    """Wake a worker for a run once it is committed, and note when."""
    run_id, queue = run.pk, run.queue

    def wake() -> None:
        if wake_up(queue):
            SearchRun.objects.filter(pk=run_id).update(dispatched_at=Now())

    transaction.on_commit(wake)


def wake_for_campaign(campaign: Campaign) -> None:
    """Wake one worker a queue, not one a run: workers go on by themselves while runs wait."""
    for queue in modality_steering.queues_of(campaign):
        transaction.on_commit(partial(_wake_queue, campaign, queue))


def wake_for_experiment(experiment: Experiment) -> None:
    """Wake one worker a queue, as for a campaign."""
    waiting = experiments.experiment_runs(experiment).filter(state=RunState.QUEUED)
    for queue in sorted(waiting.order_by().values_list("queue", flat=True).distinct()):
        transaction.on_commit(partial(wake_up, queue))


def _wake_queue(campaign: Campaign, queue: str) -> None:
    if wake_up(queue):
        campaign.runs.filter(queue=queue, state=RunState.QUEUED).update(dispatched_at=Now())
