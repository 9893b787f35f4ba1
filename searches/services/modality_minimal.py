"""Makes a returned case minimal: asks a system about weaker and weaker inputs; every answer is kept."""

import time
from typing import Any

from django.conf import settings
from django.db import transaction

from searches.enums import CaseKind, JobKind, Queue
from searches.models import Job, ModalityCase, ModalityRun, User
from searches.services.call_counts import count_calls
from searches.services.dataset_making import JobGoesOn
from searches.services.job_holds import HELD
from searches.services.job_queue import UNFINISHED, start_job
from searches.services.leases import JobLease, has_waiting_job, own_job
from searches.services.modality_asking import asked_then
from searches.services.modality_cases import CaseReply, case_row
from searches.services.modality_inputs import perturber_of
from searches.services.modality_results import most_config
from searches.services.spending import check_may_spend
from searches.services.stored_shapes import reading_stored
from searches.services.suts import LoadedSut, load_sut
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import sha256_of
from vlmlab.core.most.admission import FidelityMemory
from vlmlab.core.most.evaluate import outcome_of, read_answer
from vlmlab.core.most.minimal import MinimalSearch
from vlmlab.core.most.objectives import objectives_of
from vlmlab.core.most.outcomes import ReturnedCase, ReturnReason
from vlmlab.core.most.prompt_embedding import embed_prompt
from vlmlab.core.most.types import AnswerStatus, Fidelity, Outcome, Query, Strategy
from vlmlab.core.search import replay
from vlmlab.core.suts.base import SutReply, SutRequest

MOST_ANSWERS = 200
"""Answers that making a case minimal may take; some forty are usual."""

BISECTION_STEPS = 5
"""At least: a search may save steps, but minimal means the same in every campaign."""
MOST_FAILURES = 3
"""Failed calls in a row after which a system counts as away."""

AGAIN = "Start the campaign again on the system as it is now."
_KEPT = ("first", "answers", "weakest")
Values = dict[str, Any]


@transaction.atomic
def start_minimal(case: ModalityCase, *, by: User | None) -> Job:
    """Store the job that makes a case minimal; while one waits or runs, that one is returned.

    Raises:
        VlmLabError: the case is not a returned failure, it is minimal already, or its system is switched off.
    """
    place = ModalityRun.objects.select_for_update(of=("self",)).select_related("sut").get(
        pk=case.modality_run_id
    )  # fmt: skip
    job = minimal_job(case)
    if job is not None and job.state in UNFINISHED:
        return job
    if case.kind != CaseKind.RETURNED or not case.is_failure:
        raise VlmLabError(
            "Only a failure that a run returned can be made minimal.",
            hint="A failure is wrong boxes on an input that is close enough to the clean one.",
        )
    if place.cases.filter(kind=CaseKind.MINIMAL).exists():
        raise VlmLabError("This case has its minimal perturbation already.", hint="Open it from this page.")
    if not place.sut.is_enabled:
        raise VlmLabError(f"{place.sut.name} is switched off.", hint="Switch it on, then try again.")
    params = {"case": case.pk, "sut": place.sut.slug}
    return start_job(JobKind.MINIMIZE_CASE, params, by=by, queue=Queue(place.sut.queue))


def minimal_job(case: ModalityCase) -> Job | None:
    """Return the newest job that makes, or made, a case minimal; None where nobody remembers one."""
    jobs = Job.objects.filter(kind=JobKind.MINIMIZE_CASE, params__case=case.pk)
    return jobs.order_by("-created_at").first()


def make_minimal(job: Job) -> Values:
    """Ask a slice of what makes the case of a job minimal, and return the job's result when that is known.

    Raises:
        JobGoesOn: there is more to ask.
        VlmLabError: the case is gone, cannot be seen again or does not fail any more; the system cannot be
            loaded, may not spend more, or does not answer.
    """
    related = ("run", "campaign", "picture", "sut__api_key", "clean_answer")
    case = (
        ModalityCase.objects.select_related(*(f"modality_run__{name}" for name in related))
        .filter(pk=job.params["case"], kind=CaseKind.RETURNED)
        .first()
    )
    if case is None:
        raise VlmLabError("This case is gone.", hint="Its run was started again; open its new case.")
    minimal = case.modality_run.cases.filter(kind=CaseKind.MINIMAL).first()
    if minimal is None:
        minimal = _Minimizing(job, case).finished()
    asked = minimal.evaluations
    return {"case": minimal.pk, "n_answered": asked, "n_calls": asked, "unit": "Questions"}


class _Minimizing:
    """One claim on a job: what it asks with, and what was answered so far.

    The job keeps ``first``, the answer to the case itself; ``answers``, as the search was told them; and
    ``weakest``, the weakest strategy that fails with its reply.
    """

    def __init__(self, job: Job, case: ModalityCase) -> None:
        self.job, self.case, self.place = job, case, case.modality_run
        self.lease = JobLease(str(job.pk), job.attempts, job.owner)
        self.config = most_config(self.place.campaign)
        self.convention = asked_then(self.place).convention
        self.perturber = perturber_of(self.place, embed=embed_prompt)
        self.kept: Values = {name: job.result[name] for name in _KEPT if name in job.result}
        self.failures = 0

    def finished(self) -> ModalityCase:
        """Go on to the end of the slice, or of the search; then write the minimal case."""
        ends_at = time.monotonic() + settings.SLICE_SECONDS
        strategy = self._strategy()
        loaded = load_sut(self.place.sut)
        search = self._search(self._start(loaded, Query(strategy)))
        while batch := search.ask():
            outcomes = []
            for query in batch:
                reply, outcome = self._ask(loaded, query)
                outcomes.append(outcome)
                self.kept["answers"] = [*self.kept.get("answers", []), _stored(outcome)]
                if search.thresholds.is_hit(outcome) and _weight(query.strategy) < _weight(self._weakest()):
                    self.kept["weakest"] = _stored_reply(query.strategy, reply)
                self._count(reply)
            search.tell(outcomes)
            if time.monotonic() >= ends_at or has_waiting_job([self.job.queue]):
                raise JobGoesOn(self._progress())
        return self._written(search)

    def _strategy(self) -> Strategy:
        """Return the strategy of the case.

        Raises:
            VlmLabError: the same picture and prompt cannot be made any more.
        """
        with reading_stored("case", hint=AGAIN):
            strategy = self.perturber.space.strategy(self.case.severities)
            made = self.perturber.perturbed(strategy)
        if made.prompt != self.case.prompt or sha256_of(made.png) != self.case.image_sha256:
            raise VlmLabError(
                "The picture and the prompt of this case cannot be made again as they were.",
                hint=f"The dataset, the registration of the system or the lab has changed since. {AGAIN}",
            )
        return strategy

    def _start(self, loaded: LoadedSut, query: Query) -> Outcome:
        """Return the answer to the case itself, asked anew.

        Raises:
            VlmLabError: it does not fail any more.
        """
        while "first" not in self.kept:
            reply, outcome = self._ask(loaded, query)
            if outcome.status.is_answer:
                self.kept |= {"first": _stored(outcome), "weakest": _stored_reply(query.strategy, reply)}
            self._count(reply)
        start = _outcome(self.kept["first"])
        if not self.config.thresholds.is_hit(start):
            got = f"boxes with IoU {start.iou:.2f}" if start.status is AnswerStatus.BOXES else "no boxes"
            raise VlmLabError(
                f"This case does not fail any more: asked the same again, the system answered with {got}.",
                hint=f"It is not the same system as in the run, or it does not always answer alike. {AGAIN}",
            )
        return start

    def _search(self, start: Outcome) -> MinimalSearch:
        clean = self.place.clean_answer
        if clean is None:
            raise VlmLabError("The answer to the picture without a perturbation is gone.", hint=AGAIN)
        with reading_stored("job", hint="Ask for the minimal case again."):
            told = [_outcome(one) for one in self.kept.get("answers", [])]
        known = {one.query.strategy: one.fidelity for one in (start, *told)}
        target = self.perturber.target(
            clean_iou=clean.iou, fidelity=FidelityMemory(self.perturber.fidelity, known=known)
        )
        steps = max(self.config.bisection_steps, BISECTION_STEPS)
        changes = {"inference_budget": MOST_ANSWERS, "give_up_after": None, "bisection_steps": steps}
        search = MinimalSearch(self.config.model_copy(update=changes), target=target, start=start)
        replay(search, (([one.query], [one]) for one in told))
        return search

    def _ask(self, loaded: LoadedSut, query: Query) -> tuple[SutReply, Outcome]:
        """Send one question within the limits of the system.

        Raises:
            JobGoesOn: the worker has to stop; nothing was answered.
            SpendingLimitError: it may cost too much.
        """
        made, size = self.perturber.perturbed(query.strategy), self.perturber.seed_image.size
        check_may_spend(self.place.sut, calls=1, prompt_chars=len(made.prompt), size=size, job=self.job)
        held = {HELD: self.job.result[HELD]} if HELD in self.job.result else {}
        own_job(self.lease).update(result=self._progress() | held)
        [reply] = loaded.generate([SutRequest(made.png, made.prompt, query.attempt)])
        if reply.is_stopped:
            raise JobGoesOn(self._progress())
        answer = read_answer(reply, truth=made.truth.boxes, convention=self.convention, image_size=size)
        return reply, outcome_of(query, answer, made.fidelity)

    def _count(self, reply: SutReply) -> None:
        """Write what an answer cost and that it came.

        Raises:
            JobGoesOn: another worker goes on with the job.
            VlmLabError: too many calls in a row have failed.
        """
        with transaction.atomic():
            count_calls(self.place.sut_id, [reply])
            is_ours = own_job(self.lease).update(result=self._progress()) == 1
        if not is_ours:
            raise JobGoesOn(self._progress())
        self.failures = self.failures + 1 if reply.is_call_error else 0
        if self.failures >= MOST_FAILURES:
            raise VlmLabError(
                f"{self.failures} calls in a row failed, so the case was not made minimal.",
                hint=reply.call_error,
            )

    def _written(self, search: MinimalSearch) -> ModalityCase:
        weakest, clean_iou = search.weakest, search.target.clean_iou
        row = case_row(
            self.place,
            self.perturber,
            case=ReturnedCase(weakest, objectives_of(weakest, clean_iou=clean_iou), ReturnReason.FAILURE),
            said=CaseReply(_reply(self.kept["weakest"])),
            thresholds=search.thresholds,
            clean_iou=clean_iou,
            convention=self.convention,
            evaluations=search.evaluations + 1,  # the case itself was asked, too
            kind=CaseKind.MINIMAL,
        )
        with transaction.atomic():
            locked = ModalityRun.objects.select_for_update().get(pk=self.place.pk)
            found = locked.cases.filter(kind=CaseKind.MINIMAL).first()
            if found is not None:
                return found
            if not locked.cases.filter(pk=self.case.pk).exists():
                raise VlmLabError("This case is gone.", hint="Its run was started again; open its new case.")
            row.save(force_insert=True)
        return row

    def _weakest(self) -> Strategy:
        return tuple(self.kept["weakest"]["strategy"])

    def _progress(self) -> Values:
        """Return what the job keeps, and what the page of a job at work shows."""
        n_answered = len(self.kept.get("answers", [])) + ("first" in self.kept)
        return self.kept | {"n_answered": n_answered, "n_calls": MOST_ANSWERS, "unit": "Questions"}


def _weight(strategy: Strategy) -> tuple[int, float]:
    return sum(severity > 0.0 for severity in strategy), sum(strategy)


def _stored(outcome: Outcome) -> Values:
    fidelity = outcome.fidelity
    return {
        "strategy": list(outcome.query.strategy),
        "attempt": outcome.query.attempt,
        "status": outcome.status.value,
        "iou": outcome.iou,
        "fidelity": [fidelity.image_distance, fidelity.prompt_distance, fidelity.is_admissible],
    }


def _outcome(stored: Values) -> Outcome:
    query = Query(tuple(stored["strategy"]), stored["attempt"])
    image, prompt, is_admissible = stored["fidelity"]
    fidelity = Fidelity(image, prompt, is_admissible)
    return Outcome(query, AnswerStatus(stored["status"]), stored["iou"], fidelity)


def _stored_reply(strategy: Strategy, reply: SutReply) -> Values:
    return {
        "strategy": list(strategy),
        "text": reply.text,
        "finish_reason": reply.finish_reason,
        "seen_size": list(reply.seen_size) if reply.seen_size else None,
    }


def _reply(stored: Values) -> SutReply:
    seen = stored["seen_size"]
    return SutReply(stored["text"], stored["finish_reason"], seen_size=tuple(seen) if seen else None)
