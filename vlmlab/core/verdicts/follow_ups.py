"""The table of follow-ups: kind to settings and search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from vlmlab.core.verdicts.ablate import AblateSearch
from vlmlab.core.verdicts.config import FOLLOW_UP_CONFIGS, FollowUpConfig, FollowUpKind
from vlmlab.core.verdicts.confirm import build_confirm
from vlmlab.core.verdicts.envelope_search import EnvelopeSearch
from vlmlab.core.verdicts.fixed import FixedDesignSearch
from vlmlab.core.verdicts.interact import InteractSearch
from vlmlab.core.verdicts.probe import ProbeSearch
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


def _fixed(config: Any, *, items: Sequence[ItemSpec], run_seed: int) -> FollowUpSearch:
    return FixedDesignSearch(items, n=config.scenes, slots=config.slots)


def _ablate(config: Any, *, items: Sequence[ItemSpec], run_seed: int) -> FollowUpSearch:
    return AblateSearch(config, items=items)


def _probe(config: Any, *, items: Sequence[ItemSpec], run_seed: int) -> FollowUpSearch:
    return ProbeSearch(items, n=config.scenes, run_seed=run_seed, slots=config.slots)


def _interact(config: Any, *, items: Sequence[ItemSpec], run_seed: int) -> FollowUpSearch:
    return InteractSearch(items, n=config.scenes, level=config.level, slots=config.slots)


def _envelope(config: Any, *, items: Sequence[ItemSpec], run_seed: int) -> FollowUpSearch:
    return EnvelopeSearch(items, slots=config.slots, stops_failed=config.stops_failed)


FOLLOW_UPS: dict[str, FollowUpEntry] = {
    entry.kind: entry
    for entry in (
        FollowUpEntry("confirm", "Confirmation", FOLLOW_UP_CONFIGS["confirm"], build_confirm),
        FollowUpEntry("ablate", "Ablation", FOLLOW_UP_CONFIGS["ablate"], _ablate),
        FollowUpEntry("probe", "Recognition probe", FOLLOW_UP_CONFIGS["probe"], _probe),
        FollowUpEntry("interact", "Four-cell test", FOLLOW_UP_CONFIGS["interact"], _interact),
        FollowUpEntry("transfer", "Transfer", FOLLOW_UP_CONFIGS["transfer"], _fixed),
        FollowUpEntry("regress", "Regression", FOLLOW_UP_CONFIGS["regress"], _fixed),
        FollowUpEntry("envelope", "Decision card", FOLLOW_UP_CONFIGS["envelope"], _envelope),
    )
}
