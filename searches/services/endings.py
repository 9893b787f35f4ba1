"""Why a run ends by itself or halts, as sentences for people."""

from collections.abc import Callable, Sequence

from searches.enums import Verdict
from searches.models import SearchRun, SutRecord
from searches.services.live import LiveSearch
from searches.services.search_limits import SearchLimits
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.core.suts.base import SutReply
from vlmlab.core.suts.kinds import sut_kind
from vlmlab.web.numbers import write_many

MAX_FRUITLESS_BATCHES = 3
FEWEST_REFUSED_CALLS = 2
RESUME_AND_ASK = "resume the run, then ask the failed calls again."
HOPELESS = frozenset({"key", "model", "quota", "address"})
PASSING = frozenset({"connection", "timeout", "rate_limit", "overloaded", "server"})
"""Kinds of failed calls (``SutReply.failure_kind``): no call can do better, and later ones may."""


def budget_ending(run: SearchRun, config: SearchLimits) -> str:
    """Return the sentence for a time limit that is used up, "" while there is some left.

    The limit is the search's: a person who has failed calls asked again gets them asked. A spending limit
    ends no run, it pauses it (``spending``).
    """
    is_timed = config.wall_clock_budget_s is not None and not run.is_retrying_call_errors
    if is_timed and run.active_seconds >= (config.wall_clock_budget_s or 0):
        return f"the time limit of {config.wall_clock_budget_s:g} s is reached."
    return ""


def natural_ending(run: SearchRun, live: LiveSearch) -> str:
    """Return the sentence for a search that has nothing left to ask."""
    modes = write_many(run.n_modes, "failure mode")
    if live.search.observations >= live.config.inference_budget:
        return f"the budget of {write_many(live.config.inference_budget, 'inference')} is used up: {modes}."
    spent = write_many(run.n_inferences, "inference")
    return f"the search has nothing more to ask within its budget: {modes} in {spent}."


def is_refused(sut: SutRecord, sent: Sequence[SutReply]) -> bool:
    """Return whether a provider turned down a whole batch in a way that no second try would mend.

    A wrong key, address or model and a used-up quota fail every call, and each further batch would only add
    failed calls. Of the other failures, one call alone may have failed for its own picture, and a server that
    is away may come back.
    """
    if not sent or not sut_kind(sut.kind).is_remote or not all(reply.is_call_error for reply in sent):
        return False
    kinds = {reply.failure_kind for reply in sent}
    if kinds <= HOPELESS:
        return True
    is_away = bool(kinds & PASSING)
    return len(sent) >= FEWEST_REFUSED_CALLS and not is_away and all(one.n_attempts <= 1 for one in sent)


def last_failed_sample(run: SearchRun) -> tuple[str, str] | None:
    """Return error and verdict of the last sample of a run that has an error."""
    failed = run.samples.exclude(error="").order_by("-step", "-position")
    return failed.values_list("error", "verdict").first()


def outage_of(
    run: SearchRun, *, last_failed: Callable[[SearchRun], tuple[str, str] | None] = last_failed_sample
) -> VlmLabError | None:
    """Return why a run must halt because nothing gets answered; None while it may go on.

    Args:
        run: the run.
        last_failed: error and verdict of the last question that failed.
    """
    batches = run.checkpoint.get("fruitless_batches", 0)
    is_refused_now = run.checkpoint.get("is_refused", False)
    if batches < MAX_FRUITLESS_BATCHES and not is_refused_now:
        return None
    unanswered = run.checkpoint.get("unanswered_because", "")
    reason, verdict = (unanswered, "") if unanswered else last_failed(run) or ("", "")
    then = "resume the run: it asks the same again." if unanswered else RESUME_AND_ASK
    if is_refused_now:
        return VlmLabError(
            f"{run.sut.name} refused every call of the last batch: {reason}",
            hint=f"Put that right on its page, {then}",
        )
    if verdict == Verdict.INCOMPATIBLE:
        is_drawn_here = run.campaign.config.get("backend", EMBEDDED) == EMBEDDED
        return VlmLabError(
            f"No scene of {batches} batches in a row could be drawn: {reason}",
            hint="Check that the renderer is installed on the worker, then resume."
            if is_drawn_here
            else "Resume to go on with other sets, or search smaller ones that the source has pictures of.",
        )
    return VlmLabError(
        f"{run.sut.name} answered none of {batches} batches in a row: {reason}",
        hint=f"Repair the connection or the system, {then}",
    )
