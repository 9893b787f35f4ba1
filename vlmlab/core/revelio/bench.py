"""Running a search against a known landscape instead of a system under test."""

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vlmlab.core.checks import check_probabilities
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.config import RevelioConfig, config_from_values
from vlmlab.core.revelio.search import build_search
from vlmlab.core.revelio.space import SearchDomain, SearchSpace, build_space, space_of
from vlmlab.core.revelio.types import Outcome, TrialStatus, Verdict
from vlmlab.core.seeding import rng_for

ALGORITHM_NAMES: dict[str, Mapping[str, str | bool]] = {
    "random": {"algorithm": "random"},
    "beam": {"algorithm": "beam"},
    "beam-literal": {"algorithm": "beam", "beam_literal": True},
    "gpts": {"algorithm": "gpts"},
    "sits": {"algorithm": "sits", "minimal": False},
    "sits-minimal": {"algorithm": "sits", "minimal": True},
}


@dataclass(frozen=True)
class Oracle:
    """A landscape: the true failure rate of every set it knows; other sets do not exist for a search.

    Attributes:
        masks: ``(n,)`` int64, ascending, unique; bit j is the j-th concept of the catalogue.
        rates: ``(n,)`` float64 in [0, 1].
    """

    masks: npt.NDArray[np.int64]
    rates: npt.NDArray[np.float64]

    @classmethod
    def of(cls, masks: npt.ArrayLike, rates: npt.ArrayLike) -> "Oracle":
        """Return the oracle of masks in any order.

        Raises:
            ConfigError: the arrays do not fit together.
        """
        mask_array = np.asarray(masks)
        if mask_array.ndim != 1 or not np.issubdtype(mask_array.dtype, np.integer):
            raise ConfigError("The oracle's masks must be a list of whole numbers.", field="oracle")
        if len(np.unique(mask_array)) != len(mask_array):
            raise ConfigError("The oracle's masks name a concept set twice.", field="oracle")
        try:
            rate_array = check_probabilities("rate", rates)
        except ValueError as error:
            raise ConfigError(f"The oracle's rates are unusable: {error}.", field="oracle") from error
        if len(rate_array) != len(mask_array):
            raise ConfigError(
                f"The oracle has {len(mask_array)} masks but {len(rate_array)} rates.", field="oracle"
            )
        order = np.argsort(mask_array, kind="stable")
        return cls(mask_array[order].astype(np.int64), rate_array[order])

    def rate_of(self, masks: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the true rate of each mask, NaN where the oracle does not know it."""
        place = np.minimum(np.searchsorted(self.masks, masks), len(self.masks) - 1)
        return np.where(self.masks[place] == masks, self.rates[place], np.nan)


@dataclass(frozen=True)
class BenchResult:
    """What a search reported.

    Attributes:
        algorithm: what ran, as a shell calls it.
        reported: failure modes as concept ids, in the order their sets were opened.
        inferences: samples drawn.
        sets_touched: sets with at least one sample.
        trace_length: samples asked, in order; equal to ``inferences`` because an oracle never errs.
        batches: times the search was asked.
    """

    algorithm: str
    reported: tuple[tuple[str, ...], ...]
    inferences: int
    sets_touched: int
    trace_length: int
    batches: int

    def to_json(self) -> str:
        """Return the result as JSON; ``trace`` is the length of the trace."""
        return json.dumps({**asdict(self), "trace": self.trace_length}, indent=1)


def load_oracle(path: Path) -> Oracle:
    """Read ``masks`` and ``rate`` from a NumPy archive.

    Raises:
        ConfigError: the file is missing, no archive, or lacks an array.
    """
    hint = "Give an .npz file with the arrays masks (int64) and rate (float64)."
    try:
        with np.load(path, allow_pickle=False) as archive:
            return Oracle.of(archive["masks"], archive["rate"])
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ConfigError(f"The oracle {path} cannot be read.", hint=hint, field="oracle") from error
    except (KeyError, TypeError, IndexError) as error:
        raise ConfigError(f"The oracle {path} lacks an array.", hint=hint, field="oracle") from error


def bench_config(algorithm: str, *, budget: int, params: Mapping[str, str]) -> RevelioConfig:
    """Return the configuration of a named algorithm; ``params`` override its values.

    Raises:
        ConfigError: the name is unknown or a value out of range.
    """
    name = algorithm.strip().lower().replace("_", "-")
    if name not in ALGORITHM_NAMES:
        known = ", ".join(ALGORITHM_NAMES)
        raise ConfigError(f"There is no algorithm {algorithm!r}.", hint=f"Known: {known}.", field="algorithm")
    return config_from_values({**ALGORITHM_NAMES[name], "inference_budget": budget, **params})


def algorithm_name(config: RevelioConfig) -> str:
    """Return what a shell calls the algorithm of a configuration: ``sits-minimal``, ``beam-literal``."""
    if config.algorithm == "sits" and config.minimal:
        return "sits-minimal"
    return "beam-literal" if config.algorithm == "beam" and config.beam_literal else config.algorithm


def oracle_space(domain: SearchDomain, config: RevelioConfig, *, oracle: Oracle) -> SearchSpace:
    """Return the domain's valid sets that the oracle knows, under the configuration's limits.

    Raises:
        ConfigError: there is none.
    """
    masks = build_space(domain, config).masks
    known = masks[~np.isnan(oracle.rate_of(masks))] if len(oracle.masks) else masks[:0]
    if len(known) == 0:
        raise ConfigError(
            "The oracle knows no valid concept set of the domain.",
            hint="Bit j of a mask must be the j-th concept of the catalogue file.",
            field="oracle",
        )
    return space_of(domain, known)


def run_bench(
    config: RevelioConfig, *, domain: SearchDomain, space: SearchSpace, oracle: Oracle, seed: int
) -> BenchResult:
    """Run a search to its end against an oracle.

    A sample fails with the set's true rate; its draw comes from a generator seeded by (seed, mask,
    sample number), so all algorithms see the same luck for the same sample.
    """
    search = build_search(config, domain=domain, run_seed=seed, space=space)
    inferences = batches = 0
    while batch := search.ask():
        numbers = np.array([domain.mask(query.key) for query in batch], dtype=np.int64)
        rates = oracle.rate_of(numbers)
        search.tell(
            [
                Outcome(query, sample(seed, int(mask), number=query.number, rate=float(rate)))
                for query, mask, rate in zip(batch, numbers, rates, strict=True)
            ]
        )
        inferences += len(batch)
        batches += 1
    states = search.trials.values()
    return BenchResult(
        algorithm=algorithm_name(config),
        reported=tuple(state.key for state in states if state.status is TrialStatus.DECIDED_FAIL),
        inferences=inferences,
        sets_touched=sum(state.samples > 0 for state in states),
        trace_length=inferences,
        batches=batches,
    )


def sample(seed: int, mask: int, *, number: int, rate: float) -> Verdict:
    """Return the verdict of one Bernoulli sample of a set."""
    return Verdict.FAIL if rng_for(seed, "oracle", mask, number).random() < rate else Verdict.PASS
