"""A slice of a follow-up of test cases: batch after batch until every case is settled."""

import time
from collections.abc import Sequence
from functools import partial

from searches.enums import RunState
from searches.models import CaseSample, SearchRun
from searches.services.batch_slice import BatchSlice
from searches.services.case_batches import CaseBatch, answer_cases
from searches.services.case_commits import commit_cases
from searches.services.case_draws import NOT_ASKED
from searches.services.case_live import LiveCases, live_cases
from searches.services.case_settling import ending_sentence
from searches.services.endings import budget_ending, outage_of
from searches.services.follow_up_endings import close_items
from searches.services.follow_ups import ACCEPTS_CHANGED
from searches.services.slice_ends import SliceEnd
from searches.services.slices import OtherSystemError, check_same_sut
from searches.services.spending import reserve
from searches.services.suts import LoadedSut, load_sut
from vlmlab.core.verdicts.queries import FreshQuery
from vlmlab.web.numbers import write_many


class CaseSlice(BatchSlice[CaseBatch]):
    """A slice of a follow-up of test cases."""

    live: LiveCases

    def open(self, run: SearchRun) -> None:
        """Replay the stored samples, unless the run is in memory."""
        self.live = live_cases(run)

    def end_by_ending(self, run: SearchRun) -> SliceEnd | None:
        """End when a budget is used up, every case is settled, or nothing gets answered."""
        outage = outage_of(run, last_failed=last_failed_draw)
        if outage is not None and self.ask():
            return self.halt(outage, to=RunState.PAUSED)
        limit = self.live.config.inference_budget
        ending, reason = budget_ending(run, self.live.config), "time"
        if not ending and limit is not None and run.n_inferences >= limit:
            ending, reason = f"the budget of {write_many(limit, 'inference')} is used up.", "budget"
        if not ending and self.ask():
            return None
        sentence = ending or ending_sentence(run, self.live.search.results())
        return self.finish(run, sentence, write=partial(close_items, run.pk, reason))

    def answer(self, run: SearchRun, queries: Sequence[FreshQuery], *, sut: LoadedSut) -> CaseBatch:
        """Answer a batch if its calls fit into every spending limit."""
        return answer_cases(
            run,
            self.live,
            queries,
            sut=sut,
            should_stop=self.should_stop,
            may_send=lambda calls: reserve(run, self.live.config, calls, lease=self.lease),
        )

    def write(
        self,
        run: SearchRun,
        queries: Sequence[FreshQuery],
        batch: CaseBatch,
        *,
        started: float,
        load_seconds: float,
    ) -> None:
        """Tell the search what a batch brought and write it."""
        stage, told = self.live.search.stage, time.monotonic()
        self.live.search.tell([one.outcome for one in batch.samples])
        seconds = self.seconds(batch, started=started, told=told, load_seconds=load_seconds)
        commit_cases(run, self.live, batch, stage=stage, lease=self.lease, seconds=seconds)

    def same_sut(self, run: SearchRun) -> LoadedSut:
        """Return the system of a run, loaded.

        Raises:
            OtherSystemError: it is not the one that gave the answers so far, or, where its own cases are
                confirmed, not the one in which they were found.
        """
        sut = load_sut(run.sut)
        check_same_sut(run, sut, asked_in=self.live.asked_in)
        if run.campaign.kind == "confirm" and not run.campaign.plan.get(ACCEPTS_CHANGED):
            self.check_found_there(run, sut)
        return sut

    def check_found_there(self, run: SearchRun, sut: LoadedSut) -> None:
        """Make sure that the cases were found on the system as it is now, asked as it is asked now.

        Raises:
            OtherSystemError: they were not.
        """
        for case in self.live.cases:
            found = case.modality_run.run.checkpoint
            is_same = found.get("fingerprint", sut.fingerprint) == sut.fingerprint
            if not is_same or found.get("asked_in", self.live.asked_in) != self.live.asked_in:
                raise OtherSystemError(
                    f"{run.sut.name} is not the system any more in which case {case.pk} was found, or it is "
                    "asked in other words.",
                    hint="Undo the change and resume. To ask the system as it is now, transfer the cases to "
                    "it instead: that compares, and confirms nothing.",
                )


def last_failed_draw(run: SearchRun) -> tuple[str, str] | None:
    """Return the error of the last call of a run that failed, and no verdict."""
    failed = CaseSample.objects.filter(run=run).exclude(error="").exclude(reading_reason__in=NOT_ASKED)
    error = failed.order_by("-step", "-position").values_list("error", flat=True).first()
    return None if error is None else (error, "")
