"""The Celery application: messages are only wake-ups, the run table is the truth."""

import os

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlmlab.settings")

PUBLISH_TIMEOUT_SECONDS = 2.0

app = Celery("vlmlab")
app.conf.update(
    broker_url=settings.BROKER_URL or None,
    # A message that is lost or doubled costs seconds, never results: no late acknowledgement, no result
    # backend, JSON only, arguments are ids.
    task_acks_late=False,
    task_ignore_result=True,
    result_backend=None,
    task_serializer="json",
    accept_content=["json"],
    task_default_queue="cpu",
    worker_prefetch_multiplier=1,
    worker_disable_prefetch=True,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        "socket_timeout": PUBLISH_TIMEOUT_SECONDS,
        "socket_connect_timeout": PUBLISH_TIMEOUT_SECONDS,
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.05,
        "interval_max": 0.1,
        "visibility_timeout": 3600,
        "health_check_interval": 25,
    },
    task_publish_retry_policy={
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.05,
        "interval_max": 0.1,
    },
    timezone="UTC",
    enable_utc=True,
    imports=["searches.tasks"],
)
