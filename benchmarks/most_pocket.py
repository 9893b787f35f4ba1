"""Compare the modality searches on the pocket VLM and scenes of ours: real pictures, prompts and answers.

    python benchmarks/most_pocket.py --images 2 --budget 300 --out benchmarks/results/most_pocket.md

Draws ``--images`` annotated pictures of each stratum, asks each once as it is, and searches those that are
eligible in every regime with every algorithm. A search ends at its first failure (screen first weakens it as
far as it still fails) or at the budget, which is the same for all. Prints how many searches found a failure,
how many answers the first one took (median; a miss counts as more than any budget), answers in all, and the
milliseconds an answer of perturbing, of waiting for the system, and of everything else.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.most import goals, median_with_interval, success
from vlmlab.core.images import decode_png
from vlmlab.core.most.admission import FidelityMemory
from vlmlab.core.most.bench import BenchResult
from vlmlab.core.most.config import PRESETS, MostConfig, config_from_values
from vlmlab.core.most.evaluate import Perturber, SeedImage, outcome_of, read_answer
from vlmlab.core.most.outcomes import is_eligible
from vlmlab.core.most.prompt_embedding import prompt_embedder
from vlmlab.core.most.search import build_search, build_space
from vlmlab.core.most.types import REGIMES, Fidelity, Outcome, Query, Regime, Strategy
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.masks import decode_mask
from vlmlab.core.scenes.render.generator import make_scene_source
from vlmlab.core.scenes.strata import STRATA, AnnotatedScene, draw_annotated
from vlmlab.core.seeding import derive_seed, pick, rng_for
from vlmlab.core.suts.asking import AskingParams, localization_prompt, protected_parts
from vlmlab.core.suts.base import Sut, SutReply, SutRequest

SIZE = (448, 336)
ASKING = AskingParams(prompt_style="json_0_1000")
ALGORITHMS = {"screen": "standard", "nsga2": "faithful", "random": "random"}
"""Algorithm -> the preset whose settings it has; only the budget is another one."""


@dataclass(frozen=True)
class PocketResult:
    """One search, with where its time went.

    Attributes:
        bench: numbers of the search; its family is the stratum, its seed the number of the picture.
        perturbing: seconds of perturbing, measuring and encoding.
        inference: seconds of waiting for the system and reading its answers.
    """

    bench: BenchResult
    perturbing: float
    inference: float


class Stopwatch:
    """Seconds spent within its blocks; a block within a block counts once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth, self._since = 0, 0.0

    def __enter__(self) -> None:
        self._since = self._since if self._depth else time.perf_counter()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self.seconds += time.perf_counter() - self._since


@dataclass(frozen=True, eq=False)
class Pocket:
    """The system and how it is asked."""

    sut: Sut

    def answer(self, made: Sequence[tuple[bytes, str]]) -> list[SutReply]:
        """Return what is said to pictures with prompts."""
        replies = self.sut.generate([SutRequest(png, prompt) for png, prompt in made])
        failed = [reply.call_error for reply in replies if reply.is_call_error]
        if failed:
            sys.exit(f"A call failed: {failed[0]}")
        return replies


def seed_image_of(drawn: AnnotatedScene, *, seed: int) -> SeedImage:
    """Return the clean input of a picture: one of its labels, drawn, with the masks of its things."""
    scene = drawn.scene
    label = pick(rng_for(seed, "label", scene.image_sha256), drawn.asked)
    things = [one for one in drawn.truth if one.label == label]
    masks = [decode_mask(one.mask, width=SIZE[0], height=SIZE[1]) for one in things if one.mask]
    return SeedImage(
        image_id=scene.image_sha256,
        pixels=decode_png(scene.image_png),
        label=label,
        prompt=localization_prompt(ASKING, f"the {label}" if len(things) == 1 else f"every {label}"),
        truth=np.array([one.box for one in things], dtype=np.float64),
        masks=np.stack(masks) if len(masks) == len(things) else None,
        protected=protected_parts(ASKING),
    )


def drawn_seeds(images: int, *, seed: int) -> list[tuple[str, SeedImage]]:
    """Return so many seed images of each stratum."""
    seeds = []
    for stratum in STRATA.values():
        domain = load_domain(stratum.domain)
        source = make_scene_source(domain=domain.slug, width=SIZE[0], height=SIZE[1], quality="fast")
        for index in range(images):
            drawn = draw_annotated(stratum, domain, source, seed=seed, index=index, size=SIZE)
            seeds.append((stratum.id, seed_image_of(drawn, seed=seed)))
    return seeds


def load_pocket(checkpoint: str, *, slots: int) -> Pocket:
    """Return the system, loaded; its batches have one fixed size."""
    from vlmlab.core.suts.checkpoint import inspect_checkpoint
    from vlmlab.core.suts.local_loading import load_checkpoint
    from vlmlab.core.suts.local_params import TransformersLocalParams
    from vlmlab.core.suts.transformers_local import TransformersLocalSut

    report = inspect_checkpoint(Path(checkpoint).resolve())
    params = TransformersLocalParams(
        checkpoint=str(report.folder), device="cpu", batch_size=slots, threads=1, asking=ASKING
    )
    return Pocket(TransformersLocalSut(load_checkpoint(report, params), report, params))


def answered(
    pocket: Pocket, perturber: Perturber, queries: Sequence[Query], watches: Sequence[Stopwatch]
) -> list[Outcome]:
    """Return what came of a batch; the first watch counts perturbing, the second the system."""
    with watches[0]:
        made = [perturber.perturbed(query.strategy) for query in queries]
        pictures = [(one.png, one.prompt) for one in made]
    with watches[1]:
        said = pocket.answer(pictures)
        answers = [
            read_answer(reply, truth=one.truth.boxes, convention=ASKING.convention, image_size=SIZE)
            for reply, one in zip(said, made, strict=True)
        ]
    return [
        outcome_of(query, answer, one.fidelity)
        for query, answer, one in zip(queries, answers, made, strict=True)
    ]


def search_of(
    pocket: Pocket, config: MostConfig, seed_image: SeedImage, *, stratum: str, number: int, regime: Regime
) -> PocketResult | None:
    """Run one search to its end; None where the seed image is not eligible."""
    watches = Stopwatch(), Stopwatch()
    space = build_space(
        config, regime=regime, image_operators=tuple(IMAGE_OPERATORS), text_operators=tuple(TEXT_OPERATORS)
    )
    perturber = Perturber(seed_image, space=space, run_seed=number, embed=prompt_embedder())
    nothing = Query((0.0,) * len(space.operators))
    [clean] = answered(pocket, perturber, [nothing], watches)
    if not is_eligible(clean.status, clean.iou, iou_threshold=config.iou_threshold):
        return None

    def fidelity(strategy: Strategy) -> Fidelity:
        with watches[0]:
            return perturber.fidelity(strategy)

    started = time.perf_counter()
    for watch in watches:
        watch.seconds = 0.0
    memory = FidelityMemory(fidelity)
    with watches[0]:
        target = perturber.target(clean_iou=clean.iou, fidelity=memory)
    search = build_search(config, target=target, run_seed=derive_seed(number, "search", regime))
    batches = 0
    while batch := search.ask():
        search.tell(answered(pocket, perturber, batch, watches))
        batches += 1
    with watches[0]:  # likeness is measured beside perturbing
        case = search.returned_case(lambda outcome: perturber.swtd(outcome, clean_iou=clean.iou))
        assert case is not None
        swtd = perturber.swtd(case.outcome, clean_iou=clean.iou)
    perturbing, inference = (watch.seconds for watch in watches)
    severities = zip(space.operators, case.outcome.query.strategy, strict=True)
    bench = BenchResult(
        algorithm=config.algorithm,
        family=stratum,
        regime=regime,
        seed=number,
        first_hit=search.first_hit,
        evaluations=search.evaluations,
        batches=batches,
        fidelities=memory.measured,
        end_reason=str(search.end_reason),
        strategy={name: severity for name, severity in severities if severity > 0.0},
        swtd=swtd,
        own_seconds=time.perf_counter() - started - perturbing - inference,
    )
    return PocketResult(bench, perturbing, inference)


def table(results: Sequence[PocketResult], names: Sequence[str]) -> list[str]:
    """Return the lines of one table: every regime and algorithm."""
    lines = [
        "| regime | algorithm | found | answers to the first failure | answers in all | distances measured "
        "| ms an answer: perturbing | the system | all else |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for regime in REGIMES:
        for name in names:
            some = [one for one in results if (one.bench.algorithm, one.bench.regime) == (name, regime)]
            if not some:
                continue
            runs = [one.bench for one in some]
            answers = sum(one.evaluations for one in runs)
            spent = [
                sum(one.perturbing for one in some),
                sum(one.inference for one in some),
                sum(one.own_seconds for one in runs),
            ]
            cells = [
                success(runs),
                median_with_interval(runs),
                f"{answers / len(runs):.0f}",
                f"{np.mean([one.fidelities for one in runs]):.0f}",
                *(f"{1000 * seconds / answers:.1f}" for seconds in spent),
            ]
            lines.append(f"| {regime} | {name} | " + " | ".join(cells) + " |")
    return lines


def operators_line(results: Sequence[PocketResult]) -> str:
    """Return which operators act most often in failures that were found."""
    found = [one.bench for one in results if one.bench.first_hit is not None]
    counted = Counter(name for one in found for name in one.strategy)
    named = ", ".join(f"{name} {count}" for name, count in counted.most_common(12))
    return f"Operators in the {len(found)} returned failures: {named}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every search on every eligible seed image, print and write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", nargs="?", default=str(ROOT / "vlmlab/assets/pocket"))
    parser.add_argument("--images", type=int, default=2, help="seed images of each stratum")
    parser.add_argument("--seed", type=int, default=1, help="of the seed images")
    parser.add_argument("--budget", type=int, default=300, help="answers that a search may take")
    parser.add_argument("--slots", type=int, default=8, help="questions asked together, by every algorithm")
    parser.add_argument("--regimes", default=",".join(REGIMES))
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--out", type=Path, help="also write the tables to this file")
    parser.add_argument("--json", type=Path, help="write every search to this file")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a goal is missed")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    names = options.algorithms.split(",")
    regimes = [one for one in REGIMES if one in options.regimes.split(",")]
    changes = {"inference_budget": options.budget, "give_up_after": options.budget, "slots": options.slots}
    configs = [config_from_values({**PRESETS[ALGORITHMS[name]].values, **changes}) for name in names]
    pocket, seeds = (
        load_pocket(options.checkpoint, slots=options.slots),
        drawn_seeds(options.images, seed=options.seed),
    )
    results: list[PocketResult] = []
    eligible = 0
    for number, (stratum, seed_image) in enumerate(seeds):
        found = [
            search_of(pocket, config, seed_image, stratum=stratum, number=number, regime=regime)
            for regime in regimes
            for config in configs
        ]
        results += [one for one in found if one is not None]
        eligible += found[0] is not None
        print(f"{stratum}, {seed_image.label}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    compared, missed = goals([one.bench for one in results])
    seconds = time.monotonic() - start
    command = "python benchmarks/most_pocket.py " + " ".join(sys.argv[1:] if arguments is None else arguments)
    lines = [
        f"`{command}`: {eligible} of {len(seeds)} seed images are eligible, {seconds:.0f} s. "
        "Intervals are of 95 %.",
        "",
        *table(results, names),
        *compared,
        "",
        operators_line(results),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in results], indent=1), encoding="utf-8")
    for sentence in missed:
        print(f"missed: {sentence}", file=sys.stderr)
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
