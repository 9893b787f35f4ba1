"""Runs that one process works on from start to end: claimed before any worker can see them."""

from django.db import transaction

from searches.enums import CONCEPT_METHOD, MODALITY_METHOD, RunState
from searches.models import SearchRun, SutRecord
from searches.services.domain_store import find_domain
from searches.services.leases import Lease, take_lease
from searches.services.owners import this_owner
from searches.services.runs import create_campaign, resume_run
from searches.services.shell_work import free_the_dead
from searches.services.source_checks import check_launch
from searches.services.wanted_confirmations import WantedConfirmation
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.config import RevelioConfig


def claim_new_run(
    *,
    sut_slug: str,
    domain_slug: str,
    config: RevelioConfig,
    run_seed: int,
    name: str,
    confirm: WantedConfirmation | None = None,
) -> Lease:
    """Store a campaign of one run and claim it in the same transaction; ``confirm``: see ``runs``.

    Raises:
        VlmLabError: the system is not registered, or the search is not possible.
    """
    sut = SutRecord.objects.filter(slug=sut_slug).first()
    if sut is None:
        known = ", ".join(SutRecord.objects.order_by("slug").values_list("slug", flat=True)[:20])
        hint = f"Registered: {known}." if known else "Run `manage.py load_sample_data` or register one."
        raise VlmLabError(f"There is no system called “{sut_slug}”.", hint=hint, field="sut")
    check_launch(find_domain(domain_slug), config)
    with transaction.atomic():
        campaign = create_campaign(
            config=config,
            suts=[sut],
            domain_slug=domain_slug,
            name=name,
            run_seed=run_seed,
            by=None,
            confirm=confirm,
        )
        run = campaign.runs.get()
        lease = take_lease(this_owner(), [run.queue], run_id=run.pk)
    if lease is None:
        raise RuntimeError(f"run {run.pk} was claimed before it was visible")
    return lease


def claim_old_run(run_id: int) -> Lease:
    """Queue a halted run again if need be, and claim it.

    Raises:
        VlmLabError: there is no such run, it has ended, or another worker has it.
    """
    free_the_dead()
    run = SearchRun.objects.select_related("campaign").filter(pk=run_id).first()
    if run is None:
        raise VlmLabError(f"There is no run {run_id}.", hint="Look at the list of runs.", field="resume")
    if run.campaign.method == MODALITY_METHOD:
        raise VlmLabError(
            f"Run {run_id} is one of a modality campaign.",
            hint=f"Go on with all of them: --method most --resume {run.campaign_id}.",
            field="resume",
        )
    if run.campaign.method != CONCEPT_METHOD:
        raise VlmLabError(
            f"Run {run_id} is one of a follow-up.",
            hint=f"Go on with: manage.py follow_up --resume {run.campaign_id}.",
            field="resume",
        )
    with transaction.atomic():
        if run.state in (RunState.PAUSED, RunState.FAILED, RunState.CANCELLED):
            resume_run(run, by=None)
        lease = take_lease(this_owner(), [run.queue], run_id=run.pk)
    if lease is None:
        run.refresh_from_db()
        raise VlmLabError(
            f"Run {run_id} cannot be resumed: it is {run.get_state_display().lower()}.",
            hint="Another worker may have it; look at its page.",
            field="resume",
        )
    return lease
