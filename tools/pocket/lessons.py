"""What each phase of training shows: codes of imagined scenes, pictures, pictures with questions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from tools.pocket.augment import augmented
from tools.pocket.exam import Exam
from tools.pocket.imagined import imagined_record
from tools.pocket.packing import PackedBatch, Packer
from tools.pocket.rarity import deciding_shares, showing_shares
from tools.pocket.shards import PictureRecord, PictureStore, SeenObject
from tools.pocket.trainee import Trainee, VisionTargets
from tools.pocket.training import Readings
from tools.pocket.truth import BACKGROUND, SeenThing, cell_targets, surroundings_of, things_of
from tools.pocket.wordings import Dialogue, draw_dialogue
from tools.pocket.workers import rank
from vlmlab.core.seeding import pick, rng_for

CODE_NOISE = 0.25
SHOWN_CELLS = 36
AUXILIARY_WEIGHT = 0.5
DECIDING_SHARE = 0.5
PROBE_SHARE = 0.05
DECIDING_KINDS = ("decision", "probe", "location", "location")
SHOWING_KINDS = ("location", "location", "location", "statement")
IMAGINED_DECIDING_SHARE = 0.6
IMAGINED_DECIDING_KINDS = ("decision", "decision", "location", "statement")
PEOPLE_FROM = 600
"""Step of the joint phase from which decisions are taught as people labelled the pictures."""

STATEMENTS_SHARE = 0.35
"""Of the decisions about imagined scenes, how many have statements before them."""


@dataclass(frozen=True)
class Classroom:
    """What every lesson needs: the grid, the packer and the size of a batch."""

    grid: int
    packer: Packer
    batch_size: int

    def vision_targets(
        self, records: Sequence[PictureRecord], objects: Sequence[Sequence[SeenObject]]
    ) -> VisionTargets:
        """Return the targets of a batch of pictures."""
        things: list[list[SeenThing]] = [
            things_of(record, row) for record, row in zip(records, objects, strict=True)
        ]
        cells = cell_targets(things, grid=self.grid)
        around = np.array([surroundings_of(record) for record in records], np.float32)
        count = len(records)
        return VisionTargets(
            torch.from_numpy(cells.classes).reshape(count, -1),
            torch.from_numpy(cells.states).reshape(count, -1),
            torch.from_numpy(cells.boxes).reshape(count, -1, 4),
            torch.from_numpy(around),
        )


class LanguageLesson:
    """Imagined scenes only: the language model learns to bind what is there to letters and coordinates."""

    def __init__(self, trainee: Trainee, room: Classroom, *, seed: int) -> None:
        self.trainee, self.room, self.seed = trainee, room, seed
        self.packer = Packer(room.packer.tokenizer, image_tokens=SHOWN_CELLS)

    def loss_at(self, step: int) -> tuple[torch.Tensor, Readings]:
        """Return the loss of one batch; the batch is a function of the seed and the step."""
        return self._loss(rng_for(self.seed, "language", step, rank()), self.room.batch_size)

    @torch.no_grad()
    def check(self) -> Readings:
        """Return readings on imagined scenes of a seed of their own; the score is mostly right choices."""
        self.trainee.eval()
        _, readings = self._loss(rng_for(self.seed, "language-check"), 160)
        return {"score": readings["choice_right"] - 0.02 * readings["steps_off"], **readings}

    def _loss(self, rng: np.random.Generator, count: int) -> tuple[torch.Tensor, Readings]:
        deciding = int(count * IMAGINED_DECIDING_SHARE)
        records = [imagined_record(rng, decides=number < deciding) for number in range(count)]
        kinds = [IMAGINED_DECIDING_KINDS] * deciding + [SHOWING_KINDS] * (count - deciding)
        targets = self.room.vision_targets(records, [record.objects for record in records])
        tokens = self.trainee.codes(targets)
        noise = torch.from_numpy(rng.standard_normal(tuple(tokens.shape), dtype=np.float32))
        level = torch.from_numpy(rng.uniform(0.2, 1.0, (count, 1, 1)).astype(np.float32))
        tokens = tokens + CODE_NOISE * level * noise
        cells = _chosen_cells(targets, rng=rng)
        tokens = tokens.gather(1, cells[:, :, None].expand(-1, -1, tokens.shape[2]))
        rows = [
            [
                draw_dialogue(
                    "probe" if kind == "decision" and rng.random() < STATEMENTS_SHARE else kind,
                    one,
                    one.objects,
                    rng=rng,
                )
                for kind in wanted
            ]
            for wanted, one in zip(kinds, records, strict=True)
        ]
        batch = _placed(self.packer.pack(rows, rng=rng), cells, all_cells=self.room.grid**2)
        return self.trainee.answer_loss(tokens, batch)


def _chosen_cells(targets: VisionTargets, *, rng: np.random.Generator) -> torch.Tensor:
    """Return ``(b, SHOWN_CELLS)`` sorted cells, those of small things first in line: fewer tokens to read."""
    classes = targets.classes.numpy()
    order = rng.random(classes.shape)
    for row, line in zip(classes, order, strict=True):
        names, counts = np.unique(row, return_counts=True)
        for name, count in zip(names, counts, strict=True):
            if name != BACKGROUND:
                line[row == name] += 0.5 + 2.0 / count
    return torch.from_numpy(order).topk(SHOWN_CELLS, dim=1).indices.sort(dim=1).values


def _placed(batch: PackedBatch, cells: torch.Tensor, *, all_cells: int) -> PackedBatch:
    """Give the shown cells the positions they have in a whole picture, and the questions theirs behind it."""
    shown = cells.shape[1]
    positions = batch.positions.clone()
    positions[:, 1 : 1 + shown] = cells + 1
    positions[:, 1 + shown :] += all_cells - shown
    return replace(batch, positions=positions)


class PictureLesson:
    """Rendered pictures: what is where (``vision``), its codes (``bridge``), all (``joint``)."""

    def __init__(
        self, trainee: Trainee, room: Classroom, *, seed: int, pictures: PictureStore, exam: Exam, name: str
    ) -> None:
        self.trainee, self.room, self.seed = trainee, room, seed
        self.pictures, self.exam, self.name = pictures, exam, name
        self.asks = name == "joint"
        self._share_out()

    def loss_at(self, step: int) -> tuple[torch.Tensor, Readings]:
        """Return the loss of one batch of augmented pictures."""
        if step % 50 == 0 and self.pictures.refresh():
            self._share_out()
            print(f"{len(self.pictures)} pictures", flush=True)
        rng = rng_for(self.seed, self.name, step, rank())
        by_people = self.asks and step >= PEOPLE_FROM
        deciding = int(self.room.batch_size * DECIDING_SHARE) if self.asks else 0
        shown = self.room.batch_size - deciding
        numbers = [
            *rng.choice(len(self.pictures), deciding, p=self.deciding[by_people]),
            *rng.choice(len(self.pictures), shown, p=self.showing),
        ]
        records = [self.pictures.records[n] for n in numbers]
        pixels, moved = augmented(
            self.pictures.pictures(numbers), [record.objects for record in records], rng=rng
        )
        targets = self.room.vision_targets(records, moved)
        features, tokens = self.trainee.see(pixels)
        loss, readings = self.trainee.vision_loss(features, tokens, targets, aligns=self.name != "vision")
        if not self.asks:
            return loss, readings
        kinds = [DECIDING_KINDS] * deciding + [SHOWING_KINDS] * shown
        rows = [
            _dialogues(wanted, record, objects, rng=rng, by_people=by_people)
            for wanted, record, objects in zip(kinds, records, moved, strict=True)
        ]
        answer_loss, answer_readings = self.trainee.answer_loss(tokens, self.room.packer.pack(rows, rng=rng))
        return answer_loss + AUXILIARY_WEIGHT * loss, {**readings, **answer_readings}

    def _share_out(self) -> None:
        records = self.pictures.records
        self.deciding = {one: deciding_shares(records, by_people=one) for one in (False, True)}
        self.showing = showing_shares(self.pictures.records, probe_share=PROBE_SHARE)

    def check(self) -> Readings:
        """Return how the model does on the validation pictures; ``score`` is what training looks for."""
        return self.exam.sight(self.trainee) if self.name == "vision" else self.exam.answers(self.trainee)


def _dialogues(
    kinds: Sequence[str],
    record: PictureRecord,
    objects: Sequence[SeenObject],
    *,
    rng: np.random.Generator,
    by_people: bool,
) -> list[Dialogue]:
    """Return one dialogue of each kind; instead of a probe it is now and then one statement."""
    wanted = [pick(rng, ("probe", "statement")) if kind == "probe" else kind for kind in kinds]
    return [draw_dialogue(kind, record, objects, rng=rng, by_people=by_people) for kind in wanted]
