"""Many campaigns at once on paper: suspects chosen by a screen, then the rules of a confirmation, as arrays.

Written apart from ``ConfirmSearch`` (no items, no queries, all campaigns in step), so each checks the other.
"""

from dataclasses import dataclass
from math import log

import numpy as np

from vlmlab.core.stats import log_e_above, log_e_below
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.stopping import stopping_table


@dataclass(frozen=True)
class Played:
    """``(campaigns, suspects)`` arrays."""

    rates: np.ndarray
    fails: np.ndarray
    samples: np.ndarray
    confirmed: np.ndarray
    refuted: np.ndarray

    def false_share(self, rejected: np.ndarray, false: np.ndarray) -> np.ndarray:
        """Return the share of rejected suspects that are false, of each campaign; 0 without any."""
        return (rejected & false).sum(axis=1) / np.maximum(1, rejected.sum(axis=1))


def screened(
    rng: np.random.Generator, rates: np.ndarray, *, campaigns: int, suspects: int, samples: int = 5
) -> np.ndarray:
    """Return ``(campaigns, suspects)`` true rates of the first sets that reach 3 of 5 in a random order."""
    order = rng.permuted(np.tile(rates, (campaigns, 1)), axis=1)
    fails = rng.binomial(samples, order)
    is_suspect = fails >= np.ceil(0.6 * samples)
    assert (is_suspect.sum(axis=1) >= suspects).all()
    first = np.argsort(~is_suspect, axis=1, kind="stable")[:, :suspects]
    return np.take_along_axis(order, first, axis=1)


def step_up(values: np.ndarray, *, level: float, family_size: int) -> np.ndarray:
    """Return e-BH by its definition, for each row of log e-values."""
    ordered = -np.sort(-values, axis=1)
    ranks = np.arange(1, values.shape[1] + 1)
    passes = ordered >= np.log(family_size / (level * ranks)) - 1e-12
    counts = np.where(passes.any(axis=1), values.shape[1] - np.argmax(passes[:, ::-1], axis=1), 0)
    bars = np.log(family_size / (level * np.maximum(1, counts)))
    return (values >= bars[:, None] - 1e-12) & (counts > 0)[:, None]


class Campaigns:
    """Plays a confirmation in all campaigns at once, one scene of each open suspect a round."""

    def __init__(self, config: ConfirmConfig, rates: np.ndarray) -> None:
        self.config = config
        self.rates = rates
        self.level = config.fdr_level * (1 - config.later_share)
        grid = np.arange(config.max_samples + 1)
        n, k = np.meshgrid(grid, grid, indexing="ij")
        k = np.minimum(k, n)
        self.above = log_e_above(k, n, threshold=config.failure_rate_threshold)
        self.below = log_e_below(k, n, threshold=config.failure_rate_threshold)
        self.tables: dict[tuple[int, int], np.ndarray] = {}

    def play(self, luck: np.random.Generator | np.ndarray) -> Played:
        """Return how all end; ``luck`` may be ``(campaigns, suspects, max_samples)`` numbers in [0, 1)."""
        config = self.config
        fails = np.zeros(self.rates.shape, dtype=np.int64)
        samples = np.zeros_like(fails)
        while True:
            confirmed, refuted = self.decide(fails, samples)
            is_open = ~(confirmed | refuted) & (samples < config.max_samples)
            is_open &= self.is_worth_asking(fails, samples, confirmed=confirmed, refuted=refuted)
            if not is_open.any():
                return Played(self.rates, fails, samples, confirmed, refuted)
            if isinstance(luck, np.ndarray):
                number = np.minimum(samples, config.max_samples - 1)
                draws = np.take_along_axis(luck, number[..., None], axis=2)[..., 0]
            else:
                draws = luck.random(self.rates.shape)
            fails += is_open & (draws < self.rates)
            samples += is_open

    def decide(self, fails: np.ndarray, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size = self.config.family_size
        confirmed = step_up(self.above[samples, fails], level=self.level, family_size=size)
        refuted = step_up(self.below[samples, fails], level=self.level, family_size=size)
        return confirmed, refuted

    def is_worth_asking(self, fails, samples, *, confirmed, refuted) -> np.ndarray:
        if self.config.futility < 0:
            return np.ones_like(confirmed)
        worth = np.zeros_like(confirmed)
        counts = np.stack([confirmed.sum(axis=1), refuted.sum(axis=1)], axis=1)
        pairs, which = np.unique(counts, axis=0, return_inverse=True)
        for number, (n_confirmed, n_refuted) in enumerate(pairs):
            rows = np.flatnonzero(which.ravel() == number)
            table = self._chances(int(n_confirmed), int(n_refuted))
            worth[rows] = table[samples[rows], fails[rows]]
        return worth

    def _chances(self, n_confirmed: int, n_refuted: int) -> np.ndarray:
        """Return ``(n, k)`` whether the chance is large enough."""
        pair = (n_confirmed, n_refuted)
        if pair not in self.tables:
            size, most = self.config.family_size, self.config.max_samples
            table = stopping_table(
                self.config.failure_rate_threshold,
                most,
                confirm_bar=log(size / (self.level * min(size, n_confirmed + 1))),
                refute_bar=log(size / (self.level * min(size, n_refuted + 1))),
            )
            self.tables[pair] = np.array(
                [[table.chance(min(k, n), n) for k in range(most + 1)] for n in range(most + 1)]
            )
            self.tables[pair] = (self.tables[pair] > 0) & (self.tables[pair] >= self.config.futility)
        return self.tables[pair]
