"""A MoST run in memory: seed image, perturbations, search; built by replay of its evaluations."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from searches.models import CleanAnswer, Evaluation, ModalityRun, SearchRun
from searches.services.kept_searches import take_kept
from searches.services.modality_asking import asked_in
from searches.services.seed_inputs import seed_image_of
from searches.services.sut_signals import progressed
from searches.services.suts import asking_of
from searches.services.word_tables import operators_of
from vlmlab.core.errors import ConfigError
from vlmlab.core.methods import MODALITY_METHODS, ModalityEntry
from vlmlab.core.most.admission import FidelityMemory
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.evaluate import Perturber, SeedImage
from vlmlab.core.most.outcomes import is_eligible
from vlmlab.core.most.prompt_embedding import embed_prompt
from vlmlab.core.most.strategy_search import StrategySearch
from vlmlab.core.most.types import AnswerStatus, Fidelity, Outcome, Query, Strategy
from vlmlab.core.perturb import IMAGE_OPERATORS
from vlmlab.core.search import replay
from vlmlab.core.seeding import derive_seed
from vlmlab.core.suts.asking import AskingParams


class Place(NamedTuple):
    """Where the row of an evaluation stands in its run."""

    step: int
    position: int


@dataclass
class Stopwatch:
    """Adds up the wall seconds of blocks; a block within another one counts once."""

    seconds: float = 0.0
    _depth: int = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the block."""
        started = time.perf_counter()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self.seconds += time.perf_counter() - started

    def take(self) -> float:
        """Return what was counted so far and begin again."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


@dataclass
class LiveModality:
    """The state of a MoST run at one step, in memory; valid only while the row is at the same step.

    Attributes:
        run_id: the run.
        step: as of which step.
        method: what its campaign is searched with.
        place: its place in the grid of the campaign.
        config: its settings.
        asking: how the system is asked.
        run_seed: the number all randomness of the run comes from.
        perturber: what strategies do to the seed image.
        memory: fidelities known so far.
        perturbing: seconds of perturbing and measuring.
        answered_at: strategy -> its answered evaluation.
        clean: the answer to the clean input, None until it is known.
        search: None before the seed image is known to be eligible.
    """

    run_id: int
    step: int
    method: ModalityEntry
    place: ModalityRun
    config: MostConfig
    asking: AskingParams
    run_seed: int
    perturber: Perturber
    memory: FidelityMemory
    perturbing: Stopwatch
    answered_at: dict[Strategy, Place] = field(default_factory=dict)
    clean: CleanAnswer | None = None
    search: StrategySearch | None = None

    @property
    def seed_image(self) -> SeedImage:
        """The clean input."""
        return self.perturber.seed_image

    @property
    def asked_in(self) -> str:
        """What must not change while the run goes on: words around the targets, and how boxes are read."""
        return asked_in(self.asking)

    @property
    def is_eligible(self) -> bool:
        """Whether the clean answer is right enough for a search; False while it is not known."""
        clean = self.clean
        return clean is not None and is_eligible(
            AnswerStatus(clean.status),
            clean.iou,
            iou_threshold=self.config.iou_threshold,
            baseline_iou=self.config.baseline_iou,
        )

    def begin(self, clean: CleanAnswer) -> None:
        """Take the clean answer; the search begins if the seed image is eligible."""
        self.clean = clean
        if not self.is_eligible:
            return
        with self.perturbing.running():  # how far operators may go is found by perturbing
            target = self.perturber.target(clean_iou=clean.iou, fidelity=self.memory)
        seed = derive_seed(self.run_seed, "search", self.seed_image.image_id, self.place.regime)
        self.search = self.method.build_search(self.config, target=target, run_seed=seed)


def most_config_of(run: SearchRun) -> MostConfig:
    """Return the settings that a MoST run was started with.

    Raises:
        ConfigError: this version does not understand them.
    """
    try:
        return MODALITY_METHODS[run.campaign.method].config_type.model_validate(run.campaign.config)
    except (KeyError, ValueError) as error:
        raise ConfigError(
            "This version of the lab does not understand the stored settings of this run.",
            hint="Copy its settings and start a new search with them.",
        ) from error


def live_modality(run: SearchRun) -> LiveModality:
    """Return a MoST run as of ``run.step``: the one in memory, or a fresh one after replay.

    Raises:
        ConfigError: the stored settings are not valid any more.
        StorageError: the seed image is not stored any more.
        ReplayMismatchError: the stored evaluations are not what this version of the search asks.
    """
    kept = take_kept(run)
    return kept if isinstance(kept, LiveModality) else _replayed(run)


def _replayed(run: SearchRun) -> LiveModality:
    config = most_config_of(run)
    place = ModalityRun.objects.select_related("picture", "clean_answer").get(run=run)
    asking = asking_of(run.sut)
    seed_image = seed_image_of(
        place.picture, place.label, asking=asking, protect_format=config.protect_format
    )
    operators, method = operators_of(config), MODALITY_METHODS[run.campaign.method]
    perturber = method.make_perturber(
        seed_image,
        space=method.build_space(
            config,
            regime=place.regime,
            image_operators=tuple(IMAGE_OPERATORS),
            text_operators=tuple(operators),
        ),
        run_seed=run.run_seed,
        embed=embed_prompt,
        text_operators=operators,
        on_progress=progressed,
    )
    rows = _rows(run) if place.clean_answer is not None else []
    perturbing = Stopwatch()
    known = {row.outcome.query.strategy: row.outcome.fidelity for row in rows}
    memory = FidelityMemory(_TimedFidelity(perturber, perturbing), known=known)
    live = LiveModality(
        run.pk, run.step, method, place, config, asking, run.run_seed, perturber, memory, perturbing
    )
    for row in rows:
        if row.outcome.status.is_answer:
            live.answered_at[row.outcome.query.strategy] = row.place
    if place.clean_answer is not None:
        live.begin(place.clean_answer)
    if live.search is not None:
        replay(live.search, _batches(rows))
    return live


class _Row(NamedTuple):
    place: Place
    outcome: Outcome


def _rows(run: SearchRun) -> list[_Row]:
    columns = (
        "step", "position", "strategy", "attempt", "status", "iou", "image_distance", "prompt_distance",
        "is_admissible",
    )  # fmt: skip
    rows = Evaluation.objects.filter(run=run).order_by("step", "position").values_list(*columns)
    return [
        _Row(
            Place(step, position),
            Outcome(
                Query(tuple(strategy), attempt),
                AnswerStatus(status),
                iou,
                Fidelity(image_distance, prompt_distance, is_admissible),
            ),
        )
        for (
            step, position, strategy, attempt, status, iou, image_distance, prompt_distance, is_admissible,
        ) in rows.iterator(chunk_size=2000)
    ]  # fmt: skip


def _batches(rows: Sequence[_Row]) -> Iterator[tuple[Sequence[Query], Sequence[Outcome]]]:
    for _, batch in groupby(rows, key=lambda row: row.place.step):
        outcomes = [row.outcome for row in batch]
        yield [outcome.query for outcome in outcomes], outcomes


@dataclass(frozen=True, eq=False)
class _TimedFidelity:
    perturber: Perturber
    watch: Stopwatch

    def __call__(self, strategy: Strategy) -> Fidelity:
        with self.watch.running():
            return self.perturber.fidelity(strategy)
