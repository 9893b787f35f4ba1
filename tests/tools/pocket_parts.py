"""Made-up pictures' truths and a tiny model for the tests of the pocket VLM's tools."""

import json
import signal
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerFast

from tools.pocket import workers
from tools.pocket.model import PocketShape, build_model
from tools.pocket.shards import Box, PictureRecord, SeenObject
from tools.pocket.tokenizer import coordinate_rows
from tools.pocket.trainee import Trainee
from vlmlab.core.scenes.asked_labels import LABELS
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.driving import KIND_OF_CONCEPT

SMALL = PocketShape(
    image_size=32, vision_width=64, vision_depth=1, vision_heads=2, text_width=64, text_depth=2, text_inner=96
)
BOX = (0.1, 0.2, 0.3, 0.4)


def seen(concept: str, *, box: Box = BOX, label: str | None = None, is_asked: bool = True) -> SeenObject:
    """Return the visible object of a concept, with the label that its kind has."""
    kind = KIND_OF_CONCEPT.get(concept, concept)
    if label is None:
        label = LABELS[kind].text if kind in LABELS else ""
    return SeenObject(concept, kind, label, is_asked and label != "", box)


def record(slug: str, *concepts: str) -> PictureRecord:
    """Return a picture's truth that shows each thing of a set, all at the same place."""
    domain = load_domain(slug)
    key = domain.canonical(concepts)
    assert domain.is_compatible(key), domain.why_invalid(key)
    return PictureRecord(slug, key, 7, tuple(seen(one) for one in key if domain.concept(one).is_thing))


def small_trainee(tokenizer: PreTrainedTokenizerFast, *, seed: int = 0) -> Trainee:
    """Return an untrained tiny model with its helper heads; the same seed gives the same numbers."""
    torch.manual_seed(seed)
    model = build_model(tokenizer, SMALL)
    return Trainee(model, grid=SMALL.grid, coordinates=coordinate_rows(tokenizer))


def shared_gradient(folder: str) -> None:
    """Give this worker gradients of its own, share them, and write down what came back."""
    number = workers.rank()
    first, second = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(1))
    fixed = torch.nn.Parameter(torch.zeros(1), requires_grad=False)
    first.grad = torch.full((2,), 1.0 + number)
    if number == 1:
        second.grad = torch.tensor([4.0])
    workers.share_gradients([first, second, fixed])
    assert first.grad is not None
    assert second.grad is not None
    rows = {"first": first.grad.tolist(), "second": second.grad.tolist(), "fixed": fixed.grad}
    rows["minds_interrupts"] = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    (Path(folder) / f"{number}.json").write_text(json.dumps(rows))
