"""What people do to runs: create, end, pause, resume, copy their settings, ask the failed calls again."""

from collections.abc import Sequence
from datetime import timedelta
from math import isfinite
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from searches.enums import CONCEPT_METHOD, MODALITY_METHOD, ModalityStatus, RunState
from searches.models import CachedReply, Campaign, ModalityRun, SearchRun, SutRecord, User
from searches.services.audit import record
from searches.services.domain_store import check_usable, find_domain, keep_domain
from searches.services.modality_limits import limits_in_settings, next_batch_cost
from searches.services.run_endings import run_ended
from searches.services.run_log import log_event
from searches.services.run_states import move_run
from searches.services.spending import (
    LONGEST,
    NO_LIMIT,
    UNKNOWN_HINT,
    check_first_batch,
    run_cap_of,
)
from searches.services.wanted_confirmations import WantedConfirmation, wanted_of, with_confirmation
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.space import allowed_masks
from vlmlab.web.numbers import write_many, write_money, write_money_up

__all__ = [
    "cancel_run",
    "clone_values",
    "create_campaign",
    "just_started",
    "move_run",
    "pause_run",
    "raise_limit",
    "resume_run",
    "retry_call_errors",
]

RESUMABLE = frozenset({RunState.PAUSED, RunState.FAILED, RunState.CANCELLED})
RETRIABLE = RESUMABLE | {RunState.SUCCEEDED}
MAX_RUN_SEED = 2**63 - 1
MAX_NAME = 120
SENT_TWICE_WITHIN = timedelta(seconds=10)
FRESH_START: dict[str, object] = {"fruitless_batches": 0, "is_refused": False, "unanswered_because": ""}
"""What a resumed run forgets of its checkpoint: why nobody answered before it was halted."""


@transaction.atomic
def create_campaign(
    *,
    config: RevelioConfig,
    suts: Sequence[SutRecord],
    domain_slug: str,
    name: str,
    run_seed: int,
    by: User | None,
    method: str = "revelio",
    cloned_from: SearchRun | None = None,
    confirm: WantedConfirmation | None = None,
) -> Campaign:
    """Store a wish: one queued run for each system.

    With ``confirm`` what they find is confirmed once the last of them has ended.

    Raises:
        VlmLabError: no system is chosen, one is switched off, the domain is unknown, nothing is left to
            search under this configuration, the name is too long, or the seed is out of range.
    """
    domain = find_domain(domain_slug)
    check_usable(domain)
    config, plan = with_confirmation(config, confirm)
    _check_wish(suts, name=name, run_seed=run_seed)
    allowed_masks(domain, config)
    for sut in suts:
        check_first_batch(sut, config, domain=domain)
    keep_domain(domain, by_id=by.pk if by else None)
    campaign = Campaign.objects.create(
        name=name,
        method=method,
        domain=domain.slug,
        domain_version=domain.version,
        config=config.model_dump(mode="json"),
        plan=plan,
        created_by=by,
    )
    watermark = CachedReply.objects.aggregate(last=Max("id"))["last"] or 0
    for sut in suts:
        run = SearchRun.objects.create(
            campaign=campaign,
            sut=sut,
            queue=sut.queue,
            run_seed=run_seed,
            cache_watermark=watermark,
            created_by=by,
            cloned_from=cloned_from,
        )
        log_event(run.pk, f"Queued for {sut.name} on {domain.title}.")
        record(by, "started", run, after={"sut": sut.slug, "run_seed": run_seed, "config": campaign.config})
    return campaign


def _check_wish(suts: Sequence[SutRecord], *, name: str, run_seed: int) -> None:
    if not suts:
        raise VlmLabError("No system is chosen.", hint="Choose at least one.", field="suts")
    for sut in suts:
        if not sut.is_enabled:
            raise VlmLabError(
                f"{sut.name} is switched off.", hint="Switch it on again on its page first.", field="suts"
            )
    if not 0 <= run_seed <= MAX_RUN_SEED:
        raise VlmLabError(f"The run seed must be between 0 and {MAX_RUN_SEED}.", field="run_seed")
    if len(name) > MAX_NAME or "\x00" in name:
        raise VlmLabError(f"The name must have at most {MAX_NAME} printable characters.", field="name")


def just_started(
    *,
    config: RevelioConfig,
    suts: Sequence[SutRecord],
    domain_slug: str,
    name: str,
    run_seed: int,
    by: User | None,
    confirm: WantedConfirmation | None = None,
) -> Campaign | None:
    """Return the very same campaign if this person started it a moment ago: a form that was sent twice.

    Two requests at once take turns at the row of the person.
    """
    if by is None:
        return None
    User.objects.select_for_update().get(pk=by.pk)
    recent = Campaign.objects.filter(
        created_by=by, domain=domain_slug, name=name, created_at__gt=timezone.now() - SENT_TWICE_WITHIN
    )
    wanted = {(sut.pk, run_seed) for sut in suts}
    config, plan = with_confirmation(config, confirm)
    for campaign in recent.order_by("-pk")[:5]:
        is_same = campaign.config == config.model_dump(mode="json") and campaign.plan == plan
        if is_same and set(campaign.runs.values_list("sut_id", "run_seed")) == wanted:
            return campaign
    return None


@transaction.atomic
def cancel_run(run: SearchRun, *, by: User | None) -> None:
    """End a run for good: at once when nobody works on it, else after the batch in hand.

    Raises:
        VlmLabError: the run has ended already.
    """
    if move_run(run.pk, frm=(RunState.QUEUED, RunState.PAUSED), to=RunState.CANCELLED):
        log_event(run.pk, "Ended early.")
        run_ended(run.pk)
    elif move_run(run.pk, frm=RunState.RUNNING, to=RunState.CANCELLING):
        log_event(run.pk, "Asked to end; the batch in hand is finished first.")
    else:
        run.refresh_from_db()
        if run.state in (RunState.CANCELLING, RunState.CANCELLED):
            return
        raise _too_late(run, "ended")
    record(by, "ended", run, before={"state": run.state})


@transaction.atomic
def pause_run(run: SearchRun, *, by: User | None) -> None:
    """Halt a run; a batch in hand is still kept.

    Raises:
        VlmLabError: the run is neither queued nor running.
    """
    if not move_run(run.pk, frm=(RunState.QUEUED, RunState.RUNNING), to=RunState.PAUSED, error="", hint=""):
        run.refresh_from_db()
        if run.state == RunState.PAUSED:
            return
        raise _too_late(run, "paused")
    log_event(run.pk, "Paused.")
    record(by, "paused", run, before={"state": run.state})


@transaction.atomic
def resume_run(run: SearchRun, *, by: User | None) -> None:
    """Queue a paused, failed or cancelled run again; it goes on where it was.

    Raises:
        VlmLabError: the run is in another state.
    """
    _requeue(run, allowed=RESUMABLE, by=by, verb="resumed", text="Resumed.")


@transaction.atomic
def raise_limit(run: SearchRun, *, new_limit: float | None, by: User | None) -> None:
    """Give a run that its spending limit halted a new one, and queue it again.

    Args:
        run: the run.
        new_limit: US dollars that it may cost in all; None takes the limit away.
        by: who answers for it.

    Raises:
        VlmLabError: the run is not halted by spending, or the limit leaves no room for the next batch.
    """
    if not run.is_halted_by_spending or run.state != RunState.PAUSED:
        raise VlmLabError(
            "No spending limit holds this run.", hint="Reload the page to see what happened meanwhile."
        )
    before = run_cap_of(run, limits_in_settings(run))
    if new_limit is not None:
        _check_new_limit(run, new_limit)
    stored = NO_LIMIT if new_limit is None else new_limit
    _requeue(
        run,
        allowed=frozenset({RunState.PAUSED}),
        by=by,
        verb="resumed",
        text="Resumed without a spending limit."
        if new_limit is None
        else f"Resumed with a spending limit of {write_money(new_limit)}.",
        spend_cap_usd=stored,
    )
    record(
        by,
        "changed the spending limit of",
        run,
        before={"spend_cap_usd": before},
        after={"spend_cap_usd": new_limit},
    )


@transaction.atomic
def retry_call_errors(run: SearchRun, *, by: User | None) -> None:
    """Queue a halted or finished run so that only its failed calls are asked again.

    A run that had not finished halts again afterwards: its search goes on, and spends, only when a person
    resumes it.

    A modality search asks failed calls again by itself; it starts over where not even its clean input was
    answered.

    Raises:
        VlmLabError: the run has no failed calls, or is at work.
    """
    if run.campaign.method == MODALITY_METHOD:
        _ask_clean_again(run, by=by)
        return
    if run.campaign.method != CONCEPT_METHOD:
        raise VlmLabError(
            "A follow-up asks new scenes in place of failed calls by itself.",
            hint="Resume the run if it is halted; else there is nothing left to ask.",
        )
    if run.n_call_errors == 0:
        raise VlmLabError("This run has no failed calls.", hint="There is nothing to ask again.")
    text = f"{write_many(run.n_call_errors, 'failed call is,failed calls are')} asked again."
    _requeue(run, allowed=RETRIABLE, by=by, verb="retried", text=text, is_retrying_call_errors=True)


def clone_values(run: SearchRun) -> dict[str, Any]:
    """Return the form values that would start the same search again."""
    wanted = wanted_of(run.campaign.plan)
    budget = run.campaign.config.get("inference_budget")
    again = {} if wanted is None else {"confirm": wanted.mode, "confirm_share": wanted.share}
    if wanted is not None and wanted.mode == "share" and budget is not None:
        again["inference_budget"] = budget + (wanted.inference_budget or 0)
    return {
        **run.campaign.config,
        **again,
        "name": f"{run.campaign.name} (copy)"[:120],
        "method": run.campaign.method,
        "domain": run.campaign.domain,
        "suts": [run.sut_id],
        "run_seed": run.run_seed,
    }


def _check_new_limit(run: SearchRun, new_limit: float) -> None:
    """Refuse a limit under which the next batch would not fit.

    Raises:
        VlmLabError: it is not above what is spent, or too close to it.
    """
    if not isfinite(new_limit) or new_limit <= run.spend_usd:
        raise VlmLabError(
            f"Enter more than the {write_money(run.spend_usd)} that are spent already.",
            hint="Leave it empty for no limit.",
            field="new_limit",
        )
    batch = next_batch_cost(run)
    if batch is None:
        raise VlmLabError(
            f"The price of {run.sut.name} is unknown, so a spending limit cannot be kept.",
            hint=UNKNOWN_HINT,
            field="new_limit",
        )
    if new_limit < run.spend_usd + batch:
        raise VlmLabError(
            f"{write_money(run.spend_usd)} are spent; the next batch may cost up to {write_money(batch)} "
            f"{LONGEST}.",
            hint=f"Enter at least {write_money_up(run.spend_usd + batch)}, or nothing for no limit.",
            field="new_limit",
        )


def _ask_clean_again(run: SearchRun, *, by: User | None) -> None:
    """Queue a modality run again that never got an answer to its clean input.

    Raises:
        VlmLabError: it got one, or is at work.
    """
    place = ModalityRun.objects.select_for_update().get(run=run)
    if place.clean_answer_id is not None or run.n_call_errors == 0:
        raise VlmLabError(
            "A modality search asks failed calls again by itself.",
            hint="Resume the run if it is halted; else there is nothing left to ask.",
        )
    checkpoint = SearchRun.objects.values_list("checkpoint", flat=True).get(pk=run.pk)
    SearchRun.objects.filter(pk=run.pk).update(checkpoint=dict(checkpoint) | {"clean_failures": 0})
    text = "The question without a perturbation is asked again."
    _requeue(run, allowed=RETRIABLE, by=by, verb="retried", text=text)
    ModalityRun.objects.filter(pk=place.pk).update(status=ModalityStatus.UNFINISHED)


def _requeue(
    run: SearchRun, *, allowed: frozenset[RunState], by: User | None, verb: str, text: str, **values: Any
) -> None:
    checkpoint, state = SearchRun.objects.values_list("checkpoint", "state").get(pk=run.pk)
    halts = bool(values.get("is_retrying_call_errors")) and state != RunState.SUCCEEDED
    moved = move_run(
        run.pk,
        frm=allowed,
        to=RunState.QUEUED,
        stalls=0,
        error="",
        hint="",
        error_reference="",
        ending="",
        dispatched_at=None,
        checkpoint=dict(checkpoint) | FRESH_START | {"retried_up_to": 0, "halts_after_retry": halts},
        **values,
    )
    if not moved:
        raise _too_late(run, verb)
    log_event(run.pk, text)
    record(by, verb, run, before={"state": run.state})


def _too_late(run: SearchRun, verb: str) -> VlmLabError:
    run.refresh_from_db()
    return VlmLabError(
        f"The run cannot be {verb}: it is {run.get_state_display().lower()}.",
        hint="Reload the page to see what happened meanwhile.",
    )
