"""The Celery application: messages are only wake-ups, the run table is the truth."""

import os
from typing import Any

from celery import Celery
from celery.beat import EmbeddedService
from celery.signals import worker_init, worker_ready, worker_shutting_down
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlmlab.settings")

# A page that publishes must not hang on a broker that does; a worker waits for messages much longer.
PUBLISH_TIMEOUT_SECONDS = 1.0  # tried twice
WORKER_TIMEOUT_SECONDS = 30.0

TRANSPORT_OPTIONS: dict[str, Any] = {
    "socket_timeout": PUBLISH_TIMEOUT_SECONDS,
    "socket_connect_timeout": PUBLISH_TIMEOUT_SECONDS,
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.05,
    "interval_max": 0.1,
    "visibility_timeout": 3600,
    "health_check_interval": 25,
}

app = Celery("vlmlab")
app.conf.update(
    broker_url=settings.BROKER_URL or None,
    # A message that is lost or doubled costs seconds, never results. No late acknowledgement: it would start
    # a long task several times. No result backend; JSON only; arguments are ids.
    task_acks_late=False,
    task_ignore_result=True,
    task_store_errors_even_if_ignored=False,
    task_serializer="json",
    accept_content=["json"],
    task_default_queue="cpu",
    task_publish_retry_policy={
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.05,
        "interval_max": 0.1,
    },
    worker_prefetch_multiplier=1,
    worker_disable_prefetch=True,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_send_task_events=False,
    worker_enable_remote_control=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options=TRANSPORT_OPTIONS,
    imports=["searches.tasks"],
    timezone="UTC",
    # Each task may run twice at once without harm, so two timetables are harmless too.
    beat_scheduler="celery.beat:Scheduler",
    beat_schedule={
        "reap": {
            "task": "searches.tasks.reap_task",
            "schedule": settings.REAPER_SECONDS,
            "options": {"queue": "cpu", "expires": 2 * settings.REAPER_SECONDS},
        },
        "collect garbage": {
            "task": "searches.tasks.collect_garbage_task",
            "schedule": settings.GARBAGE_SECONDS,
            "options": {"queue": "cpu", "expires": settings.GARBAGE_SECONDS},
        },
        "start canaries": {
            "task": "searches.tasks.start_canaries_task",
            "schedule": settings.CANARY_SECONDS,
            "options": {"queue": "cpu", "expires": 2 * settings.CANARY_SECONDS},
        },
    },
)

_timetable: list[EmbeddedService] = []


def _be_patient(**kwargs: Any) -> None:
    app.conf.broker_transport_options = {**TRANSPORT_OPTIONS, "socket_timeout": WORKER_TIMEOUT_SECONDS}


def _start_timetable(**kwargs: Any) -> None:
    """Run the timetable as a thread of the worker: a process of its own would cost some 60 MB."""
    if os.environ.get("VLMLAB_TIMETABLE") == "1":
        _timetable.append(EmbeddedService(app, thread=True, scheduler_cls="celery.beat:Scheduler"))
        _timetable[0].start()


def _stop_timetable(**kwargs: Any) -> None:
    for service in _timetable:
        service.stop()


worker_init.connect(_be_patient)
worker_ready.connect(_start_timetable)
worker_shutting_down.connect(_stop_timetable)
