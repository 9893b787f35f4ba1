"""What a system saw in an evaluation, made again: run seed, seed image and strategy say all of it."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from searches.enums import AnswerKind
from searches.models import CleanAnswer, Evaluation, ModalityCase, ModalityRun
from searches.services.modality_asking import asked_then
from searches.services.modality_results import most_config
from searches.services.seed_inputs import seed_image_of
from searches.services.stored_shapes import reading_stored
from searches.services.sut_signals import progressed
from searches.services.suts import asking_of
from searches.services.word_tables import operators_of
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.evaluate import Perturber
from vlmlab.core.most.genotype import OperatorSpace
from vlmlab.core.most.objectives import Embed
from vlmlab.core.most.search import build_space
from vlmlab.core.most.types import REGIMES, Regime, Strategy
from vlmlab.core.perturb.image_operators import IMAGE_OPERATORS
from vlmlab.core.perturb.image_truth import moved_truth
from vlmlab.core.perturb.text import TEXT_OPERATORS, perturb_text
from vlmlab.core.replies.boxes import BoxReading, parse_boxes

KEPT_PICTURES = 64
MOST_KEPT_BYTES = 32 * 2**20
HINT = "Start the campaign again; what this run answered stays readable."

Boxes = tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True)
class SeenInput:
    """What a system was shown beside the picture, and how its answer reads.

    Attributes:
        clean_prompt: the prompt before.
        prompt: the one that was sent.
        truth: where the things are in the perturbed picture.
        reading: of the reply, by the reader of this version; None where the call failed.
    """

    clean_prompt: str
    prompt: str
    truth: Boxes
    reading: BoxReading | None


def regime_space(config: MostConfig, regime: Regime) -> OperatorSpace:
    """Return the strategies of a regime: which severity of a stored strategy is whose.

    Raises:
        ConfigError: an operator to leave out is unknown, or none is left.
    """
    return build_space(
        config,
        regime=regime,
        image_operators=tuple(IMAGE_OPERATORS),
        text_operators=tuple(TEXT_OPERATORS),
    )


def space_of(run: ModalityRun) -> OperatorSpace:
    """Return the strategies of a run's regime.

    Raises:
        VlmLabError: the settings of the campaign are not those of this version.
    """
    regime = next(one for one in REGIMES if one == run.regime)
    return regime_space(most_config(run.campaign), regime)


def perturber_of(run: ModalityRun, *, embed: Embed | None = None, has_prompts: bool = True) -> Perturber:
    """Return what makes the inputs of a run; without ``embed`` prompts have no distance.

    Distances are stored with each evaluation; measuring them again would load the model of embeddings into
    the web process.

    Args:
        run: the run.
        embed: text to vector.
        has_prompts: whether prompts must be those of the run; pictures need no words.

    Raises:
        VlmLabError: the seed image is gone, or the dataset, the registration or a word table has changed.
    """
    config = most_config(run.campaign)
    asking = asked_then(run) if has_prompts else asking_of(run.sut)
    seed_image = seed_image_of(run.picture, run.label, asking=asking, protect_format=config.protect_format)
    if run.clean_answer is not None:
        seed_image = replace(
            seed_image, prompt=run.clean_answer.prompt
        )  # the registration may ask otherwise today
    return Perturber(
        seed_image,
        space=space_of(run),
        run_seed=run.run.run_seed,
        embed=embed or _unmeasured,
        text_operators=operators_of(config),
        on_progress=progressed,
    )


def seen_input(run: ModalityRun, evaluation: Evaluation) -> SeenInput:
    """Return prompt, truth and reading of an evaluation; the picture is not drawn.

    Raises:
        VlmLabError: they cannot be made again; the message says why.
    """
    perturber, space = perturber_of(run), space_of(run)
    with reading_stored("evaluation", hint=HINT):
        strategy = tuple(float(value) for value in evaluation.strategy)
        seed = perturber.seed_image
        prompt = perturb_text(
            seed.prompt,
            space.text_severities(strategy),
            rng_of=perturber.rng_of,
            protect=seed.protected,
            operators=operators_of(most_config(run.campaign)),
        )
        moved = moved_truth(
            seed.truth,
            space.image_severities(strategy),
            rng_of=perturber.rng_of,
            image_size=seed.size,
            masks=seed.masks,
        )
    return SeenInput(seed.prompt, prompt, as_boxes(moved.boxes), read_again(run, evaluation))


def evaluation_picture(run: ModalityRun, evaluation: Evaluation) -> bytes:
    """Return the picture of an evaluation as PNG: the bytes that the system was sent.

    The last ones are kept in memory.

    Raises:
        VlmLabError: it cannot be made again; the message says why.
    """
    key = f"{run.run_id}.{run.run.created_at.timestamp()}.{evaluation.step}.{evaluation.position}"
    return _picture_of(run, lambda: tuple(float(value) for value in evaluation.strategy), key=key)


def case_picture(case: ModalityCase) -> bytes:
    """Return the perturbed picture of a case as PNG, made again from its strategy.

    Raises:
        VlmLabError: it cannot be made again; the message says why.
    """
    run = case.modality_run
    key = f"case {case.pk}.{run.run.created_at.timestamp()}"
    return _picture_of(run, lambda: space_of(run).strategy(case.severities), key=key)


def _picture_of(run: ModalityRun, strategy_of: Callable[[], Strategy], *, key: str) -> bytes:
    found = _pictures.find(key)
    if found is None:
        perturber = perturber_of(run, has_prompts=False)
        with reading_stored("evaluation", hint=HINT):
            found = perturber.perturbed(strategy_of()).png
        _pictures.keep(key, found)
    return found


def read_again(run: ModalityRun, answered: Evaluation | CleanAnswer | ModalityCase) -> BoxReading | None:
    """Return the boxes in a stored reply; None where the call failed."""
    if answered.status == AnswerKind.CALL_ERROR:
        return None
    source = answered.evaluation if isinstance(answered, ModalityCase) else answered
    width, height = (source.seen_width, source.seen_height) if source else (None, None)
    return parse_boxes(
        answered.raw_text,
        convention=asked_then(run).convention,
        image_size=(run.picture.width, run.picture.height),
        seen_size=(width, height) if width and height else None,
        finish_reason=answered.finish_reason or "stop",
    )


def as_boxes(rows: npt.ArrayLike | Sequence[Sequence[float]]) -> Boxes:
    """Return ``(n, 4)`` corners as tuples."""
    boxes = np.asarray(rows, dtype=np.float64).reshape(-1, 4)
    return tuple((float(a), float(b), float(c), float(d)) for a, b, c, d in boxes)


def _unmeasured(_text: str) -> npt.NDArray[np.floating]:
    return np.ones(1)


class _KeptPictures:
    """The last pictures that were asked for, up to a number of bytes."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: str) -> bytes | None:
        with self._lock:
            if key in self._files:
                self._files.move_to_end(key)
            return self._files.get(key)

    def keep(self, key: str, content: bytes) -> None:
        with self._lock:
            self._files[key] = content
            while len(self._files) > KEPT_PICTURES or sum(map(len, self._files.values())) > MOST_KEPT_BYTES:
                self._files.popitem(last=False)


_pictures = _KeptPictures()
