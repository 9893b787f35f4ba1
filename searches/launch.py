"""Saves a wish and wakes a worker once it is committed; a dead queue delays work, it never loses any."""

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from searches.enums import JobKind, Queue, RunState
from searches.models import (
    Campaign,
    Canary,
    Dataset,
    Experiment,
    Job,
    ModalityCase,
    Sample,
    SearchRun,
    SutRecord,
    User,
    WordTableRecord,
)
from searches.services import (
    calibrations,
    dataset_making,
    experiments,
    follow_ups,
    jobs,
    modality_campaigns,
    modality_minimal,
    modality_steering,
    runs,
    seed_imports,
    telling,
    trying,
    word_table_asking,
)
from searches.services.datasets import Recipe
from searches.services.domain_store import find_domain
from searches.services.experiment_retests import retest_wishes
from searches.services.experiments import ExperimentWish
from searches.services.follow_ups import FollowUpWish
from searches.services.job_queue import start_job as start_queued
from searches.services.regression_wishes import regression_wish
from searches.services.seed_imports import SeedWish
from searches.services.seed_plans import SeedPlan
from searches.services.source_checks import check_launch, check_pictures
from searches.services.trying import TryRequest
from searches.services.wanted_confirmations import WantedConfirmation
from vlmlab.core.most.config import MostConfig
from vlmlab.core.perturb.word_tables import TableKind
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.scenes.concepts import Domain
from vlmlab.web.queue_state import queue_state

logger = logging.getLogger(__name__)


def start_campaign(
    *,
    config: RevelioConfig,
    suts: Sequence[SutRecord],
    domain_slug: str,
    name: str,
    run_seed: int,
    by: User | None,
    cloned_from: SearchRun | None = None,
    finds_twin: bool = True,
    confirm: WantedConfirmation | None = None,
) -> Campaign:
    """Store a campaign and wake a worker for each of its runs; a second click finds the first one's campaign.

    ``finds_twin`` is False for a program that says by itself which of its requests are one and the same.
    With ``confirm`` what is found is confirmed once the last run has ended.

    Raises:
        VlmLabError: see ``runs.create_campaign``, or its pictures cannot be had.
    """
    check_launch(find_domain(domain_slug), config)  # may connect, so it stands outside the transaction
    with transaction.atomic():
        twin = runs.just_started(
            config=config,
            suts=suts,
            domain_slug=domain_slug,
            name=name,
            run_seed=run_seed,
            by=by,
            confirm=confirm,
        )
        if finds_twin and twin is not None:
            return twin
        campaign = runs.create_campaign(
            config=config,
            suts=suts,
            domain_slug=domain_slug,
            name=name,
            run_seed=run_seed,
            by=by,
            cloned_from=cloned_from,
            confirm=confirm,
        )
        for run in campaign.runs.all():
            _wake_for_run(run)
    return campaign


def resume_run(run: SearchRun, *, by: User | None) -> None:
    """Queue a halted run again and wake a worker.

    Raises:
        VlmLabError: it is not halted.
    """
    with transaction.atomic():
        runs.resume_run(run, by=by)
        _wake_for_run(run)


def raise_limit(run: SearchRun, *, new_limit: float | None, by: User | None) -> None:
    """Give a run that its spending limit halted a new one, queue it again and wake a worker.

    Raises:
        VlmLabError: it is not halted by spending, or the limit leaves no room for the next batch.
    """
    with transaction.atomic():
        runs.raise_limit(run, new_limit=new_limit, by=by)
        _wake_for_run(run)


def retry_call_errors(run: SearchRun, *, by: User | None) -> None:
    """Queue the failed calls of a run again and wake a worker.

    Raises:
        VlmLabError: it has none, or is at work.
    """
    with transaction.atomic():
        runs.retry_call_errors(run, by=by)
        _wake_for_run(run)


def start_modality_campaign(
    config: MostConfig,
    plan: SeedPlan,
    *,
    suts: Sequence[SutRecord],
    dataset: Dataset,
    name: str,
    by: User | None,
) -> Campaign:
    """Store a modality campaign and wake its workers; a second click finds the first one's campaign.

    Raises:
        VlmLabError: see ``modality_campaigns.create_modality_campaign``.
    """
    wish: dict[str, Any] = {"suts": suts, "dataset": dataset, "name": name, "by": by}
    with transaction.atomic():
        twin = modality_campaigns.just_started(config, plan, **wish)
        if twin is not None:
            return twin
        campaign = modality_campaigns.create_modality_campaign(config, plan, **wish)
        _wake_for_campaign(campaign)
    return campaign


def start_follow_up(wish: FollowUpWish, *, by: User | None) -> Campaign:
    """Store a follow-up and wake its workers; a second click within a minute finds the first one's.

    Raises:
        VlmLabError: see ``follow_ups.create_follow_up``, or its pictures cannot be had.
    """
    if wish.domain_ref and wish.keys:
        domain = find_domain(wish.domain_ref)
        shown = {concept for key in wish.keys for concept in key}
        without = [concept.id for concept in domain.concepts if concept.id not in shown]
        check_pictures(domain, wish.config, without=without)  # may connect: outside the transaction
    with transaction.atomic():
        twin = follow_ups.just_started(wish, by=by)
        if twin is not None:
            return twin
        campaign = follow_ups.create_follow_up(wish, by=by)
        _wake_for_campaign(campaign)
    return campaign


def start_experiment(wish: ExperimentWish, *, by: User | None) -> Experiment:
    """Store an experiment with all its campaigns and wake workers; a second click finds the first one's.

    Raises:
        VlmLabError: see ``experiments.create_experiment``, or its pictures cannot be had.
    """
    domain = find_domain(wish.spec.domain)
    by_size = {arm.config.max_set_size: arm.config for arm in wish.spec.arms}
    for config in by_size.values():  # may connect, so it stands outside the transaction
        check_launch(domain, config)
    with transaction.atomic():
        twin = experiments.just_started(wish, by=by)
        if twin is not None:
            return twin
        experiment = experiments.create_experiment(wish, by=by)
        _wake_for_experiment(experiment)
    return experiment


def start_retests(experiment: Experiment, *, by: User | None) -> list[Campaign]:
    """Store the published re-test of every campaign of an experiment that is ready for it.

    Raises:
        VlmLabError: see ``experiment_retests.retest_wishes``.
    """
    return [start_follow_up(wish, by=by) for wish in retest_wishes(experiment)]


def resume_experiment(experiment: Experiment, *, by: User | None) -> int:
    """Queue the halted runs of an experiment again, wake their workers, and return how many they are.

    Raises:
        VlmLabError: none is halted.
    """
    with transaction.atomic():
        moved = experiments.resume_experiment(experiment, by=by)
        _wake_for_experiment(experiment)
    return moved


def start_canary(canary: Canary, *, by: User | None) -> Campaign:
    """Start the regression of a canary now; its rhythm stays.

    Raises:
        VlmLabError: see ``regression_wishes.regression_wish`` and ``start_follow_up``.
    """
    campaign = start_follow_up(regression_wish(canary.family, candidate=canary.sut), by=by)
    Canary.objects.filter(pk=canary.pk).update(last_campaign=campaign, last_error="")
    return campaign


def resume_modality_campaign(campaign: Campaign, *, by: User | None) -> int:
    """Queue the halted runs of a modality campaign again, wake their workers, and return how many they are.

    Raises:
        VlmLabError: none is halted.
    """
    with transaction.atomic():
        moved = modality_steering.resume_campaign(campaign, by=by)
        _wake_for_campaign(campaign)
    return moved


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


def _wake_for_run(run: SearchRun) -> None:
    run_id, queue = run.pk, run.queue

    def wake() -> None:
        if wake_up(queue):
            SearchRun.objects.filter(pk=run_id).update(dispatched_at=Now())

    transaction.on_commit(wake)


def _wake_for_campaign(campaign: Campaign) -> None:
    """Wake one worker a queue, not one a run: workers go on by themselves while runs wait."""
    for queue in modality_steering.queues_of(campaign):
        transaction.on_commit(partial(_wake_queue, campaign, queue))


def _wake_for_experiment(experiment: Experiment) -> None:
    """Wake one worker a queue, as for a campaign."""
    waiting = experiments.experiment_runs(experiment).filter(state=RunState.QUEUED)
    for queue in sorted(waiting.order_by().values_list("queue", flat=True).distinct()):
        transaction.on_commit(partial(wake_up, queue))


def _wake_queue(campaign: Campaign, queue: str) -> None:
    if wake_up(queue):
        campaign.runs.filter(queue=queue, state=RunState.QUEUED).update(dispatched_at=Now())
