"""A slice of a MoST run: the clean answer first, then batches of strategies, then its test case."""

import time

from searches.enums import RunState
from searches.models import Campaign, CleanAnswer, SearchRun
from searches.services.crashes import crash_point
from searches.services.endings import budget_ending, outage_of
from searches.services.modality_asking import asked_in
from searches.services.modality_batches import (
    ModalityBatch,
    Question,
    answer_questions,
    clean_question,
    perturbed_questions,
)
from searches.services.modality_commits import (
    campaign_checkpoint,
    commit_clean,
    commit_evaluations,
    find_clean,
    link_clean,
)
from searches.services.modality_endings import (
    ModalityEnding,
    baseline_ending,
    last_failed_evaluation,
    search_ending,
    unanswered_ending,
)
from searches.services.modality_live import LiveModality, live_modality
from searches.services.modality_siblings import pause_waiting_siblings, pause_where_nobody_answers
from searches.services.outages import is_unanswered, note_unanswered
from searches.services.paid_answers import keeping_paid
from searches.services.slice_ends import SliceEnd
from searches.services.slices import OtherSystemError, Slice, check_same_sut
from searches.services.spending import RunLimitError, SpendingLimitError, reserve
from searches.services.suts import LoadedSut, asking_of, load_sut
from vlmlab.core.errors import SutError, VlmLabError
from vlmlab.core.most.evaluate import outcome_of
from vlmlab.core.most.strategy_search import StrategySearch


class ModalitySlice(Slice):
    """A slice of a MoST run.

    Seconds of loading the system are nobody's: which run comes first after another system is chance, and
    regimes are compared by their times.
    """

    live: LiveModality
    campaign: Campaign | None = None
    ask_seconds = 0.0  # of the last ask, in all
    search_seconds = 0.0  # of these without perturbing

    def read(self) -> SearchRun:
        """Return the row of the run as it stands; its campaign never changes and is read once."""
        if self.campaign is None:
            run = super().read()
            self.campaign = run.campaign
            return run
        run = SearchRun.objects.select_related("sut").get(pk=self.lease.run_id)
        run.campaign = self.campaign
        return run

    def open(self, run: SearchRun) -> None:
        """Replay the stored evaluations, unless the run is in memory."""
        self.live = live_modality(run)

    def halt(self, error: VlmLabError, *, to: RunState, is_halted_by_spending: bool = False) -> SliceEnd:
        """Stop the run with a sentence; what would stop each of the others too pauses them with it."""
        end = super().halt(error, to=to, is_halted_by_spending=is_halted_by_spending)
        if end in (SliceEnd.PAUSED, SliceEnd.FAILED) and _concerns_all(error):
            pause_waiting_siblings(self.lease, error, is_halted_by_spending=is_halted_by_spending)
        return end

    def end_by_ending(self, run: SearchRun) -> SliceEnd | None:
        """End when the seed image is not eligible, the search is over, or nothing gets answered."""
        live = self.live
        started = time.monotonic()
        ending = unanswered_ending(run, live)
        if ending is not None:
            end = self.end(run, ending)
            pause_where_nobody_answers(self.lease, run, because=run.checkpoint.get("clean_error", ""))
            return end
        ending = baseline_ending(live)
        if ending is not None:
            return self.end(run, ending)
        outage = outage_of(run, last_failed=last_failed_evaluation)
        if outage is not None:
            if run.checkpoint.get("unanswered_because"):
                outage = SutError(outage.message, hint=outage.hint)  # nobody else would be answered
            return self.halt(outage, to=RunState.PAUSED)
        time_limit = budget_ending(run, live.config)
        if not time_limit and (live.search is None or self.ask(live.search)):
            return None
        with live.perturbing.running():  # likeness is measured, the case's picture made
            ending = search_ending(run, live, time_limit=time_limit)
        crash_point("after_blobs")
        return self.end(run, ending, seconds=time.monotonic() - started)

    def end(self, run: SearchRun, ending: ModalityEnding, *, seconds: float = 0.0) -> SliceEnd:
        """End the run with all that belongs to its ending."""
        times = {
            "active_seconds": run.active_seconds + seconds,
            "render_seconds": run.render_seconds + self.live.perturbing.take(),
            "search_seconds": run.search_seconds + self.search_seconds,
        }
        return self.finish(run, ending.sentence, write=lambda: ending.write(run), **times)

    def advance(self, run: SearchRun) -> None:
        """Answer and write one batch: the clean question, or what the search asks."""
        started = time.monotonic()
        search = self.live.search
        if search is not None:
            self.evaluate(run, search, started)
            return
        clean = find_clean(self.live)
        if clean is not None:
            link_clean(run, self.live, clean, lease=self.lease)
            self.begin(run, clean)
        else:
            self.ask_clean(run, started)

    def ask_clean(self, run: SearchRun, started: float) -> None:
        """Ask what the system says without a perturbation, for all runs on this seed image."""
        crash_point("after_ask")
        sut, load_seconds = self.same_sut(run)
        question = clean_question(self.live, attempt=run.checkpoint.get("clean_failures", 0))
        batch = self.answer(run, [question], sut=sut)
        if is_unanswered(run, batch):
            note_unanswered(run, batch, lease=self.lease)
            return
        with keeping_paid(run, batch, lease=self.lease):
            seconds = self.seconds(batch, active=time.monotonic() - started - load_seconds)
            clean = commit_clean(run, self.live, batch, lease=self.lease, seconds=seconds)
        self.begin(run, clean)

    def begin(self, run: SearchRun, clean: CleanAnswer | None) -> None:
        """Go on as of the next step, with the clean answer if there is one."""
        self.live.step = run.step + 1
        if clean is not None:
            self.live.begin(clean)
        crash_point("after_commit")

    def evaluate(self, run: SearchRun, search: StrategySearch, started: float) -> None:
        """Answer and write what the search asks."""
        live, queries, stage = self.live, search.ask(), search.stage
        crash_point("after_ask")
        sut, load_seconds = self.same_sut(run)
        questions = perturbed_questions(live, queries, should_stop=self.should_stop)
        batch = self.answer(run, questions, sut=sut)
        if is_unanswered(run, batch):
            note_unanswered(run, batch, lease=self.lease)
            return
        with keeping_paid(run, batch, lease=self.lease):
            outcomes = [
                outcome_of(query, one.answer, live.memory(query.strategy))
                for query, one in zip(queries, batch.samples, strict=True)
            ]
            told = time.monotonic()
            search.tell(outcomes)
            self.search_seconds += time.monotonic() - told
            active = time.monotonic() - started - load_seconds + self.ask_seconds
            commit_evaluations(
                run,
                live,
                search,
                batch,
                outcomes=outcomes,
                stage=stage,
                lease=self.lease,
                seconds=self.seconds(batch, active=active),
            )
        live.step = run.step + 1
        crash_point("after_commit")

    def answer(self, run: SearchRun, questions: list[Question], *, sut: LoadedSut) -> ModalityBatch:
        """Answer a batch if its calls fit into every spending limit."""
        return answer_questions(
            run,
            self.live,
            questions,
            sut=sut,
            should_stop=self.should_stop,
            may_send=lambda calls: reserve(run, self.live.config, calls, lease=self.lease),
        )

    def ask(self, search: StrategySearch) -> bool:
        """Ask the search for its next batch, note how long it thought, and return whether there is one."""
        perturbed, started = self.live.perturbing.seconds, time.monotonic()
        has_more = bool(search.ask())
        self.ask_seconds = time.monotonic() - started
        self.search_seconds += self.ask_seconds - (self.live.perturbing.seconds - perturbed)
        return has_more

    def seconds(self, batch: ModalityBatch, *, active: float) -> dict[str, float]:
        """Return the wall times of a batch by column, and begin to count the next one's."""
        search_seconds, self.search_seconds, self.ask_seconds = self.search_seconds, 0.0, 0.0
        return {
            "active_seconds": active,
            "render_seconds": self.live.perturbing.take(),
            "sut_seconds": batch.sut_seconds,
            "search_seconds": max(0.0, search_seconds),
        }

    def same_sut(self, run: SearchRun) -> tuple[LoadedSut, float]:
        """Return the system of a run, loaded, and the seconds that took.

        Raises:
            OtherSystemError: it is not the one that gave the answers of the run, or of its campaign, so far.
        """
        loading = time.monotonic()
        sut = load_sut(run.sut)
        seconds = time.monotonic() - loading
        if "fingerprint" not in run.checkpoint:
            run.checkpoint = run.checkpoint | campaign_checkpoint(self.live)
        check_same_sut(run, sut, asked_in=asked_in(asking_of(run.sut)))
        return sut, seconds


def _concerns_all(error: VlmLabError) -> bool:
    """Return whether what halted a run would halt every other run with its system."""
    if isinstance(error, SpendingLimitError):
        return not isinstance(error, RunLimitError)
    return isinstance(error, SutError | OtherSystemError)
