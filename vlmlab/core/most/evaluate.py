"""From a strategy to a perturbed picture, prompt and truth; from a reply to an outcome with its boxes."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vlmlab.core.boxes import set_iou
from vlmlab.core.conventions import BoxConvention
from vlmlab.core.images import FAST_COMPRESSION, encode_png
from vlmlab.core.most.genotype import OperatorSpace
from vlmlab.core.most.metrics import ms_ssim, normalized_edit_distance, swtd
from vlmlab.core.most.objectives import Embed, PromptDistance, image_distance
from vlmlab.core.most.types import (
    AnswerStatus,
    Fidelity,
    FidelityOf,
    FloatArray,
    Outcome,
    Query,
    SearchTarget,
    Strategy,
)
from vlmlab.core.perturb.draws import operator_generator, operator_seed
from vlmlab.core.perturb.image_operators import perturb_image
from vlmlab.core.perturb.image_truth import MovedTruth, honest_caps, moved_truth
from vlmlab.core.perturb.text import TEXT_OPERATORS, perturb_text
from vlmlab.core.perturb.text_operator import TextOperator
from vlmlab.core.replies.boxes import parse_boxes
from vlmlab.core.suts.base import SutReply
from vlmlab.core.suts.context import no_progress

Pixels = npt.NDArray[np.uint8]
KEPT_INPUTS = 64
MOST_KEPT_BYTES = 128 * 2**20  # of perturbed pictures; a 30-megapixel seed image keeps one at a time
_KEPT_CAPS = 512
_CapsKey = tuple[str, str, int, tuple[str, ...], bytes, bool]
_caps_known: OrderedDict[_CapsKey, Mapping[str, float]] = OrderedDict()


@dataclass(frozen=True, eq=False)
class SeedImage:
    """The clean input that a run starts from.

    Attributes:
        image_id: SHA-256 of the canonical picture; part of every generator's seed.
        pixels: ``(h, w, 3)`` uint8, sRGB.
        label: what is asked for.
        prompt: the complete clean prompt.
        truth: ``(n, 4)`` boxes of every thing of the label, corners in pixels.
        masks: ``(n, h, w)`` bool, one for each box, where all are known; then the truth moves by them.
        protected: texts of the prompt that stay as they are.
    """

    image_id: str
    pixels: Pixels
    label: str
    prompt: str
    truth: FloatArray
    masks: npt.NDArray[np.bool_] | None = None
    protected: tuple[str, ...] = ()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.pixels.shape[1], self.pixels.shape[0]

    @cached_property
    def png(self) -> bytes:
        """The picture as the system is sent it."""
        return encode_png(self.pixels)


@dataclass(frozen=True, eq=False)
class PerturbedInput:
    """What a system sees under a strategy.

    Attributes:
        seed_image: the clean input it was made of.
        strategy: the severities.
        pixels: ``(h, w, 3)`` uint8; those of the seed image themselves where no operator touched them.
        prompt: the changed prompt.
        truth: where the things are now.
        fidelity: how far the input moved.
    """

    seed_image: SeedImage
    strategy: Strategy
    pixels: Pixels
    prompt: str
    truth: MovedTruth
    fidelity: Fidelity

    @property
    def png(self) -> bytes:
        """The picture as the system is sent it."""
        if self.pixels is self.seed_image.pixels:
            return self.seed_image.png
        return encode_png(self.pixels, compression=FAST_COMPRESSION)


class Likeness(NamedTuple):
    """How alike the perturbed input is to the clean one.

    Attributes:
        ms_ssim: of the pictures, in [0, 1]; 1 where untouched.
        ned: normalized edit distance of the prompts, in [0, 1]; 0 where untouched.
    """

    ms_ssim: float
    ned: float


@dataclass(frozen=True)
class BoxAnswer:
    """What a reply says about the boxes, against a truth.

    Attributes:
        status: boxes, empty, malformed, or that the call failed.
        iou: set IoU of the boxes; 0 for every other status.
        boxes: corners in pixels, in the order of the reply.
        lenient_status: the status where complete boxes of a malformed reply count too.
        lenient_iou: set IoU of those.
        lenient_boxes: those boxes.
        reason: which rule of the reader decided.
    """

    status: AnswerStatus
    iou: float = 0.0
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    lenient_status: AnswerStatus = AnswerStatus.CALL_ERROR
    lenient_iou: float = 0.0
    lenient_boxes: tuple[tuple[float, float, float, float], ...] = ()
    reason: str = ""


class Perturber:
    """Everything that strategies do to one seed image in one run: a pure function of its arguments.

    Draws inside an operator are seeded by run seed, seed image and operator, never by evaluation, so the
    system is a function of the strategy (MoST).

    Args:
        seed_image: the clean input.
        space: the strategies of the regime.
        run_seed: the number all randomness of the run comes from.
        embed: text to vector, for f3.
        text_operators: with other word tables than the shipped ones.
        on_progress: called after every input that was made or measured: a search may look at hundreds of
            large pictures before it asks for the first one.

    Raises:
        ValueError: the seed image has no truth.
    """

    def __init__(
        self,
        seed_image: SeedImage,
        *,
        space: OperatorSpace,
        run_seed: int,
        embed: Embed,
        text_operators: Mapping[str, TextOperator] = TEXT_OPERATORS,
        on_progress: Callable[[], None] = no_progress,
    ) -> None:
        if not len(seed_image.truth):
            raise ValueError("seed_image must have at least one box of truth")
        self.seed_image = seed_image
        self.run_seed = run_seed
        self._regime = space
        self._text_operators = text_operators
        self._on_progress = on_progress
        self._prompt_distance = PromptDistance(seed_image.prompt, embed)
        self._kept: OrderedDict[Strategy, PerturbedInput] = OrderedDict()
        self._most_kept = max(1, min(KEPT_INPUTS, MOST_KEPT_BYTES // max(1, seed_image.pixels.nbytes)))

    @cached_property
    def space(self) -> OperatorSpace:
        """The strategies to search: each operator goes only as far as the truth stays honest.

        Finding the caps takes a quarter of a second; they are remembered for the other regimes and systems.
        """
        return self._regime.capped(self._caps())

    def target(self, *, clean_iou: float, fidelity: FidelityOf | None = None) -> SearchTarget:
        """Return what a search works on.

        Args:
            clean_iou: set IoU of the answer to the clean input, in (0, 1].
            fidelity: a memory of ``self.fidelity``; that itself if left out.
        """
        return SearchTarget(self.space, fidelity or self.fidelity, clean_iou)

    def operator_seed(self, operator: str) -> int:
        """Return the seed of an operator's generator in this run."""
        return operator_seed(self.run_seed, image_id=self.seed_image.image_id, operator=operator)

    def rng_of(self, operator: str) -> np.random.Generator:
        """Return a fresh generator of an operator, always in the same state."""
        return operator_generator(self.run_seed, image_id=self.seed_image.image_id, operator=operator)

    def fidelity(self, strategy: Strategy) -> Fidelity:
        """Return how far a strategy moves the input (a ``FidelityOf``)."""
        return self.perturbed(strategy).fidelity

    def perturbed(self, strategy: Strategy) -> PerturbedInput:
        """Return the input under a strategy; the last ones are remembered."""
        found = self._kept.get(strategy)
        if found is None:
            found = self._made(strategy)
            self._on_progress()
            self._kept[strategy] = found
            while len(self._kept) > self._most_kept:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(strategy)
        return found

    def likeness(self, strategy: Strategy) -> Likeness:
        """Return how alike the input under a strategy is to the clean one."""
        made, clean = self.perturbed(strategy), self.seed_image
        is_same = made.pixels is clean.pixels or np.array_equal(made.pixels, clean.pixels)
        likeness = Likeness(
            1.0 if is_same else ms_ssim(clean.pixels, made.pixels),
            normalized_edit_distance(clean.prompt, made.prompt),
        )
        self._on_progress()
        return likeness

    def swtd(self, outcome: Outcome, *, clean_iou: float) -> float:
        """Return the similarity-weighted target drop of an answer."""
        likeness = self.likeness(outcome.query.strategy)
        return swtd(clean_iou, outcome.iou, likeness.ms_ssim, likeness.ned)

    def _made(self, strategy: Strategy) -> PerturbedInput:
        seed = self.seed_image
        image_severities = self._regime.image_severities(strategy)
        pixels, distance = seed.pixels, 0.0
        if image_severities:
            pixels = perturb_image(seed.pixels, image_severities, rng_of=self.rng_of)
            distance = image_distance(seed.pixels, pixels)
        prompt = perturb_text(
            seed.prompt,
            self._regime.text_severities(strategy),
            rng_of=self.rng_of,
            protect=seed.protected,
            operators=self._text_operators,
        )
        truth = moved_truth(
            seed.truth, image_severities, rng_of=self.rng_of, image_size=seed.size, masks=seed.masks
        )
        fidelity = Fidelity(distance, self._prompt_distance(prompt), truth.is_honest)
        return PerturbedInput(seed, strategy, pixels, prompt, truth, fidelity)

    def _probing_rng_of(self, operator: str) -> np.random.Generator:
        self._on_progress()  # each probe of a cap takes its generators here
        return self.rng_of(operator)

    def _caps(self) -> Mapping[str, float]:
        seed, names = self.seed_image, self._regime.image_operators
        if not names:
            return {}
        truth = np.ascontiguousarray(seed.truth, dtype=np.float64).tobytes()
        key = seed.image_id, seed.label, self.run_seed, names, truth, seed.masks is not None
        found = _caps_known.get(key)
        if found is None:
            found = honest_caps(
                seed.truth, rng_of=self._probing_rng_of, image_size=seed.size, masks=seed.masks, names=names
            )
            _caps_known[key] = found
            while len(_caps_known) > _KEPT_CAPS:
                _caps_known.popitem(last=False)
        return found


def read_answer(
    reply: SutReply,
    *,
    truth: npt.ArrayLike,
    convention: BoxConvention,
    image_size: tuple[int, int],
) -> BoxAnswer:
    """Read a reply and compare its boxes with a truth.

    Args:
        reply: what the system said.
        truth: ``(n, 4)`` corners in pixels.
        convention: how the system writes coordinates.
        image_size: width and height of the picture in pixels.
    """
    if reply.is_call_error:
        return BoxAnswer(AnswerStatus.CALL_ERROR)
    reading = parse_boxes(
        reply.text,
        convention=convention,
        image_size=image_size,
        seen_size=reply.seen_size,
        finish_reason=reply.finish_reason,
    )
    boxes = tuple(one.box for one in reading.items)
    lenient = tuple(one.box for one in reading.lenient_items)
    status = AnswerStatus(reading.status)
    return BoxAnswer(
        status=status,
        iou=_set_iou(boxes, truth),
        boxes=boxes,
        lenient_status=AnswerStatus.BOXES if lenient else status,
        lenient_iou=_set_iou(lenient, truth),
        lenient_boxes=lenient,
        reason=reading.reason,
    )


def outcome_of(query: Query, answer: BoxAnswer, fidelity: Fidelity) -> Outcome:
    """Return what a search is told."""
    return Outcome(query, answer.status, answer.iou, fidelity)


def _set_iou(boxes: Sequence[tuple[float, float, float, float]], truth: npt.ArrayLike) -> float:
    if not boxes:
        return 0.0
    return float(set_iou(np.array(boxes, dtype=np.float64), np.asarray(truth, dtype=np.float64)))
