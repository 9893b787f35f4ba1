"""The published numbers of the papers, to be set beside what a lab measured; never results of this lab.

Models, prompts, pictures and scenes behind them are not those of any system here, so a difference says
nothing about either side.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, Field

DATA = Path(__file__).with_name("published.json")

PaperDomain = Literal["driving", "indoor"]
PaperAlgorithm = Literal["random", "bs", "gpts"]
PAPER_DOMAINS: tuple[PaperDomain, ...] = ("driving", "indoor")
PAPER_ALGORITHMS: tuple[PaperAlgorithm, ...] = ("random", "bs", "gpts")
ALGORITHM_OF: dict[PaperAlgorithm, str] = {"random": "random", "bs": "beam", "gpts": "gpts"}
"""Algorithm of a paper -> its name in this lab."""

ConceptIds = tuple[str, ...]


class _Published(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Setting(_Published):
    """Under which settings most tables stand."""

    inference_budget: int
    samples_per_set: int
    sets: int
    failure_rate_threshold: float
    retest_sets: int
    retest_scenes: int


class Retest(_Published):
    """Top sets asked again: mean and standard deviation in percent, how many of the sets reach 80 %."""

    mean: float
    sd: float
    reached: int
    sets: int


class RetestRow(_Published):
    """A row of Table 1."""

    domain: PaperDomain
    model: str
    random: Retest
    bs: Retest
    gpts: Retest

    def of(self, algorithm: PaperAlgorithm) -> Retest:
        """Return the numbers of one algorithm."""
        return cast(Retest, getattr(self, algorithm))


class Measures(_Published):
    """PFM and MFR in percent, Div in [0, 1] or None."""

    pfm: float = Field(alias="PFM")
    mfr: float = Field(alias="MFR")
    div: float | None = Field(default=None, alias="Div")


class MainRow(_Published):
    """A row of Table 2."""

    domain: PaperDomain
    model: str
    thinking: str
    random: Measures
    bs: Measures
    gpts: Measures

    def of(self, algorithm: PaperAlgorithm) -> Measures:
        """Return the numbers of one algorithm."""
        return cast(Measures, getattr(self, algorithm))

    @property
    def title(self) -> str:
        """The model with how much it thinks, where that is told."""
        return self.model if self.thinking == "Default" else f"{self.model} ({self.thinking})"


class TransferRates(_Published):
    """Failure rates in percent on one target: at random, and on the top sets of beam and gpts."""

    random: float
    bs: float
    gpts: float


class TransferRow(_Published):
    """A row of Table 3."""

    target: str
    driving: TransferRates
    indoor: TransferRates

    def on(self, domain: PaperDomain) -> TransferRates:
        """Return the numbers of one domain."""
        return cast(TransferRates, getattr(self, domain))


class WidthTable(_Published):
    """Tables 6 and 7: a number a beam width, in percent."""

    pfm: dict[str, float] = Field(alias="PFM")
    mfr: dict[str, float] = Field(alias="MFR")


class SamplesTable(_Published):
    """Tables 8 and 9: a number an algorithm and number of samples, in percent."""

    pfm: dict[PaperAlgorithm, dict[str, float]] = Field(alias="PFM")
    mfr: dict[PaperAlgorithm, dict[str, float]] = Field(alias="MFR")


class KernelRow(_Published):
    """A row of Table 10."""

    domain: PaperDomain
    kernel: str
    pfm: float = Field(alias="PFM")
    mfr: float = Field(alias="MFR")
    div: float = Field(alias="Div")


class TopSets(_Published):
    """A block of Tables 11 and 12: five sets an algorithm, as printed."""

    model: str
    random: tuple[ConceptIds, ...]
    bs: tuple[ConceptIds, ...]
    gpts: tuple[ConceptIds, ...]

    def of(self, algorithm: PaperAlgorithm) -> tuple[ConceptIds, ...]:
        """Return the sets of one algorithm."""
        return cast(tuple[ConceptIds, ...], getattr(self, algorithm))


class ConceptRow(_Published):
    """A row of Tables 13 and 14: recognition R and failure rate F in percent, over n sets."""

    concept: str
    recognition: float = Field(alias="R")
    failure: float = Field(alias="F")
    n: int
    regime: str


class PairRow(_Published):
    """A row of Tables 15 and 16: failure rate of sets with both, its base, and their difference."""

    a: str
    b: str
    sfr: float
    base: float
    lift: float
    n: int
    kind: Literal["synergy", "interference"]


class PublishedTables(_Published):
    """Everything that is known of the papers' tables; Tables 4 and 5 of Revelio are not."""

    source: str
    setting: Setting
    table_1: tuple[RetestRow, ...]
    table_2: tuple[MainRow, ...]
    table_3: tuple[TransferRow, ...]
    table_6: WidthTable
    table_7: WidthTable
    table_8: SamplesTable
    table_9: SamplesTable
    table_10: tuple[KernelRow, ...]
    table_11: tuple[TopSets, ...]
    table_12: tuple[TopSets, ...]
    table_13: tuple[ConceptRow, ...]
    table_14: tuple[ConceptRow, ...]
    table_15: tuple[PairRow, ...]
    table_16: tuple[PairRow, ...]
    most: dict[str, int | float | str | tuple[float, ...] | tuple[str, ...]]


@lru_cache(maxsize=1)
def published() -> PublishedTables:
    """Return the published numbers that come with the code."""
    return PublishedTables.model_validate(json.loads(DATA.read_text(encoding="utf-8")))
