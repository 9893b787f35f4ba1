"""Asks again about minimal sets that a search found: how often the model fails on fresh scenes of each.

python manage.py run_search --sut pocket --domain driving --budget 300 --seed 5 --json var/pocket/search.json
python -m tools.pocket.modes --checkpoint shipped:pocket --search var/pocket/search.json --out ...
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from tools.pocket.evaluate import opened
from tools.pocket.render import ROOT_SEED
from tools.pocket.scores import Share, share_of
from vlmlab.core.errors import VlmLabError
from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.questions import Question, ask_question
from vlmlab.core.scenes.render.generator import make_scene_source
from vlmlab.core.scenes.scene import SceneSource
from vlmlab.core.seeding import derive_seed
from vlmlab.core.suts.base import Sut, SutRequest

PURPOSE = "pocket-modes"


def failure_rate(sut: Sut, domain: Domain, key: Key, *, source: SceneSource, scenes: int) -> Share:
    """Return how often the answer is wrong on fresh scenes of a set, with its exact interval."""
    asked: list[tuple[bytes, Question]] = []
    drawn = 0
    while len(asked) < scenes:
        seed = derive_seed(ROOT_SEED, PURPOSE, domain.slug, *key, drawn)
        drawn += 1
        try:
            scene = source.generate(key, seed=seed)
        except VlmLabError as error:
            print(f"passed over a scene of {key}: {error}", flush=True)
            if drawn >= 2 * scenes and not asked:
                raise SystemExit(f"No scene of {', '.join(key)} can be shown: {error}") from error
            continue
        asked.append((scene.image_png, ask_question(domain, key, seed=seed)))
    replies = sut.generate([SutRequest(png, question.prompt) for png, question in asked])
    failed = []
    for (_, question), reply in zip(asked, replies, strict=True):
        if reply.is_call_error:
            raise SystemExit(f"A call failed: {reply.call_error}")
        reading = parse_choice(reply.text, options=question.options, finish_reason=reply.finish_reason)
        failed.append(reading.letter != question.expected_letter)
    return share_of(failed)


def main() -> None:
    """Read the command line, ask again about the first findings of a search, and write one JSON file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkpoint", required=True, help="folder, or shipped:pocket")
    parser.add_argument("--search", type=Path, required=True, help="what run_search --json wrote")
    parser.add_argument("--modes", type=int, default=3, help="how many failure modes, minimal ones")
    parser.add_argument("--scenes", type=int, default=100, help="fresh scenes of each")
    parser.add_argument("--width", type=int, default=320)
    parser.add_argument("--height", type=int, default=240)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    search = json.loads(options.search.read_text())
    domain = load_domain(search["domain"])
    source = make_scene_source(
        domain=domain.slug, width=options.width, height=options.height, quality="standard"
    )
    sut = opened(options.checkpoint)
    rows = []
    minimal = [mode for mode in search["failure_modes"] if mode["is_minimal_in_run"]]
    for mode in minimal[: options.modes]:
        key = domain.canonical(mode["concepts"])
        share = failure_rate(sut, domain, key, source=source, scenes=options.scenes)
        rows.append({"concepts": key, "fresh": asdict(share)})
        print(", ".join(key), share, flush=True)
    options.out.write_text(json.dumps({"domain": domain.ref, "modes": rows}, indent=1))


if __name__ == "__main__":
    main()
