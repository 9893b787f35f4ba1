"""Who works: one row a worker process, renewed by its own heartbeat."""

from django.db import models


class WorkerHeartbeat(models.Model):
    """A worker as it last reported itself (a busy solo worker cannot answer Celery's inspection)."""

    owner = models.CharField(max_length=120, primary_key=True)
    host = models.CharField(max_length=120)
    pid = models.PositiveIntegerField()
    queues = models.JSONField(default=list)
    device = models.CharField(max_length=40, blank=True)
    mode = models.CharField(max_length=16, default="poll")
    loaded_sut = models.CharField(max_length=64, blank=True)
    run_id = models.BigIntegerField(null=True, blank=True)
    job_id = models.CharField(max_length=40, blank=True)
    rss_mb = models.FloatField(default=0.0)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)
    n_batches = models.PositiveIntegerField(default=0)
    is_stopping = models.BooleanField(default=False)

    class Meta:
        ordering = ["host", "pid"]

    def __str__(self) -> str:
        return self.owner
