"""Rows of the searches app."""

from searches.models.account import User
from searches.models.audit import AuditEntry
from searches.models.calibration import Calibration, SpendDay, SutVersion
from searches.models.campaign import Campaign
from searches.models.finding import Finding
from searches.models.job import Job
from searches.models.keys import ApiKey, ApiToken
from searches.models.run import RunEvent, Sample, SearchRun, Trial
from searches.models.storage import Blob, CachedReply
from searches.models.sut import SutRecord
from searches.models.worker import WorkerHeartbeat

__all__ = [
    "ApiKey",
    "ApiToken",
    "AuditEntry",
    "Blob",
    "CachedReply",
    "Calibration",
    "Campaign",
    "Finding",
    "Job",
    "RunEvent",
    "Sample",
    "SearchRun",
    "SpendDay",
    "SutRecord",
    "SutVersion",
    "Trial",
    "User",
    "WorkerHeartbeat",
]
