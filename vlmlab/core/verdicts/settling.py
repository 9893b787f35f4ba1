"""What the fresh samples of a family of suspects say, taken together: states, bars and intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vlmlab.core.stats import (
    Interval,
    confidence_sequence,
    log_bar,
    log_e_above,
    log_e_below,
    place_share,
    selected_level,
    shared_e_bh,
)
from vlmlab.core.verdicts.config import ConfirmConfig

FamilyState = Literal["suspected", "confirmed", "refuted", "undetermined"]


@dataclass(frozen=True)
class FreshCounts:
    """The fresh samples of one suspect.

    Attributes:
        fails: wrong answers, invalid ones among them.
        samples: answers.
        place: place in the line of later suspects, from 1; None for a member of the family.
        is_open: sampling has not ended by itself, so it may still be decided.
    """

    fails: int
    samples: int
    place: int | None = None
    is_open: bool = False


@dataclass(frozen=True)
class Settlement:
    """What is known of one suspect of a family.

    Attributes:
        log_e: log e-value against "its failure rate is at most the threshold".
        log_e_against: log e-value against "its failure rate is at least the threshold".
        log_e_needed: what ``log_e`` must reach, or had to, to be confirmed.
        log_e_against_needed: what ``log_e_against`` must reach, or had to, to be refuted.
        interval_level: 1 less the part of the false coverage rate that it has among those in the same state.
    """

    fails: int
    samples: int
    state: FamilyState
    log_e: float
    log_e_against: float
    log_e_needed: float
    log_e_against_needed: float
    interval_level: float

    @property
    def interval(self) -> Interval:
        """Return the interval of its failure rate, for however long was sampled."""
        return confidence_sequence(self.fails, self.samples, self.interval_level)


def family_level(config: ConfirmConfig) -> float:
    """Return the part of the false discovery rate that these suspects may use.

    The family fixed at the start and the line of later suspects split it, so that both lists together hold
    ``fdr_level``.
    """
    is_family = config.later_index is None
    return config.fdr_level * ((1.0 - config.later_share) if is_family else config.later_share)


def suspect_share(config: ConfirmConfig, place: int | None) -> float:
    """Return the share of that level that one suspect has: 1/K, or that of its place in line."""
    return 1.0 / config.family_size if place is None else place_share(place)


def settle_family(counts: Sequence[FreshCounts], config: ConfirmConfig) -> list[Settlement]:
    """Return the state of each suspect, decided over all of them together.

    Confirmed are those that e-BH rejects "at most the threshold" for, refuted those that it rejects "at
    least the threshold" for; each list holds the false discovery rate. Suspects that are not given (of runs
    that have not ended) count as not decided. More suspects only add to both lists, so what a run decided
    for its own items stays decided.

    Args:
        counts: fresh samples of the suspects of one family, or of one line of later suspects.
        config: thresholds, levels and the size of the family.

    Raises:
        ValueError: more suspects than the family holds, or two in one place of the line.
    """
    _check_family(counts, config)
    fails, samples = [one.fails for one in counts], [one.samples for one in counts]
    for_it = log_e_above(fails, samples, threshold=config.failure_rate_threshold).tolist()
    against = log_e_below(fails, samples, threshold=config.failure_rate_threshold).tolist()
    shares = [suspect_share(config, one.place) for one in counts]
    level, before = family_level(config), config.later_discoveries
    confirmed = set(shared_e_bh(for_it, shares, level=level, found_before=before))
    refuted = set(shared_e_bh(against, shares, level=level)) - confirmed
    states = [_state(index, one, confirmed, refuted) for index, one in enumerate(counts)]
    settled: list[Settlement] = []
    for index, (one, state, share) in enumerate(zip(counts, states, shares, strict=True)):
        n_alike = states.count(state) + (before if state == "confirmed" else 0)
        interval_level = selected_level(config.coverage, selected=n_alike, share=share)
        n_confirmed = len(confirmed | {index}) + before
        n_refuted = len(refuted | {index})
        settled.append(
            Settlement(
                one.fails,
                one.samples,
                state,
                for_it[index],
                against[index],
                log_bar(share, level=level, rejected=n_confirmed),
                log_bar(share, level=level, rejected=n_refuted),
                interval_level,
            )
        )
    return settled


def _state(index: int, one: FreshCounts, confirmed: set[int], refuted: set[int]) -> FamilyState:
    if index in confirmed:
        return "confirmed"
    if index in refuted:
        return "refuted"
    return "suspected" if one.is_open or not one.samples else "undetermined"


def _check_family(counts: Sequence[FreshCounts], config: ConfirmConfig) -> None:
    places = [one.place for one in counts]
    if config.later_index is None:
        if any(place is not None for place in places):
            raise ValueError("members of a family have no place in line")
        if len(counts) > config.family_size:
            raise ValueError(f"counts must be at most the family's {config.family_size}, got {len(counts)}")
    elif None in places or len(set(places)) < len(places):
        raise ValueError("later suspects must each have a place of their own in line")
