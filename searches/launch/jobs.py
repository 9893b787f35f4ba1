"""Jobs: stored, and a worker woken for them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO
from uuid import UUID

from django.db import transaction

from searches.enums import JobKind, Queue
from searches.launch.waking import wake_up
from searches.models import Dataset, Job, ModalityCase, Sample, SutRecord, User, WordTableRecord
from searches.services import (
    calibrations,
    dataset_making,
    jobs,
    modality_minimal,
    seed_imports,
    telling,
    trying,
    word_table_asking,
)
from searches.services.datasets import Recipe
from searches.services.job_queue import start_job as start_queued
from searches.services.seed_imports import SeedWish
from searches.services.trying import TryRequest
from vlmlab.core.perturb.word_tables import TableKind
from vlmlab.core.scenes.concepts import Domain


def start_job(kind: JobKind, params: Mapping[str, Any], *, by: User | None, queue: Queue = Queue.CPU) -> Job:
    """Store a job and wake a worker."""
    with transaction.atomic():
        job = start_queued(kind, params, by=by, queue=queue)
        transaction.on_commit(lambda: wake_up(queue))
    return job


def start_calibration(sut: SutRecord, *, by: User | None) -> Job:
    """Store the job that calibrates a system and wake a worker; a second click gets the first one's job.

    Raises:
        VlmLabError: the system is switched off.
    """
    with transaction.atomic():
        job = calibrations.start_calibration(sut, by=by)
        transaction.on_commit(lambda: wake_up(job.queue))
    return job


def start_telling(domain: Domain, *, by: User) -> UUID:
    """Store the jobs of a round of pictures to be named and wake a worker; returns their group."""
    with transaction.atomic():
        group = telling.start_telling(domain, by=by)
        transaction.on_commit(lambda: wake_up(Queue.CPU))
    return group


def start_comparison(suts: Sequence[SutRecord], wish: TryRequest, *, by: User) -> UUID:
    """Store a job a system that asks them all the same, wake the workers, and return the jobs' group.

    Raises:
        VlmLabError: the picture is refused, or the scene is gone.
    """
    with transaction.atomic():
        group = trying.start_comparison(suts, wish, by=by)
        for queue in sorted({sut.queue for sut in suts}):
            transaction.on_commit(partial(wake_up, queue))
    return group


def start_dataset(recipe: Recipe, *, title: str, by: User | None, slug: str = "", text: str = "") -> Dataset:
    """Store a dataset and the job that draws it, and wake a worker.

    Raises:
        ConfigError: the title is empty, or the short name is taken.
    """
    with transaction.atomic():
        dataset, job = dataset_making.start_dataset(recipe, title=title, by=by, slug=slug, text=text)
        transaction.on_commit(lambda: wake_up(job.queue))
    return dataset


def go_on_with_dataset(dataset: Dataset, *, by: User | None) -> Job:
    """Queue what is left of a dataset and wake a worker.

    Raises:
        VlmLabError: nothing is left to draw.
    """
    with transaction.atomic():
        job = dataset_making.go_on(dataset, by=by)
        transaction.on_commit(lambda: wake_up(job.queue))
    return job


def start_word_table(
    *, title: str, kind: TableKind, labels: Sequence[str], sut: SutRecord, by: User | None
) -> WordTableRecord:
    """Store a word table and the job that asks for it, and wake a worker.

    Raises:
        VlmLabError: the title is empty, or the system is switched off.
    """
    with transaction.atomic():
        table, job = word_table_asking.start_word_table(title=title, kind=kind, labels=labels, sut=sut, by=by)
        transaction.on_commit(lambda: wake_up(job.queue))
    return table


def go_on_with_word_table(table: WordTableRecord, *, by: User | None) -> Job:
    """Queue what is left to ask for a word table and wake a worker.

    Raises:
        VlmLabError: nothing is left to ask for, or the system is switched off.
    """
    with transaction.atomic():
        job = word_table_asking.go_on_asking(table, by=by)
        transaction.on_commit(lambda: wake_up(job.queue))
    return job


def start_seed_import(file: BinaryIO, wish: SeedWish, *, name: str, by: User | None) -> Dataset:
    """Keep an upload of seed images, store the job that imports it, and wake a worker.

    Raises:
        VlmLabError: the archive or the wish is refused, or the disk is full.
    """
    with transaction.atomic():
        dataset, job = seed_imports.start_import(file, wish, name=name, by=by)
        transaction.on_commit(lambda: wake_up(job.queue))
    return dataset


def redraw_sample(sample: Sample, *, by: User | None) -> Job:
    """Store the job that draws a scene again and wake a worker."""
    with transaction.atomic():
        job = jobs.redraw_job(sample, by=by)
        transaction.on_commit(lambda: wake_up(job.queue))
    return job


def minimize_case(case: ModalityCase, *, by: User | None) -> Job:
    """Store the job that makes a test case minimal and wake a worker.

    Raises:
        VlmLabError: see ``modality_minimal.start_minimal``.
    """
    with transaction.atomic():
        job = modality_minimal.start_minimal(case, by=by)
        transaction.on_commit(lambda: wake_up(job.queue))
    return job
