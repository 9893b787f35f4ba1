"""What a batch needs to know of whatever asks about scenes: a search over concept sets, or a follow-up."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from searches.services.search_limits import SceneSettings
from vlmlab.core.revelio.evaluate import PreparedSample, SampleRecord
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.scene import SceneSource
from vlmlab.core.suts.base import SutReply

QueryT = TypeVar("QueryT")


class LiveScenes(Protocol[QueryT]):
    """A search in memory whose queries are each about one scene."""

    @property
    def config(self) -> SceneSettings:
        """How scenes are made and asked about."""
        ...

    @property
    def domain(self) -> Domain:
        """Gives rules and texts."""
        ...

    def prepare(self, query: QueryT, *, source: SceneSource, run_seed: int) -> PreparedSample:
        """Make the scene and the question of a query.

        Raises:
            SourceAwayError: no scene at all can be made now.
        """
        ...

    def read(self, sample: PreparedSample, reply: SutReply) -> SampleRecord:
        """Judge the reply to a prepared query."""
        ...

    def scene_of(self, query: QueryT, *, run_seed: int) -> tuple[Key, int]:
        """Return what the scene of a query shows, and its seed."""
        ...

    def ahead(self, count: int) -> Sequence[QueryT]:
        """Return up to ``count`` queries that are probably asked after the pending batch."""
        ...
