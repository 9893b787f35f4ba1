"""What a follow-up shows of a test case: the clean picture, its own input, a random strategy, fresh draws."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from searches.models import ModalityCase
from searches.services.blobs import StorageError, open_blob
from searches.services.modality_asking import asked_in, asked_then
from searches.services.modality_inputs import perturber_of, space_of
from searches.services.modality_results import most_config
from searches.services.seed_inputs import seed_image_of
from searches.services.stored_shapes import reading_stored
from searches.services.sut_signals import progressed
from searches.services.word_tables import operators_of
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import sha256_of
from vlmlab.core.most.admission import allowed_strategy, as_strategy, largest_admissible
from vlmlab.core.most.evaluate import PerturbedInput, Perturber, SeedImage
from vlmlab.core.most.objectives import Embed
from vlmlab.core.most.prompt_embedding import embed_prompt
from vlmlab.core.most.random_search import spread_budget
from vlmlab.core.most.types import FloatArray, Strategy
from vlmlab.core.perturb.text import perturb_text
from vlmlab.core.seeding import rng_for
from vlmlab.core.suts.asking import AskingParams
from vlmlab.core.verdicts.case_draws import Part, part_of
from vlmlab.core.verdicts.queries import FreshQuery, fresh_scene_seed

MOST_RANDOM_TRIES = 20
LOOKED_AT = 2
"""Draws that must all be the case's own input before its operators count as drawing nothing."""

NOT_ASKED: dict[str, str] = {
    "not_made": "Its picture and prompt cannot be made again as they were.",
    "truth_lost": "Drawn so, the thing asked for is not surely in the picture any more.",
    "not_close": "Drawn so, the input is not close enough to the clean one.",
    "same_input": "Drawn anew, it is the input that the search asked already.",
}
"""Why a question was not asked -> a sentence; such draws count neither way."""


@dataclass(frozen=True, eq=False)
class CaseQuestion:
    """One input with the truth that its answer is held against.

    Attributes:
        png: the picture as the system is sent it; empty where it cannot be made.
        prompt: the complete text.
        truth: ``(n, 4)`` boxes in pixels.
        size: width and height of the picture.
        draw_seed: what seeds its operators; None where nothing is drawn anew.
        not_asked: a key of ``NOT_ASKED``, "" for a question that is asked.
        repeat: tells apart repeated calls with one input.
    """

    png: bytes
    prompt: str
    truth: FloatArray
    size: tuple[int, int]
    draw_seed: int | None = None
    not_asked: str = ""
    repeat: int = 0

    @cached_property
    def image_sha256(self) -> str:
        """Digest of the picture, "" without one."""
        return sha256_of(self.png) if self.png else ""

    @property
    def digest(self) -> str:
        """Digest of picture and prompt."""
        return input_digest(self.image_sha256, self.prompt)


def input_digest(image_sha256: str, prompt: str) -> str:
    """Return what is the same for two inputs only if picture and prompt are: 16 hex digits."""
    return sha256(f"{image_sha256}\x1f{prompt}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class CaseInputs:
    """Everything that one case can show to one system: a pure function of its arguments.

    The picture is that of the case. So is the prompt where the system is asked in the words in which the case
    was found; else the same operators with the same draws act on the system's own words: a prompt that asks
    for another format of boxes would fail for that alone.

    Args:
        case: the test case, with its run, campaign, picture and clean answer.
        asking: how the system is asked now.
        run_seed: of the follow-up.
        block: of the item.
        is_fresh_call: whether the input of the case must be asked anew, whatever was answered to it before.
        embed: text to vector; ``unmeasured`` where only pictures are wanted.
    """

    case: ModalityCase
    asking: AskingParams
    run_seed: int
    block: str
    is_fresh_call: bool = False
    embed: Embed = embed_prompt
    _first_draws: dict[int, CaseQuestion] = field(default_factory=dict, repr=False, compare=False)

    def question(self, query: FreshQuery) -> CaseQuestion:
        """Return what a query of the search shows.

        Raises:
            VlmLabError: the seed image is gone, or its campaign cannot be read any more.
        """
        part, index = part_of(query.number)
        if part is Part.CLEAN:
            seed = self.seed_image
            return CaseQuestion(seed.png, seed.prompt, seed.truth, seed.size, repeat=index)
        if part is Part.EXACT:
            return self._exact(index)
        if part is Part.RANDOM:
            return self._random(index)
        return self.fresh(index)

    def fresh(self, number: int) -> CaseQuestion:
        """Return a fresh draw: the strategy of the case, its operators seeded anew."""
        if self.draws_nothing:
            seed = fresh_scene_seed(self.run_seed, self.block, number)
            return replace(self._fresh(0), draw_seed=seed)
        return self._fresh(number)

    def picture(self, query: FreshQuery) -> bytes:
        """Return the picture of a query as PNG; no prompt is measured.

        Raises:
            VlmLabError: it is one of a random strategy, or cannot be made any more.
        """
        part, index = part_of(query.number)
        if part is Part.RANDOM:
            raise VlmLabError(
                "Pictures of random strategies are not kept.", hint="Only what was answered to them is."
            )
        return self._fresh(index).png if part is Part.FRESH else self.question(query).png

    @cached_property
    def draws_nothing(self) -> bool:
        """Whether the operators of the case make the same input however they are seeded."""
        return all(self._fresh(number).not_asked == "same_input" for number in range(LOOKED_AT))

    @cached_property
    def has_same_words(self) -> bool:
        """Whether the system is asked in the words in which the case was found."""
        return asked_in(self.asking) == asked_in(asked_then(self.case.modality_run))

    @cached_property
    def seed_image(self) -> SeedImage:
        """The clean input, in the words of the system."""
        place = self.case.modality_run
        if self.has_same_words:
            return perturber_of(place, embed=self.embed).seed_image
        return seed_image_of(
            place.picture, place.label, asking=self.asking, protect_format=self._config.protect_format
        )

    @cached_property
    def own_digest(self) -> str:
        """Digest of the input of the case, in the words of the system."""
        return input_digest(self.case.image_sha256, self._own_prompt())

    @cached_property
    def _config(self) -> Any:
        return most_config(self.case.modality_run.campaign)

    @cached_property
    def _strategy(self) -> Strategy:
        with reading_stored("case", hint="Start the campaign again."):
            return space_of(self.case.modality_run).strategy(self.case.severities)

    def _perturber(self, seed: int) -> Perturber:
        return Perturber(
            self.seed_image,
            space=space_of(self.case.modality_run),
            run_seed=seed,
            embed=self.embed,
            text_operators=operators_of(self._config),
            on_progress=progressed,
        )

    def _exact(self, index: int) -> CaseQuestion:
        repeat = index
        if self.is_fresh_call:
            repeat = fresh_scene_seed(self.run_seed, self.block, -1 - index) % 2**31
        png = self._own_png()
        return CaseQuestion(
            png,
            self._own_prompt(),
            _boxes(self.case),
            self.seed_image.size,
            not_asked="" if png else "not_made",
            repeat=repeat,
        )

    def _own_png(self) -> bytes:
        """Return the picture of the case as its system was sent it; empty where it cannot be had."""
        try:
            with open_blob(self.case.image_sha256) as file:
                return file.read()
        except (StorageError, OSError):
            made = self._perturber(self.case.modality_run.run.run_seed).perturbed(self._strategy)
            return made.png if sha256_of(made.png) == self.case.image_sha256 else b""

    def _own_prompt(self) -> str:
        if self.has_same_words:
            return self.case.prompt
        perturber = self._perturber(self.case.modality_run.run.run_seed)
        return perturb_text(
            self.seed_image.prompt,
            space_of(self.case.modality_run).text_severities(self._strategy),
            rng_of=perturber.rng_of,
            protect=self.seed_image.protected,
            operators=operators_of(self._config),
        )

    def _fresh(self, number: int) -> CaseQuestion:
        found = self._first_draws.get(number)
        if found is not None:
            return found
        seed = fresh_scene_seed(self.run_seed, self.block, number)
        made = self._perturber(seed).perturbed(self._strategy)
        question = self._as_question(made, seed=seed, not_asked=self._why_not(made))
        if question.digest == self.own_digest:
            question = replace(question, not_asked="same_input")
        if number < LOOKED_AT:
            self._first_draws[number] = question
        return question

    def _random(self, index: int) -> CaseQuestion:
        seed = fresh_scene_seed(self.run_seed, self.block, 0)
        perturber = self._perturber(seed)
        strategy = self._random_strategy(perturber)
        made = perturber.perturbed(strategy)
        why_not = self._why_not(made) if any(strategy) else "not_close"
        return self._as_question(made, seed=seed, not_asked=why_not, repeat=index)

    def _random_strategy(self, perturber: Perturber) -> Strategy:
        """Return as many operators as those of the case, on its budget, chosen and shared at random."""
        space, rng = perturber.space, rng_for(self.run_seed, "random strategy", self.block)
        target = perturber.target(clean_iou=1.0)
        count, nothing = len(space.operators), as_strategy(np.zeros(len(space.operators)))
        size = sum(severity > 0 for severity in self._strategy)
        for _ in range(MOST_RANDOM_TRIES):
            chosen = rng.choice(count, size=size, replace=False)
            row = spread_budget(list(chosen), count=count, budget=sum(self._strategy), rng=rng)
            allowed = allowed_strategy(row, space)
            found = largest_admissible(np.array(allowed), target=target, thresholds=self._config.thresholds)
            if found != nothing:
                return found
        return nothing

    def _why_not(self, made: PerturbedInput) -> str:
        if not made.fidelity.is_admissible:
            return "truth_lost"
        return "" if self._config.thresholds.admits(made.fidelity) else "not_close"

    def _as_question(
        self, made: PerturbedInput, *, seed: int, not_asked: str = "", repeat: int = 0
    ) -> CaseQuestion:
        return CaseQuestion(
            made.png, made.prompt, made.truth.boxes, self.seed_image.size, seed, not_asked, repeat
        )


def unmeasured(_text: str) -> npt.NDArray[np.floating]:
    """Return the same vector for every text: where only pictures are made, no prompt has a distance."""
    return np.ones(1)


def _boxes(case: ModalityCase) -> FloatArray:
    return np.asarray(case.truth, dtype=np.float64).reshape(-1, 4)
