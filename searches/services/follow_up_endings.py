"""How a run of a follow-up ends: by itself, by a limit, or early; what was still open stays undetermined."""

from collections import Counter
from collections.abc import Sequence

from searches.enums import FindingState, RunState
from searches.models import FollowUpItem, SearchRun
from searches.services.endings import budget_ending
from searches.services.follow_up_live import LiveFollowUp
from vlmlab.core.verdicts.queries import FreshQuery
from vlmlab.web.numbers import write_many

BUDGET, TIME, ENDED, LEFT = "budget", "time", "ended", "exhausted"
"""Why an item that nothing settled was left: a budget, the time limit, a person, or nothing left to ask."""

STATE_WORDS = ("confirmed", "refuted", "undetermined")


def limit_ending(run: SearchRun, live: LiveFollowUp) -> tuple[str, str]:
    """Return reason and sentence for a time limit that is used up, "" while there is some left."""
    ending = budget_ending(run, live.config)
    return (TIME, ending) if ending else ("", "")


def ending_of(run: SearchRun, live: LiveFollowUp, batch: Sequence[FreshQuery]) -> tuple[str, str]:
    """Return reason and sentence for a run with nothing to ask, or no room for its next batch; else ""."""
    budget = live.config.inference_budget
    if budget is not None and run.n_inferences + max(1, len(batch)) > budget:
        allowed = write_many(budget, "inference")
        is_used = run.n_inferences >= budget
        how = "is used up" if is_used else "leaves no room for the next questions"
        return BUDGET, f"the budget of {allowed} {how}: {_outcome(live)}."
    if not batch:
        return LEFT, f"{_outcome(live)} in {write_many(run.n_inferences, 'inference')}."
    return "", ""


def close_items(run_id: int, reason: str) -> None:
    """Call what a run leaves open undetermined; asking again later opens it once more."""
    open_items = FollowUpItem.objects.filter(run_id=run_id, state="")
    open_items.update(state=FindingState.UNDETERMINED, reason=reason)


def close_early(run: SearchRun) -> None:
    """Call what a run left open undetermined where a person ended it; a failed run may still go on."""
    if run.state == RunState.CANCELLED:
        close_items(run.pk, ENDED)


def _outcome(live: LiveFollowUp) -> str:
    """Return what became of the items in words: ``2 confirmed, 1 refuted of 4 sets``."""
    states = Counter(result.state for result in live.search.results())
    words = [f"{states[word]:,} {word}" for word in STATE_WORDS if states[word]]
    n_items = write_many(len(live.items), "set")
    return f"{', '.join(words)} of {n_items}" if words else f"{n_items} asked"
