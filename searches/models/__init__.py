"""Rows of the searches app."""

from searches.models.account import User
from searches.models.audit import AuditEntry
from searches.models.calibration import Calibration, SpendDay, SutVersion
from searches.models.campaign import Campaign, Experiment
from searches.models.dataset import Dataset, DatasetPicture
from searches.models.domain import DomainRecord, DomainVersion
from searches.models.finding import Finding
from searches.models.follow_up import (
    Canary,
    CaseSample,
    Envelope,
    FamilyMember,
    FollowUpItem,
    FollowUpSource,
    Note,
    RegressionFamily,
    SceneFlag,
)
from searches.models.job import Job
from searches.models.keys import ApiKey, ApiToken
from searches.models.modality import CleanAnswer, Evaluation, ModalityCase, ModalityRun
from searches.models.naming import ConceptNaming
from searches.models.picture_source import PictureSource
from searches.models.run import RunEvent, Sample, SearchRun, Trial
from searches.models.storage import Blob, CachedReply
from searches.models.sut import SutRecord
from searches.models.word_table import WordTableRecord
from searches.models.worker import WorkerHeartbeat

__all__ = [
    "ApiKey",
    "ApiToken",
    "AuditEntry",
    "Blob",
    "CachedReply",
    "Calibration",
    "Campaign",
    "Canary",
    "CaseSample",
    "CleanAnswer",
    "ConceptNaming",
    "Dataset",
    "DatasetPicture",
    "DomainRecord",
    "DomainVersion",
    "Envelope",
    "Evaluation",
    "Experiment",
    "FamilyMember",
    "Finding",
    "FollowUpItem",
    "FollowUpSource",
    "Job",
    "ModalityCase",
    "ModalityRun",
    "Note",
    "PictureSource",
    "RegressionFamily",
    "RunEvent",
    "Sample",
    "SceneFlag",
    "SearchRun",
    "SpendDay",
    "SutRecord",
    "SutVersion",
    "Trial",
    "User",
    "WordTableRecord",
    "WorkerHeartbeat",
]
