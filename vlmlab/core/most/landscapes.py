"""Scripted sensitivities: systems on paper that break for known reasons, for tests and benchmarks."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vlmlab.core.most.types import AnswerStatus, Fidelity, FloatArray, Outcome, Query, Regime, Strategy
from vlmlab.core.seeding import derive_seed, rng_for

IMAGE_NAMES = tuple(f"image_{number:02d}" for number in range(26))  # as many as the lab has
TEXT_NAMES = tuple(f"text_{number:02d}" for number in range(15))
CLEAN_IOU = 0.85
JITTER = 0.03  # a system is no smooth function of its input; standard deviation of the IoU


@dataclass(frozen=True)
class Sensitivity:
    """How one system on paper takes severities.

    The load of a strategy is ``sum(slopes * s ** powers) + sum(4 * pairs * s_i * s_j)``; the IoU falls as
    ``exp(-load)``, or at once where the load passes a capacity.

    Attributes:
        slopes: ``(n,)`` load of each operator alone at severity 1.
        powers: ``(n,)`` above 1 for operators that do nothing until they are strong.
        pairs: ``(n, n)`` upper triangle, load of two operators that meet at severity one half each.
        capacity: load that is borne without any loss; None for a gradual fall.
        silence: ``(n,)`` operators that end the boxes: an answer is empty from a sum of 1 on.
        image_distances: ``(n,)`` f2 of each operator alone at severity 1; 0 for text.
        prompt_distances: ``(n,)`` f3 of each operator alone at severity 1; 0 for images.
    """

    slopes: FloatArray
    powers: FloatArray
    pairs: FloatArray
    image_distances: FloatArray
    prompt_distances: FloatArray
    silence: FloatArray
    capacity: float | None = None

    def of(self, indexes: npt.NDArray[np.intp]) -> "Sensitivity":
        """Return the sensitivity to some of the operators alone."""
        return replace(
            self,
            slopes=self.slopes[indexes],
            powers=self.powers[indexes],
            pairs=self.pairs[np.ix_(indexes, indexes)],
            silence=self.silence[indexes],
            image_distances=self.image_distances[indexes],
            prompt_distances=self.prompt_distances[indexes],
        )

    def load(self, severities: FloatArray) -> float:
        """Return the load of ``(n,)`` severities."""
        alone = float(self.slopes @ severities**self.powers)
        return alone + 4.0 * float(severities @ self.pairs @ severities)

    def survival(self, severities: FloatArray) -> float:
        """Return the share of the clean IoU that is left, in [0, 1]."""
        load = self.load(severities)
        if self.capacity is None:
            return float(np.exp(-load))
        return 1.0 if load < self.capacity else 0.3

    def fidelity(self, severities: FloatArray) -> Fidelity:
        """Return how far ``(n,)`` severities move the input."""
        image = float(np.sqrt(((self.image_distances * severities) ** 2).sum()))
        kept = float(np.prod(1.0 - np.minimum(1.0, self.prompt_distances * severities)))
        return Fidelity(min(1.0, image), 1.0 - kept)


def sensitive(
    slopes: FloatArray,
    *,
    powers: FloatArray | None = None,
    pairs: FloatArray | None = None,
    silence: FloatArray | None = None,
    capacity: float | None = None,
) -> Sensitivity:
    """Return a sensitivity that takes any distance; what is left out does nothing."""
    count = len(slopes)
    nothing = np.zeros(count)
    return Sensitivity(
        slopes=slopes,
        powers=np.ones(count) if powers is None else powers,
        pairs=np.zeros((count, count)) if pairs is None else pairs,
        silence=nothing if silence is None else silence,
        image_distances=nothing,
        prompt_distances=nothing,
        capacity=capacity,
    )


Family = Callable[[np.random.Generator, FloatArray], Sensitivity]
"""From a generator and ``(n,)`` ones for image operators, zeros for text operators."""


def few_strong(rng: np.random.Generator, is_image: FloatArray) -> Sensitivity:
    """Three of 26 image operators and two of 15 text operators break the system alone, the others hardly."""
    slopes = rng.exponential(0.12, len(is_image))
    for value, count in ((1.0, 3), (0.0, 2)):
        chosen = rng.choice(np.flatnonzero(is_image == value), size=count, replace=False)
        slopes[chosen] = rng.uniform(1.0, 2.5, count)
    return sensitive(slopes, powers=rng.uniform(0.8, 2.0, len(is_image)))


def many_small(rng: np.random.Generator, is_image: FloatArray) -> Sensitivity:
    """Every operator costs a little, and soon more than later: a little of everything breaks the system."""
    count = len(is_image)
    return sensitive(rng.exponential(0.25, count), powers=rng.uniform(0.4, 0.8, count))


def additive(rng: np.random.Generator, is_image: FloatArray) -> Sensitivity:
    """Operators add up evenly; a good one alone or two good ones together break the system."""
    count = len(is_image)
    return sensitive(rng.gamma(2.0, 0.25, count), powers=rng.uniform(0.8, 1.2, count))


def pairs(rng: np.random.Generator, is_image: FloatArray) -> Sensitivity:
    """Operators are harmless alone; a few pairs of images, of texts and of both break the system."""
    meetings = np.zeros((len(is_image), len(is_image)))
    image, text = np.flatnonzero(is_image == 1.0), np.flatnonzero(is_image == 0.0)
    for first, second, count in ((image, image, 6), (text, text, 4), (image, text, 4)):
        for _ in range(count):
            low, high = sorted((int(rng.choice(first)), int(rng.choice(second))))
            meetings[low, high] = rng.uniform(1.5, 3.0) if low != high else 0.0
    return sensitive(rng.exponential(0.24, len(is_image)), pairs=meetings)


def threshold(rng: np.random.Generator, is_image: FloatArray) -> Sensitivity:
    """Nothing happens until the load passes a capacity; then the answer collapses: no slope to follow."""
    return sensitive(rng.gamma(1.0, 0.3, len(is_image)), capacity=0.5)


def text_helps(rng: np.random.Generator, is_image: FloatArray) -> Sensitivity:
    """Images barely matter and prompts do; each makes the other worse."""
    count = len(is_image)
    slopes = np.where(is_image == 1.0, rng.exponential(0.15, count), rng.exponential(0.5, count))
    meetings = np.triu(rng.exponential(0.25, (count, count)), k=1)
    return sensitive(slopes, pairs=meetings * (is_image[:, None] != is_image[None, :]))


def falls_silent(rng: np.random.Generator, is_image: FloatArray) -> Sensitivity:
    """Strong operators end the boxes altogether; wrong boxes come only from a middle strength."""
    count = len(is_image)
    slopes = rng.exponential(0.12, count)
    chosen = rng.random(count) < 0.3
    slopes[chosen] = rng.uniform(1.5, 3.0, int(chosen.sum()))
    return sensitive(slopes, silence=np.where(chosen, rng.uniform(1.0, 2.0, count), 0.0))


def robust(rng: np.random.Generator, is_image: FloatArray) -> Sensitivity:
    """A system that takes nearly everything; often there is nothing to find."""
    count = len(is_image)
    return sensitive(rng.exponential(0.13, count), powers=rng.uniform(0.6, 1.5, count))


FAMILIES: dict[str, Family] = {
    family.__name__: family
    for family in (
        few_strong,
        many_small,
        additive,
        pairs,
        threshold,
        text_helps,
        falls_silent,
        robust,
    )
}


@dataclass(frozen=True)
class Landscape:
    """A system on paper in one regime; answers are a function of the strategy.

    Attributes:
        operators: names of the active operators.
        sensitivity: of those operators.
        seed: of the jitter.
    """

    operators: tuple[str, ...]
    sensitivity: Sensitivity
    seed: int

    @property
    def clean_iou(self) -> float:
        """IoU of the clean answer."""
        return CLEAN_IOU

    def fidelity(self, strategy: Strategy) -> Fidelity:
        """Return how far a strategy moves the input."""
        return self.sensitivity.fidelity(np.array(strategy))

    def answer(self, query: Query) -> Outcome:
        """Return what the system answers."""
        severities = np.array(query.strategy)
        fidelity = self.sensitivity.fidelity(severities)
        if float(self.sensitivity.silence @ severities) >= 1.0:
            return Outcome(query, AnswerStatus.EMPTY, 0.0, fidelity)
        iou = CLEAN_IOU * self.sensitivity.survival(severities)
        if severities.any():
            iou += JITTER * float(rng_for(self.seed, "jitter", repr(query.strategy)).standard_normal())
        iou = min(1.0, max(0.0, iou))
        lost = min(1.0, max(0.0, 1.0 - iou / CLEAN_IOU))
        kept = (1.0 - fidelity.image_distance) * (1.0 - fidelity.prompt_distance)
        return Outcome(query, AnswerStatus.BOXES, iou, fidelity, swtd=0.5 * lost + 0.5 * kept)


def landscape(family: str, *, regime: Regime, seed: int) -> Landscape:
    """Return a system of a family as one regime sees it; the regimes of a seed are the same system.

    Args:
        family: a name of ``FAMILIES``.
        regime: which operators are active.
        seed: which system of the family.
    """
    is_image = np.repeat([1.0, 0.0], [len(IMAGE_NAMES), len(TEXT_NAMES)])
    count = len(is_image)
    rng = rng_for(seed, "most landscape", family)
    whole = replace(
        FAMILIES[family](rng, is_image),
        image_distances=is_image * np.clip(rng.lognormal(np.log(0.2), 0.5, count), 0.02, 0.6),
        prompt_distances=(1.0 - is_image) * np.clip(rng.lognormal(np.log(0.2), 0.6, count), 0.01, 0.8),
    )
    active = np.flatnonzero({"image": is_image, "text": 1.0 - is_image, "joint": np.ones(count)}[regime])
    names = IMAGE_NAMES + TEXT_NAMES
    operators = tuple(names[index] for index in active)
    return Landscape(operators, whole.of(active), derive_seed(seed, "most landscape", family))
