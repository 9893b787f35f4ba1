"""Why a run ends by itself or halts, as sentences for people."""

from searches.enums import Verdict
from searches.models import SearchRun
from searches.services.live import LiveSearch
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.web.numbers import write_many

MAX_FRUITLESS_BATCHES = 3


def budget_ending(run: SearchRun, config: RevelioConfig) -> str:
    """Return the sentence for a time or money budget that is used up, "" while there is some left.

    The time limit is the search's: a person who has failed calls asked again gets them asked.
    """
    is_timed = config.wall_clock_budget_s is not None and not run.is_retrying_call_errors
    if is_timed and run.active_seconds >= (config.wall_clock_budget_s or 0):
        return f"the time limit of {config.wall_clock_budget_s:g} s is reached."
    if config.spend_cap_usd is not None and run.spend_usd >= config.spend_cap_usd:
        return f"the spending limit of {config.spend_cap_usd:g} US dollars is reached."
    return ""


def natural_ending(run: SearchRun, live: LiveSearch) -> str:
    """Return the sentence for a search that has nothing left to ask."""
    modes = write_many(run.n_modes, "failure mode")
    if live.search.observations >= live.config.inference_budget:
        return f"the budget of {write_many(live.config.inference_budget, 'inference')} is used up: {modes}."
    spent = write_many(run.n_inferences, "inference")
    return f"the search has nothing more to ask within its budget: {modes} in {spent}."


def outage_of(run: SearchRun) -> VlmLabError | None:
    """Return why a run must halt because batch after batch brought no answer; None while it may go on."""
    batches = run.checkpoint.get("fruitless_batches", 0)
    if batches < MAX_FRUITLESS_BATCHES:
        return None
    last = (
        run.samples.exclude(error="").order_by("-step", "-position").values_list("error", "verdict").first()
    )
    reason, verdict = last or ("", "")
    if verdict == Verdict.INCOMPATIBLE:
        return VlmLabError(
            f"No scene of {batches} batches in a row could be drawn: {reason}",
            hint="Check that the renderer is installed on the worker, then resume.",
        )
    return VlmLabError(
        f"{run.sut.name} answered none of {batches} batches in a row: {reason}",
        hint="Repair the connection or the system, resume the run, then ask the failed calls again.",
    )
