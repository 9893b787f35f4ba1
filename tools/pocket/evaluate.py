r"""Measures a checkpoint the way a search meets it: ordinary loading, prompts and reading of answers.

    python -m tools.pocket.render --domain driving --purpose evaluation-small --draws small --shards 48 \
        --width 320 --height 240 --quality standard
    python -m tools.pocket.evaluate --checkpoint var/pocket/model

Pictures are rendered beforehand, with scene seeds that neither training nor the choice of a state has seen.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from tools.pocket.locating import own_prompt
from tools.pocket.render import ROOT_SEED
from tools.pocket.scores import LEAST_SIDE, RIGHT_IOU, Judged, confusion, malformed, summarised, weakest
from tools.pocket.shards import PictureRecord, SeenObject, read_shard
from vlmlab.core.boxes import iou, set_iou
from vlmlab.core.conventions import RELATIVE_1000
from vlmlab.core.images import encode_png
from vlmlab.core.replies.boxes import BoxReading, parse_boxes
from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain
from vlmlab.core.scenes.questions import Question, ask_question
from vlmlab.core.scenes.recognition import Statement, ask_with_statements
from vlmlab.core.seeding import derive_seed, rng_for
from vlmlab.core.suts.base import Sut, SutReply, SutRequest
from vlmlab.core.suts.checkpoint import CheckpointRoots
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import load_sut

PURPOSE = "pocket-evaluation"
BATCH = 32
MOST_NEW_TOKENS = 64
MODEL_SIDE = 160


@dataclass(frozen=True)
class Asked:
    """One request with all that is needed to judge its reply."""

    task: str
    group: str
    record: PictureRecord
    request: SutRequest
    question: Question | None = None
    statements: tuple[Statement, ...] = ()
    objects: tuple[SeenObject, ...] = ()

    def judged(self, reply: SutReply) -> Iterator[Judged]:
        """Judge the reply: its letter and statements, or its boxes."""
        if reply.is_call_error:
            raise SystemExit(f"A call failed: {reply.call_error}")
        if self.objects:
            yield self._boxes(reply)
            yield from self._by_name(reply)
        elif self.question is not None:
            yield from self._choice(self.question, reply)

    def _choice(self, question: Question, reply: SutReply) -> Iterator[Judged]:
        reading = parse_choice(
            reply.text,
            options=question.options,
            n_statements=len(self.statements),
            finish_reason=reply.finish_reason,
        )
        letter = reading.letter if reading.status == "answered" else None
        answered = question.actions[letter] if letter else "invalid"
        expected, key = question.decision.action, self.record.key
        is_right = answered == expected
        yield Judged(self.task, self.group, key, is_right, letter is None, expected, answered)
        for statement, verdict in zip(self.statements, reading.statements, strict=True):
            sign = "true" if statement.is_true else "false"
            task = f"{self.record.domain} statement"
            is_right = verdict == statement.is_true
            yield Judged(task, sign, (statement.concept,), is_right, verdict is None, is_reply=False)

    def _boxes(self, reply: SutReply) -> Judged:
        reading = _read_boxes(reply)
        found = np.array([item.box for item in reading.items], dtype=np.float64).reshape(-1, 4)
        wanted = np.array([one.box for one in self.objects], dtype=np.float64) * 1000
        overlap = set_iou(found, wanted)
        is_malformed = reading.status == "malformed"
        right = overlap >= RIGHT_IOU
        pooled = f"{self.task}: {'one object' if len(self.objects) == 1 else 'two or three objects'}"
        return Judged(self.task, self.group, self.record.key, right, is_malformed, iou=overlap, pooled=pooled)

    def _by_name(self, reply: SutReply) -> Iterator[Judged]:
        """Judge each object alone: whether a box with its very name lies where it is."""
        items = _read_boxes(reply).items
        for one in self.objects:
            wanted = np.array([one.box], dtype=np.float64) * 1000
            overlaps = [float(iou(np.array([i.box]), wanted)[0, 0]) for i in items if i.label == one.label]
            right = max(overlaps, default=0.0) >= RIGHT_IOU
            yield Judged(f"{self.task} by name", self.group, (one.concept,), right, is_reply=False)


def _read_boxes(reply: SutReply) -> BoxReading:
    return parse_boxes(
        reply.text, convention=RELATIVE_1000, image_size=(1000, 1000), finish_reason=reply.finish_reason
    )


def decision_about(record: PictureRecord, png: bytes, number: int) -> Iterator[Asked]:
    """Return the decision about a picture of a random set; ``number`` as in ``everything_about``."""
    domain = load_domain(record.domain)
    question = ask_question(domain, record.key, seed=_seed_of(record, number))
    request = SutRequest(png, question.prompt)
    yield Asked(f"{domain.slug} random", f"size {len(record.key)}", record, request, question)


def several_about(record: PictureRecord, png: bytes, number: int) -> Iterator[Asked]:
    """Return the request for two or three things of a picture; ``number`` as in ``everything_about``."""
    large = [one for one in _in_any_order(record, number) if side_of(one) >= LEAST_SIDE]
    if len(large) > 1:
        yield _located(record, png, large[: 2 + number % 2])


def everything_about(record: PictureRecord, png: bytes, number: int) -> Iterator[Asked]:
    """Return all that is asked about one picture.

    Args:
        record: the picture's truth.
        png: the picture.
        number: of the picture in the evaluation; orders of options and statements depend on it.
    """
    domain = load_domain(record.domain)
    seed = _seed_of(record, number)
    question = ask_question(domain, record.key, seed=seed)
    action = question.decision.action
    yield Asked(f"{domain.slug} answer", action, record, SutRequest(png, question.prompt), question)
    probed = ask_with_statements(domain, record.key, seed=seed)
    yield Asked(
        f"{domain.slug} answer behind statements",
        action,
        record,
        SutRequest(png, probed.prompt),
        probed.question,
        statements=probed.statements,
    )
    order = _in_any_order(record, number)
    if order:
        yield _located(record, png, order[:1])
    yield from several_about(record, png, number)


def _seed_of(record: PictureRecord, number: int) -> int:
    return derive_seed(ROOT_SEED, PURPOSE, record.domain, number)


def _in_any_order(record: PictureRecord, number: int) -> list[SeenObject]:
    asked = [one for one in record.objects if one.is_asked]
    order = rng_for(_seed_of(record, number), "labels").permutation(len(asked))
    return [asked[int(place)] for place in order]


def _located(record: PictureRecord, png: bytes, objects: Sequence[SeenObject]) -> Asked:
    is_large = all(side_of(one) >= LEAST_SIDE for one in objects)
    count = {1: "one object", 2: "two objects", 3: "three objects"}[len(objects)]
    task = "locating" if is_large else "locating below 16 px"
    request = SutRequest(png, own_prompt([one.label for one in objects]))
    return Asked(task, f"{record.domain}, {count}", record, request, objects=tuple(objects))


def side_of(one: SeenObject) -> float:
    """Return the square root of an object's area in pixels of the model's input."""
    x0, y0, x1, y1 = one.box
    return float(np.sqrt((x1 - x0) * (y1 - y0))) * MODEL_SIDE


def pictures_of(folder: Path, *, most: int | None) -> Iterator[tuple[int, PictureRecord, bytes]]:
    """Return number, truth and PNG of each rendered picture below a folder."""
    number = 0
    for path in sorted(folder.rglob("shard_*.json")):
        pictures, records = read_shard(path)
        for record, picture in zip(records, pictures, strict=True):
            if most is not None and number >= most:
                return
            yield number, record, encode_png(picture)
            number += 1


def judged_rows(
    sut: Sut, folder: Path, ask: Callable[..., Iterator[Asked]], *, most: int | None
) -> list[Judged]:
    """Ask about every picture of a folder, in batches, and judge the replies.

    Args:
        sut: the checkpoint.
        folder: of shards.
        ask: one of the three ``..._about``: what is asked about each picture.
        most: pictures at most.

    Raises:
        SystemExit: there is no picture, or a call failed.
    """
    rows: list[Judged] = []
    waiting: list[Asked] = []
    number = -1
    for number, record, png in pictures_of(folder, most=most):
        waiting += ask(record, png, number)
        if len(waiting) >= 20 * BATCH:
            rows += _ask(sut, waiting)
            waiting = []
    if number < 0:
        raise SystemExit(f"{folder} has no pictures: render them first, see tools/pocket/README.md.")
    return rows + _ask(sut, waiting)


def _ask(sut: Sut, waiting: Sequence[Asked]) -> list[Judged]:
    ordered = sorted(waiting, key=lambda one: (bool(one.objects), len(one.statements), len(one.objects)))
    replies = sut.generate([one.request for one in ordered]) if ordered else []
    return [row for one, reply in zip(ordered, replies, strict=True) for row in one.judged(reply)]


def opened(checkpoint: str) -> Sut:
    """Return the checkpoint (a folder, or ``shipped:NAME``) as a system under test."""
    if not checkpoint.startswith("shipped:"):
        checkpoint = str(Path(checkpoint).resolve())
    settings = {"checkpoint": checkpoint, "batch_size": BATCH, "max_new_tokens": MOST_NEW_TOKENS}
    return load_sut("transformers_local", settings, SutContext(CheckpointRoots(allow_any_folder=True)))


FOLDERS = {
    "evaluation-small": everything_about,
    "evaluation-random": decision_about,
    "evaluation-several": several_about,
}
"""Folder of pictures of each domain -> what is asked about them."""


def main() -> None:
    """Read the command line, measure, and write one JSON file with rows and summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", required=True, help="folder, or shipped:pocket")
    parser.add_argument("--pictures", type=Path, default=Path("var/pocket"), help="where evaluation-* are")
    parser.add_argument("--most", type=int, help="pictures of each folder at most")
    parser.add_argument("--out", type=Path, default=Path("var/pocket/evaluation.json"))
    options = parser.parse_args()
    sut = opened(options.checkpoint)
    rows: list[Judged] = []
    for slug in DOMAIN_SLUGS:
        for name, ask in FOLDERS.items():
            rows += judged_rows(sut, options.pictures / name / slug, ask, most=options.most)
    summary = summarised(rows)
    overlaps = [row.iou for row in rows if row.iou is not None and row.task == "locating"]
    decided = [row for row in rows if row.task.endswith((" answer", " random"))]
    report = {
        "checkpoint": sut.info.fingerprint,
        "summary": {name: asdict(share) for name, share in summary.items()},
        "malformed": {name: asdict(share) for name, share in malformed(rows).items()},
        "mean_iou": float(np.mean(overlaps)) if overlaps else None,
        "confusion": {
            slug: confusion(r for r in decided if r.task.startswith(slug)) for slug in DOMAIN_SLUGS
        },
        "weakest": {
            slug: [
                (name, asdict(share))
                for name, share in weakest(r for r in decided if r.task.startswith(slug))
            ]
            for slug in DOMAIN_SLUGS
        },
        "rows": [asdict(row) for row in rows],
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report))
    for name, share in summary.items():
        print(f"{name:50} {share}")
    for name, share in malformed(rows).items():
        print(f"{'malformed ' + name:50} {share}")


if __name__ == "__main__":
    main()
