"""Scripted sensitivities: systems on paper that break for known reasons, for tests and benchmarks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from vlmlab.core.most.types import AnswerStatus, Fidelity, FloatArray, Outcome, Query, Regime, Strategy
from vlmlab.core.seeding import derive_seed, rng_for

IMAGE_OPERATORS, TEXT_OPERATORS = 26, 15  # as many as the lab has
CLEAN_IOU = 0.85
JITTER = 0.03  # a system is no smooth function of its input; standard deviation of the IoU
ENOUGH = 1.0  # load from which boxes are certainly wrong: IoU 0.85 exp(-1) = 0.31


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


Family = Callable[[np.random.Generator, FloatArray], Mapping[str, FloatArray | float]]


def _weak(rng: np.random.Generator, count: int) -> FloatArray:
    return rng.exponential(0.12, count)


def few_strong(rng: np.random.Generator, is_image: FloatArray) -> Mapping[str, FloatArray | float]:
    """Three of 26 image operators and two of 15 text operators break the system alone, the others hardly."""
    slopes = _weak(rng, len(is_image))
    for value, count in ((1.0, 3), (0.0, 2)):
        chosen = rng.choice(np.flatnonzero(is_image == value), size=count, replace=False)
        slopes[chosen] = rng.uniform(1.0, 2.5, count)
    return {"slopes": slopes, "powers": rng.uniform(0.8, 2.0, len(is_image))}


def many_small(rng: np.random.Generator, is_image: FloatArray) -> Mapping[str, FloatArray | float]:
    """Every operator costs a little, and soon more than later: a little of everything breaks the system."""
    return {"slopes": rng.exponential(0.25, len(is_image)), "powers": rng.uniform(0.4, 0.8, len(is_image))}


def additive(rng: np.random.Generator, is_image: FloatArray) -> Mapping[str, FloatArray | float]:
    """Operators add up evenly; a good one alone or two good ones together break the system."""
    return {"slopes": rng.gamma(2.0, 0.25, len(is_image)), "powers": rng.uniform(0.8, 1.2, len(is_image))}


def pairs(rng: np.random.Generator, is_image: FloatArray) -> Mapping[str, FloatArray | float]:
    """Operators are harmless alone; six pairs of images, four of text and four of both break the system."""
    meetings = np.zeros((len(is_image), len(is_image)))
    image, text = np.flatnonzero(is_image == 1.0), np.flatnonzero(is_image == 0.0)
    for first, second, count in ((image, image, 6), (text, text, 4), (image, text, 4)):
        for _ in range(count):
            low, high = sorted((int(rng.choice(first)), int(rng.choice(second))))
            meetings[low, high] = rng.uniform(1.5, 3.0) if low != high else 0.0
    return {"slopes": 2.0 * _weak(rng, len(is_image)), "pairs": meetings}


def threshold(rng: np.random.Generator, is_image: FloatArray) -> Mapping[str, FloatArray | float]:
    """Nothing happens until the load passes a capacity; then the answer collapses: no slope to follow."""
    return {"slopes": rng.gamma(1.0, 0.3, len(is_image)), "capacity": 0.5}


def text_helps(rng: np.random.Generator, is_image: FloatArray) -> Mapping[str, FloatArray | float]:
    """Images barely matter and prompts do; each makes the other worse."""
    slopes = np.where(
        is_image == 1.0, rng.exponential(0.15, len(is_image)), rng.exponential(0.5, len(is_image))
    )
    meetings = np.triu(rng.exponential(0.25, (len(is_image), len(is_image))), k=1)
    meetings *= is_image[:, None] != is_image[None, :]
    return {"slopes": slopes, "pairs": meetings}


def falls_silent(rng: np.random.Generator, is_image: FloatArray) -> Mapping[str, FloatArray | float]:
    """Strong operators end the boxes altogether; wrong boxes come only from a middle strength."""
    slopes = _weak(rng, len(is_image))
    chosen = rng.random(len(is_image)) < 0.3
    slopes[chosen] = rng.uniform(1.5, 3.0, int(chosen.sum()))
    return {"slopes": slopes, "silence": np.where(chosen, rng.uniform(1.0, 2.0, len(is_image)), 0.0)}


def robust(rng: np.random.Generator, is_image: FloatArray) -> Mapping[str, FloatArray | float]:
    """A system that takes nearly everything; often there is nothing to find."""
    return {"slopes": rng.exponential(0.13, len(is_image)), "powers": rng.uniform(0.6, 1.5, len(is_image))}


FAMILIES: dict[str, Family] = {
    family.__name__: family
    for family in (few_strong, many_small, additive, pairs, threshold, text_helps, falls_silent, robust)
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
    is_image = np.repeat([1.0, 0.0], [IMAGE_OPERATORS, TEXT_OPERATORS])
    count = len(is_image)
    rng = rng_for(seed, "most landscape", family)
    image_distances = is_image * np.clip(rng.lognormal(np.log(0.2), 0.5, count), 0.02, 0.6)
    prompt_distances = (1.0 - is_image) * np.clip(rng.lognormal(np.log(0.2), 0.6, count), 0.01, 0.8)
    made = FAMILIES[family](rng, is_image)
    active = {"image": is_image == 1.0, "text": is_image == 0.0, "joint": np.ones(count, dtype=np.bool_)}[
        regime
    ]
    nothing, capacity = np.zeros(count), made.get("capacity")
    sensitivity = Sensitivity(
        slopes=np.asarray(made["slopes"])[active],
        powers=np.asarray(made.get("powers", np.ones(count)))[active],
        pairs=np.asarray(made.get("pairs", np.zeros((count, count))))[np.ix_(active, active)],
        image_distances=image_distances[active],
        prompt_distances=prompt_distances[active],
        silence=np.asarray(made.get("silence", nothing))[active],
        capacity=None if capacity is None else float(capacity),
    )
    names = [f"image_{n}" for n in range(IMAGE_OPERATORS)] + [f"text_{n}" for n in range(TEXT_OPERATORS)]
    operators = tuple(name for name, is_active in zip(names, active, strict=True) if is_active)
    return Landscape(operators, sensitivity, derive_seed(seed, "most landscape", family))
