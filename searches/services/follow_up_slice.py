"""A slice of a follow-up: fresh scenes of suspects, until all is settled or a limit says stop."""

from collections.abc import Sequence
from functools import partial

from searches.enums import RunState
from searches.models import SearchRun
from searches.services.batches import Batch
from searches.services.endings import outage_of
from searches.services.follow_up_commits import commit_fresh, outcomes_of, tally_fresh, write_results
from searches.services.follow_up_endings import close_items, ending_of, limit_ending
from searches.services.follow_up_live import LiveFollowUp, live_follow_up
from searches.services.follow_up_systems import check_found_system
from searches.services.scene_slice import SceneSlice
from searches.services.slice_ends import SliceEnd
from searches.services.suts import LoadedSut
from vlmlab.core.verdicts.queries import FreshQuery


class FollowUpSlice(SceneSlice):
    """A slice of a follow-up of concept sets."""

    live: LiveFollowUp

    def open(self, run: SearchRun) -> None:
        """Replay the stored samples, unless the search is in memory."""
        self.live = live_follow_up(run)
        self.live.items = list(run.items.order_by("order"))  # closed and opened again while it was halted

    def end_by_ending(self, run: SearchRun) -> SliceEnd | None:
        """End when everything is settled, a limit is reached, or nothing gets answered."""
        outage = outage_of(run)
        if outage is not None:
            return self.halt(outage, to=RunState.PAUSED)
        reason, ending = limit_ending(run, self.live)
        if not ending:
            reason, ending = ending_of(run, self.live, self.ask())
        return self.finish(run, ending, write=partial(self.close, reason)) if ending else None

    def close(self, reason: str) -> None:
        """Write what is known of every item, and call those that are still open undetermined."""
        write_results(self.live, self.live.search.results())
        close_items(self.lease.run_id, reason)

    def tell(self, queries: Sequence[FreshQuery], batch: Batch) -> None:
        """Tell the search what a batch brought, and count it in memory."""
        tally_fresh(self.live, queries, batch)
        self.live.search.tell(outcomes_of(queries, batch))

    def commit(
        self,
        run: SearchRun,
        queries: Sequence[FreshQuery],
        batch: Batch,
        *,
        seconds: dict[str, float],
        kept: int,
    ) -> None:
        """Write a batch that was told; all of it or nothing.

        Raises:
            LeaseLost: the claim does not hold any more; nothing was written.
        """
        commit_fresh(run, self.live, queries, batch, lease=self.lease, seconds=seconds, kept=kept)

    def same_sut(self, run: SearchRun) -> LoadedSut:
        """Return the system of a run, loaded.

        Raises:
            OtherSystemError: it is not the one that gave the answers so far, or whose failures are tested.
        """
        sut = super().same_sut(run)
        check_found_system(run, sut)
        return sut
