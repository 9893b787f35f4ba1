"""Measures a checkpoint the way a search meets it: ordinary loading, prompts and reading of answers."""

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from tools.pocket.render import ROOT_SEED
from tools.pocket.sets import SetSampler, decided_universe
from tools.pocket.truth import ACTIONS
from vlmlab.core.errors import VlmLabError
from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.questions import Question, ask_question
from vlmlab.core.scenes.render.generator import make_scene_source
from vlmlab.core.scenes.scene import SceneSource
from vlmlab.core.seeding import derive_seed, rng_for
from vlmlab.core.stats import clopper_pearson
from vlmlab.core.suts.base import Sut, SutRequest
from vlmlab.core.suts.checkpoint import CheckpointRoots
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import load_sut

PURPOSE = "pocket-evaluation"
LEVEL = 0.95
BATCH = 8


@dataclass(frozen=True)
class Answered:
    """One scene of one part of the evaluation and what came back."""

    part: str
    key: tuple[str, ...]
    expected: str
    answered: str
    raw: str


@dataclass(frozen=True)
class Share:
    """A count with its exact 95 % interval."""

    right: int
    asked: int
    low: float
    high: float


def share_of(right: int, asked: int) -> Share:
    """Return the share with its Clopper-Pearson interval."""
    interval = clopper_pearson(right, asked, LEVEL)
    return Share(right, asked, interval.low, interval.high)


def planned_sets(domain: Domain, *, a_size: int) -> list[tuple[str, tuple[str, ...]]]:
    """Return (part, set) pairs: every single concept, balanced small sets, random sets of size 1 to 4."""
    rng = rng_for(ROOT_SEED, PURPOSE, "sets")
    universe = decided_universe(domain, 4)
    singles = [("single", key) for key, _ in universe if len(key) == 1] * max(1, a_size // 36)
    small = SetSampler(domain, size_shares={1: 0.4, 2: 0.6})
    balanced = [("balanced", small.draw(rng, action=ACTIONS[i % 3])) for i in range(a_size)]
    even = SetSampler(domain, size_shares={1: 0.25, 2: 0.25, 3: 0.25, 4: 0.25})
    random_sets = [("random", _any_set(even, rng)) for _ in range(a_size)]
    return [*singles, *balanced, *random_sets]


def _any_set(sampler: SetSampler, rng: np.random.Generator) -> tuple[str, ...]:
    keys = sampler.every(int(rng.integers(1, 5)))
    return keys[int(rng.integers(len(keys)))]


def ask_all(
    domain: Domain, sets: Sequence[tuple[str, tuple[str, ...]]], *, source: SceneSource, sut: Sut
) -> Iterable[Answered]:
    """Render each set with a seed of its own, ask in batches, read the answers with the project's reader."""
    waiting: list[tuple[str, tuple[str, ...], Question, SutRequest]] = []
    for number, (part, key) in enumerate(sets):
        try:
            scene = source.generate(key, seed=derive_seed(ROOT_SEED, PURPOSE, "scene", number))
        except VlmLabError as error:
            print(f"passed over {key}: {error}", flush=True)
            continue
        question = ask_question(domain, key, seed=derive_seed(ROOT_SEED, PURPOSE, "options", number))
        waiting.append((part, key, question, SutRequest(scene.image_png, question.prompt)))
        if len(waiting) == BATCH:
            yield from _answers(waiting, sut)
            waiting = []
    yield from _answers(waiting, sut)


def _answers(
    waiting: Sequence[tuple[str, tuple[str, ...], Question, SutRequest]], sut: Sut
) -> Iterable[Answered]:
    replies = sut.generate([request for *_, request in waiting]) if waiting else []
    for (part, key, question, _), reply in zip(waiting, replies, strict=True):
        choice = parse_choice(reply.text, options=question.options, finish_reason=reply.finish_reason)
        answered = (
            question.actions[choice.letter] if choice.status == "answered" and choice.letter else "invalid"
        )
        yield Answered(part, key, question.decision.action, answered, reply.text)


def summarised(rows: Sequence[Answered]) -> dict[str, dict[str, Share]]:
    """Return part -> expected action (or ``all``, ``invalid``) -> share of right (or invalid) answers."""
    result: dict[str, dict[str, Share]] = {}
    for part in dict.fromkeys(row.part for row in rows):
        own = [row for row in rows if row.part == part]
        table = {"all": share_of(sum(r.answered == r.expected for r in own), len(own))}
        for action in ACTIONS:
            wanted = [r for r in own if r.expected == action]
            if wanted:
                table[action] = share_of(sum(r.answered == action for r in wanted), len(wanted))
        table["invalid"] = share_of(sum(r.answered == "invalid" for r in own), len(own))
        result[part] = table
    return result


def confusion(rows: Sequence[Answered]) -> dict[str, dict[str, int]]:
    """Return expected -> answered -> count."""
    answers = (*ACTIONS, "invalid")
    return {
        action: {a: sum(r.expected == action and r.answered == a for r in rows) for a in answers}
        for action in ACTIONS
    }


def main() -> None:
    """Read the command line, measure, and write one JSON file with rows and summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", required=True, help="folder, or shipped:pocket")
    parser.add_argument("--out", type=Path, default=Path("var/pocket/evaluation.json"))
    parser.add_argument("--sets", type=int, default=180, help="scenes of each part")
    parser.add_argument("--width", type=int, default=448)
    parser.add_argument("--height", type=int, default=336)
    parser.add_argument("--quality", default="standard")
    parser.add_argument("--cache", type=Path, help="folder that keeps rendered scenes")
    options = parser.parse_args()
    domain = load_domain("driving")
    source = make_scene_source(
        domain=domain.slug,
        width=options.width,
        height=options.height,
        quality=options.quality,
        cache_dir=options.cache,
    )
    checkpoint = options.checkpoint
    if not checkpoint.startswith("shipped:"):
        checkpoint = str(Path(checkpoint).resolve())
    settings = {"checkpoint": checkpoint, "batch_size": BATCH, "max_new_tokens": 32}
    sut = load_sut("transformers_local", settings, SutContext(CheckpointRoots(allow_any_folder=True)))
    rows = list(ask_all(domain, planned_sets(domain, a_size=options.sets), source=source, sut=sut))
    summary = summarised(rows)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "pictures": source.identity,
        "checkpoint": sut.info.fingerprint,
        "summary": {part: {k: asdict(v) for k, v in table.items()} for part, table in summary.items()},
        "confusion": confusion(rows),
        "rows": [asdict(row) for row in rows],
    }
    options.out.write_text(json.dumps(report, indent=1))
    for part, table in summary.items():
        for name, share in table.items():
            print(f"{part:9} {name:15} {share.right}/{share.asked} [{share.low:.2f}, {share.high:.2f}]")


if __name__ == "__main__":
    main()
