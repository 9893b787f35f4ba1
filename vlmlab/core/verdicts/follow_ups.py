"""The table of follow-ups: kind to settings and search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from vlmlab.core.verdicts.config import FOLLOW_UP_CONFIGS, FollowUpConfig, FollowUpKind
from vlmlab.core.verdicts.fixed import FixedDesignSearch
from vlmlab.core.verdicts.queries import FollowUpSearch, ItemSpec


@dataclass(frozen=True)
class FollowUpEntry:
    """One kind of follow-up.

    Attributes:
        kind: stored with campaigns.
        title: for people.
        config_type: the frozen settings.
        build_search: ``(config, *, items, run_seed)`` -> a fresh search.
    """

    kind: FollowUpKind
    title: str
    config_type: type[FollowUpConfig]
    build_search: Callable[..., FollowUpSearch]


def _transfer(config: Any, *, items: Sequence[ItemSpec], run_seed: int) -> FollowUpSearch:
    return FixedDesignSearch(items, n=config.scenes, slots=config.slots)


FOLLOW_UPS: dict[str, FollowUpEntry] = {
    entry.kind: entry
    for entry in (FollowUpEntry("transfer", "Transfer", FOLLOW_UP_CONFIGS["transfer"], _transfer),)
}
