"""What training looks at to choose a state: greedy answers on validation pictures."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from tools.pocket.augment import as_pixels
from tools.pocket.claims import certain_statements
from tools.pocket.locating import own_prompt
from tools.pocket.packing import Packer
from tools.pocket.scores import LEAST_SIDE, RIGHT_IOU
from tools.pocket.shards import PictureStore, SeenObject
from tools.pocket.trainee import Trainee
from tools.pocket.training import Readings
from tools.pocket.truth import class_of
from vlmlab.core.boxes import set_iou
from vlmlab.core.conventions import RELATIVE_1000
from vlmlab.core.replies.boxes import parse_boxes
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.scenes.recognition import statement_prompt
from vlmlab.core.seeding import pick, rng_for

BATCH = 64
MOST_NEW_TOKENS = 40


@dataclass(frozen=True)
class ExamQuestion:
    """One prompt about one validation picture.

    Attributes:
        part: what it tests (``one``, ``several``, ``driving:continue``, ``true``, ...).
        picture: number in the store.
        prompt: the user's text.
        answer: the right letter, "" where boxes are asked for.
        objects: what is asked for.
    """

    part: str
    picture: int
    prompt: str
    answer: str = ""
    objects: tuple[SeenObject, ...] = ()


class Exam:
    """Questions about validation pictures that stay the same through a training.

    Args:
        store: validation pictures.
        packer: knows the tokenizer and the chat template's tokens.
        seed: of what is asked.
    """

    def __init__(self, store: PictureStore, packer: Packer, *, seed: int) -> None:
        self.store, self.packer = store, packer
        rng = rng_for(seed, "exam")
        self.questions = [one for n in range(len(store)) for one in self._about(n, rng)]

    def _about(self, number: int, rng: np.random.Generator) -> list[ExamQuestion]:
        record = self.store.records[number]
        domain = load_domain(record.domain)
        asked = [one for one in record.objects if one.is_asked and self._is_large(one)]
        rows = []
        if asked:
            one = pick(rng, asked)
            rows.append(ExamQuestion("one", number, own_prompt([one.label]), objects=(one,)))
        if len(asked) > 1:
            some = [asked[int(n)] for n in rng.permutation(len(asked))[:3]]
            labels = [one.label for one in some]
            rows.append(ExamQuestion("several", number, own_prompt(labels), objects=tuple(some)))
        question = ask_question(domain, record.key, seed=number)
        part = f"{domain.slug}:{question.decision.action}"
        size = "" if len(record.key) <= 2 else " large"
        rows.append(ExamQuestion(part + size, number, question.prompt, answer=question.expected_letter))
        about = [one for one in certain_statements(record) if one.concept in record.key]
        for is_true in (True, False):
            wanted = [one for one in about if one.is_true == is_true]
            if wanted:
                prompt = statement_prompt(pick(rng, wanted).text)
                rows.append(
                    ExamQuestion(str(is_true).lower(), number, prompt, answer="T" if is_true else "F")
                )
        return rows

    def _is_large(self, one: SeenObject) -> bool:
        x0, y0, x1, y1 = one.box
        return float(np.sqrt((x1 - x0) * (y1 - y0))) * self.store.side >= LEAST_SIDE

    @torch.no_grad()
    def sight(self, trainee: Trainee) -> Readings:
        """Return how often the surest cell of an object's class holds a box with IoU >= 0.5."""
        trainee.eval()
        right: list[bool] = []
        for start in range(0, len(self.store), BATCH):
            numbers = range(start, min(start + BATCH, len(self.store)))
            features, _ = trainee.see(as_pixels(self.store.pictures(numbers)))
            logits, boxes = trainee.heads.seen(features)
            sure = logits.float().softmax(-1)
            for place, number in enumerate(numbers):
                for one in self.store.records[number].objects:
                    name = class_of(one)
                    if one.is_asked and name is not None and self._is_large(one):
                        cell = int(sure[place, :, name + 1].argmax())
                        found = boxes[place, cell].numpy()[None].astype(np.float64)
                        right.append(set_iou(found, np.array([one.box])) >= RIGHT_IOU)
        return {"score": float(np.mean(right)), "objects": float(len(right))}

    @torch.no_grad()
    def answers(self, trainee: Trainee) -> Readings:
        """Return the share of right answers of each part; the score is the mean over tasks."""
        trainee.eval()
        parts: dict[str, list[bool]] = {}
        ordered = sorted(self.questions, key=lambda one: (one.answer == "", len(one.objects)))
        for start in range(0, len(ordered), BATCH):
            batch = ordered[start : start + BATCH]
            for one, text in zip(batch, self._replies(trainee, batch), strict=True):
                parts.setdefault(one.part, []).append(is_right(one, text))
        shares = {part: float(np.mean(rows)) for part, rows in sorted(parts.items())}
        tasks = [
            [value for part, value in shares.items() if part.startswith(task) and "large" not in part]
            for task in ("one", "several", "driving", "indoor", ("true", "false"))
        ]
        return {"score": float(np.mean([np.mean(task) for task in tasks if task])), **shares}

    def _replies(self, trainee: Trainee, batch: Sequence[ExamQuestion]) -> list[str]:
        tokenizer = self.packer.tokenizer
        encode = tokenizer.backend_tokenizer.encode
        rows = [[*self.packer.prefix, *encode(one.prompt).ids, *self.packer.suffix] for one in batch]
        longest = max(len(row) for row in rows)
        pad = int(tokenizer.pad_token_id)
        ids = torch.tensor([[pad] * (longest - len(row)) + row for row in rows])
        output = trainee.vlm.generate(
            input_ids=ids,
            attention_mask=(ids != pad).long(),
            pixel_values=as_pixels(self.store.pictures([one.picture for one in batch])),
            max_new_tokens=MOST_NEW_TOKENS if any(one.objects for one in batch) else 2,
            do_sample=False,
        )
        return [str(text) for text in tokenizer.batch_decode(output[:, longest:], skip_special_tokens=True)]


def is_right(question: ExamQuestion, text: str) -> bool:
    """Return whether a reply is right: the letter alone, or boxes with a set IoU of at least 0.5."""
    if question.answer:
        return text.strip() == question.answer
    reading = parse_boxes(text, convention=RELATIVE_1000, image_size=(1000, 1000))
    if reading.status != "boxes":
        return False
    found = np.array([item.box for item in reading.items], dtype=np.float64)
    wanted = np.array([one.box for one in question.objects], dtype=np.float64) * 1000
    return bool(set_iou(found, wanted) >= RIGHT_IOU)
