"""A slice of a MoST run."""

from searches.models import SearchRun
from searches.services.slice_ends import SliceEnd
from searches.services.slices import Slice


class ModalitySlice(Slice):
    """A slice of a MoST run."""

    def open(self, run: SearchRun) -> None:
        """Bring the search into memory."""
        raise NotImplementedError

    def keep(self) -> None:
        """Keep it."""

    def end_by_ending(self, run: SearchRun) -> SliceEnd | None:
        """End."""
        raise NotImplementedError

    def advance(self, run: SearchRun) -> None:
        """Advance."""
        raise NotImplementedError
