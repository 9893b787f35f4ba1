"""Why a MoST run ends, as a sentence for people, and the test case that it returns."""

import math
from dataclasses import dataclass
from typing import Any

from searches.enums import AnswerKind, ModalityStatus
from searches.models import CleanAnswer, Evaluation, ModalityCase, ModalityRun, SearchRun
from searches.services.modality_cases import case_row, stored_reply
from searches.services.modality_live import LiveModality
from searches.services.strategy_bars import operator_title
from vlmlab.core.most.outcomes import ReturnedCase, ReturnReason
from vlmlab.core.most.strategy_search import MAX_CALL_ERRORS, EndReason, StrategySearch
from vlmlab.web.numbers import write_many

MAX_CLEAN_FAILURES = MAX_CALL_ERRORS + 1  # the clean input is asked as often as any strategy
TIME_LIMIT = "time_limit"  # stored beside the core's ``EndReason``
NOTHING_ASKED = "nothing was asked, because no perturbation of this seed image stays within the thresholds."
MOST_NAMED_OPERATORS = 4
MOST_ENDING_CHARACTERS = 200


@dataclass(frozen=True, eq=False)
class ModalityEnding:
    """How a run came out.

    Attributes:
        sentence: for people.
        status: of the run.
        end_reason: the core's ``EndReason``, ``TIME_LIMIT``, or "" where no search began.
        case: the row of its test case, not saved yet.
        first_hit: answers that the first failure took.
        evaluations: answers charged to the inference budget.
        fidelities: strategies measured or known.
    """

    sentence: str
    status: ModalityStatus
    end_reason: str = ""
    case: ModalityCase | None = None
    first_hit: int | None = None
    evaluations: int = 0
    fidelities: int = 0

    def write(self, run: SearchRun) -> None:
        """Write it, inside the caller's transaction."""
        ModalityRun.objects.filter(run=run).update(
            status=self.status,
            end_reason=self.end_reason,
            first_hit=self.first_hit,
            evaluations=self.evaluations,
            fidelities=self.fidelities,
        )
        if self.case is not None:
            self.case.save(force_insert=True)


def unanswered_ending(run: SearchRun, live: LiveModality) -> ModalityEnding | None:
    """Return the ending of a run whose clean input was asked often enough in vain, else None."""
    if live.clean is not None or run.checkpoint.get("clean_failures", 0) < MAX_CLEAN_FAILURES:
        return None
    because = run.checkpoint.get("clean_error", "")
    sentence = f"the question without a perturbation failed {MAX_CLEAN_FAILURES} times: {because}"
    return ModalityEnding(_cut(sentence), ModalityStatus.CALL_ERROR)


def baseline_ending(live: LiveModality) -> ModalityEnding | None:
    """Return the ending of a run whose seed image is not right to begin with; None where it is, or may be."""
    if live.clean is None or live.is_eligible:
        return None
    return ModalityEnding(_baseline_sentence(live.clean, live), ModalityStatus.BASELINE_FAILURE)


def search_ending(run: SearchRun, live: LiveModality, *, time_limit: str = "") -> ModalityEnding:
    """Return the ending of a run whose search has nothing more to ask, or whose time is up.

    Args:
        run: the run.
        live: its search.
        time_limit: the sentence for a time limit that is used up.

    Raises:
        StorageError: the picture of its test case cannot be stored.
    """
    search = live.search
    if search is None:
        return ModalityEnding(time_limit, ModalityStatus.UNFINISHED, TIME_LIMIT)
    returned = _returned(live, search)
    reason = TIME_LIMIT if time_limit else str(search.end_reason or "")
    status = ModalityStatus.FINISHED
    if returned is not None:
        how = _search_sentence(live, search, returned)
    elif run.evaluations.exists():
        how = "no evaluation was answered, because every call failed."
        status = ModalityStatus.UNFINISHED if time_limit else ModalityStatus.CALL_ERROR
    else:
        how = "the search had asked nothing yet." if time_limit else NOTHING_ASKED
        status = ModalityStatus.UNFINISHED
    return ModalityEnding(
        _cut(f"{time_limit.rstrip('.')}: {how}" if time_limit else how),
        status,
        reason,
        case=None if returned is None else _case(run, live, search, returned),
        first_hit=search.first_hit,
        evaluations=search.evaluations,
        fidelities=len(live.memory.known),
    )


def last_failed_evaluation(run: SearchRun) -> tuple[str, str] | None:
    """Return the error of the last call of a run that failed, and no verdict: only calls fail here."""
    failed = run.evaluations.exclude(error="").order_by("-step", "-position")
    error = failed.values_list("error", flat=True).first()
    return None if error is None else (error, "")


def _returned(live: LiveModality, search: StrategySearch) -> ReturnedCase | None:
    clean_iou = search.target.clean_iou
    return search.returned_case(lambda outcome: live.perturber.swtd(outcome, clean_iou=clean_iou))


def _case(run: SearchRun, live: LiveModality, search: StrategySearch, returned: ReturnedCase) -> ModalityCase:
    place = live.answered_at[returned.outcome.query.strategy]
    evaluation = Evaluation.objects.get(run=run, step=place.step, position=place.position)
    return case_row(
        live.place,
        live.perturber,
        case=returned,
        said=stored_reply(evaluation),
        thresholds=live.config.thresholds,
        clean_iou=search.target.clean_iou,
        convention=live.asking.convention,
        evaluations=search.evaluations,
    )


def _search_sentence(live: LiveModality, search: StrategySearch, returned: ReturnedCase) -> str:
    asked = write_many(search.evaluations, "evaluation")
    if returned.reason is ReturnReason.FAILURE:
        how = f"IoU {returned.outcome.iou:.2f} under {_operators(live, returned)}"
        if search.end_reason is EndReason.FAILURE_FOUND:
            return (
                f"a failure after {write_many(search.first_hit or 0, 'evaluation')}, {asked} in all: {how}."
            )
        return f"{asked}, the first failure after {search.first_hit or 0}: {how}."
    why = {
        EndReason.BUDGET_SPENT: "the budget is used up",
        EndReason.GAVE_UP: "given up as set",
        EndReason.NOTHING_LEFT: "nothing is left to ask",
        EndReason.UNANSWERED: "too many calls failed",
    }.get(search.end_reason or EndReason.FAILURE_FOUND, "")
    return f"no failure in {asked}{f'; {why}' if why else ''}."


def _operators(live: LiveModality, returned: ReturnedCase) -> str:
    strategy = returned.outcome.query.strategy
    acting = sorted(zip(strategy, live.perturber.space.operators, strict=True), reverse=True)
    names = [operator_title(name) for severity, name in acting if severity > 0]
    more = len(names) - MOST_NAMED_OPERATORS
    return ", ".join(names[:MOST_NAMED_OPERATORS]) + (f" and {more} more" if more > 0 else "")


def _baseline_sentence(clean: CleanAnswer, live: LiveModality) -> str:
    said: dict[Any, str] = {
        AnswerKind.EMPTY: "the answer without a perturbation names no box",
        AnswerKind.MALFORMED: "the answer without a perturbation cannot be read",
    }
    needed = f"IoU {live.config.eligible_iou:.3f} is needed"
    iou = math.floor(clean.iou * 1000) / 1000  # 0.9996 is not the 1.000 that may be needed
    found = said.get(clean.status, f"the answer without a perturbation has IoU {iou:.3f}")
    return f"{found}; {needed}, so this seed image is not tested on this system."


def _cut(sentence: str) -> str:
    return (
        sentence if len(sentence) <= MOST_ENDING_CHARACTERS else f"{sentence[: MOST_ENDING_CHARACTERS - 1]}…"
    )
