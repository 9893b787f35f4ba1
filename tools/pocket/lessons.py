"""What each phase of training shows: codes of symbolic scenes, pictures, pictures with questions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from tools.pocket.augment import as_pixels, augmented
from tools.pocket.packing import PackedBatch, Packer
from tools.pocket.sets import SetSampler, lesson_shares
from tools.pocket.shards import PictureStore
from tools.pocket.trainee import Trainee, VisionTargets
from tools.pocket.training import Readings
from tools.pocket.truth import (
    ACTIONS,
    BACKGROUND,
    SceneTruth,
    SeenThing,
    cell_targets,
    class_names,
    surrounding_names,
    truth_of,
)
from tools.pocket.wordings import Dialogue, draw_dialogue
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.seeding import rng_for

CODE_NOISE = 0.25
HIDDEN_SHARE = 0.15
SHOWN_CELLS = 36
AUXILIARY_WEIGHT = 0.4


@dataclass(frozen=True)
class Classroom:
    """What every lesson needs: the domain, the grid, the packer and the sizes of a batch."""

    domain: Domain
    grid: int
    packer: Packer
    batch_size: int
    questions: int

    def vision_targets(
        self, truths: Sequence[SceneTruth], things: Sequence[Sequence[SeenThing]]
    ) -> VisionTargets:
        """Return the targets of a batch of pictures."""
        cells = cell_targets(things, classes=class_names(self.domain), grid=self.grid)
        names = surrounding_names(self.domain)
        around = np.array([[name in truth.surroundings for name in names] for truth in truths], np.float32)
        actions = np.array([ACTIONS.index(truth.action) for truth in truths])
        count = len(truths)
        return VisionTargets(
            torch.from_numpy(cells.classes).reshape(count, -1),
            torch.from_numpy(cells.states).reshape(count, -1),
            torch.from_numpy(cells.boxes).reshape(count, -1, 4),
            torch.from_numpy(around),
            torch.from_numpy(actions),
        )

    def packed(
        self, truths: Sequence[SceneTruth], *, rng: np.random.Generator, questions: int
    ) -> PackedBatch:
        """Return questions about each scene, packed."""
        return self.packer.pack(self.dialogues(truths, rng=rng, questions=questions))

    def dialogues(
        self, truths: Sequence[SceneTruth], *, rng: np.random.Generator, questions: int
    ) -> list[list[Dialogue]]:
        """Return questions with shuffled letters about each scene."""
        return [[draw_dialogue(self.domain, t, rng=rng) for _ in range(questions)] for t in truths]


def imagined_things(truth: SceneTruth, *, rng: np.random.Generator) -> list[SeenThing]:
    """Return a truth's things at made-up places: near ones large and low, far ones small near the horizon."""
    things = []
    for thing in truth.things:
        if rng.random() < HIDDEN_SHARE / 3:
            continue
        small = thing.state in ("far", "light")
        width, height = rng.uniform(0.03, 0.2 if small else 0.6, 2)
        x = rng.uniform(0.35, 0.65) if thing.state in ("close", "far") else rng.uniform(0.5, 0.95)
        y = {"light": 0.25, "far": 0.45}.get(thing.state, 0.6) + rng.uniform(-0.1, 0.1)
        box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        low_x, low_y, high_x, high_y = (float(min(1.0, max(0.0, value))) for value in box)
        things.append(SeenThing(thing.concept, thing.state, (low_x, low_y, high_x, high_y)))
    return things


class LanguageLesson:
    """Symbolic scenes only: the language model learns to bind what is there to the shuffled letters."""

    def __init__(self, trainee: Trainee, room: Classroom, *, seed: int) -> None:
        self.trainee, self.room, self.seed = trainee, room, seed
        self.sampler = SetSampler(room.domain)
        self.packer = Packer(room.packer.tokenizer, image_tokens=SHOWN_CELLS)

    def loss_at(self, step: int) -> tuple[torch.Tensor, Readings]:
        """Return the loss of one batch; the batch is a function of the seed and the step."""
        loss, readings = self._loss(rng_for(self.seed, "language", step), self.room.batch_size)
        return loss, readings

    @torch.no_grad()
    def check(self) -> Readings:
        """Return readings on imagined scenes of a seed of their own."""
        self.trainee.eval()
        _, readings = self._loss(rng_for(self.seed, "language-check"), 200)
        return {"score": readings["letter_right"], **readings}

    def _loss(self, rng: np.random.Generator, count: int) -> tuple[torch.Tensor, Readings]:
        truths = [truth_of(self.room.domain, self.sampler.draw(rng)) for _ in range(count)]
        targets = self.room.vision_targets(truths, [imagined_things(t, rng=rng) for t in truths])
        tokens = self.trainee.codes(targets)
        shape = tuple(tokens.shape)
        noise = torch.from_numpy(rng.standard_normal(shape, dtype=np.float32))
        level = torch.from_numpy(rng.uniform(0.2, 1.0, (count, 1, 1)).astype(np.float32))
        tokens = tokens + CODE_NOISE * level * noise
        cells = _chosen_cells(targets, rng=rng)
        tokens = tokens.gather(1, cells[:, :, None].expand(-1, -1, tokens.shape[2]))
        rows = self.room.dialogues(truths, rng=rng, questions=self.room.questions)
        batch = _placed(self.packer.pack(rows), cells, all_cells=self.room.grid**2)
        return self.trainee.letter_loss(tokens, batch)


def _chosen_cells(targets: VisionTargets, *, rng: np.random.Generator) -> torch.Tensor:
    """Return ``(b, SHOWN_CELLS)`` sorted cells, those with a thing first in line: fewer tokens to read."""
    order = torch.from_numpy(rng.random(tuple(targets.classes.shape))) + 0.5 * (targets.classes != BACKGROUND)
    return order.topk(SHOWN_CELLS, dim=1).indices.sort(dim=1).values


def _placed(batch: PackedBatch, cells: torch.Tensor, *, all_cells: int) -> PackedBatch:
    """Give the shown cells the positions they have in a whole picture, and the questions theirs behind it."""
    shown = cells.shape[1]
    positions = batch.positions.clone()
    positions[:, 1 : 1 + shown] = cells + 1
    positions[:, 1 + shown :] += all_cells - shown
    return replace(batch, positions=positions)


class PictureLesson:
    """Rendered pictures: the tower learns what is where; with ``asks`` the whole model learns to answer."""

    def __init__(
        self,
        trainee: Trainee,
        room: Classroom,
        *,
        seed: int,
        pictures: PictureStore,
        validation: PictureStore,
        asks: bool,
    ) -> None:
        self.trainee, self.room, self.seed = trainee, room, seed
        self.pictures, self.validation, self.asks = pictures, validation, asks
        self.shares = self._shares()

    def loss_at(self, step: int) -> tuple[torch.Tensor, Readings]:
        """Return the loss of one batch of augmented pictures."""
        if step % 50 == 0 and self.pictures.refresh():
            self.shares = self._shares()
            print(f"{len(self.pictures)} pictures, {int((self.shares > 0).sum())} used", flush=True)
        rng = rng_for(self.seed, "joint" if self.asks else "vision", step)
        numbers = rng.choice(len(self.pictures), self.room.batch_size, p=self.shares)
        truths = [self.pictures.truths[n] for n in numbers]
        things = [self.pictures.records[n].things for n in numbers]
        pixels, moved = augmented(self.pictures.pictures(numbers), things, rng=rng)
        targets = self.room.vision_targets(truths, moved)
        features, tokens = self.trainee.see(pixels)
        loss, readings = self.trainee.vision_loss(features, tokens, targets)
        if not self.asks:
            return loss, readings
        packed = self.room.packed(truths, rng=rng, questions=self.room.questions)
        letter_loss, letter_readings = self.trainee.letter_loss(tokens, packed)
        return letter_loss + AUXILIARY_WEIGHT * loss, {**readings, **letter_readings}

    def _shares(self) -> npt.NDArray[np.float64]:
        truths = self.pictures.truths
        return lesson_shares([t.key for t in truths], [t.action for t in truths])

    @torch.no_grad()
    def check(self) -> Readings:
        """Return mean readings on the validation pictures; the score is the share of right answers."""
        self.trainee.eval()
        self.validation.refresh()
        rng, rows = rng_for(self.seed, "picture-check"), list[Readings]()
        for start in range(0, len(self.validation), 50):
            numbers = range(start, min(start + 50, len(self.validation)))
            truths = [self.validation.truths[n] for n in numbers]
            targets = self.room.vision_targets(truths, [self.validation.records[n].things for n in numbers])
            features, tokens = self.trainee.see(as_pixels(self.validation.pictures(numbers)))
            _, readings = self.trainee.vision_loss(features, tokens, targets)
            _, letters = self.trainee.letter_loss(tokens, self.room.packed(truths, rng=rng, questions=1))
            rows.append({**readings, **letters})
        means = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
        return {"score": means["letter_right" if self.asks else "action_right"], **means}
