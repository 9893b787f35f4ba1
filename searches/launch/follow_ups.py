"""What is asked after a search, and searches side by side: stored, and workers woken for them."""

from django.db import transaction

from searches.launch.waking import wake_for_campaign, wake_for_experiment
from searches.models import Campaign, Canary, Experiment, User
from searches.services import experiments, follow_ups
from searches.services.domain_store import find_domain
from searches.services.experiment_retests import retest_wishes
from searches.services.experiments import ExperimentWish
from searches.services.follow_ups import FollowUpWish
from searches.services.regression_wishes import regression_wish
from searches.services.source_checks import check_launch, check_pictures


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
        wake_for_campaign(campaign)
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
        wake_for_experiment(experiment)
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
        wake_for_experiment(experiment)
    return moved


def start_canary(canary: Canary, *, by: User | None) -> Campaign:
    """Start the regression of a canary now; its rhythm stays.

    Raises:
        VlmLabError: see ``regression_wishes.regression_wish`` and ``start_follow_up``.
    """
    campaign = start_follow_up(regression_wish(canary.family, candidate=canary.sut), by=by)
    Canary.objects.filter(pk=canary.pk).update(last_campaign=campaign, last_error="")
    return campaign
