"""Trains the pocket VLM: ``python -m tools.pocket.train --resume`` goes through all phases."""

import argparse
import os
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from tools.pocket import workers
from tools.pocket.augment import as_pixels
from tools.pocket.exam import Exam
from tools.pocket.imagined import imagined_record
from tools.pocket.lessons import Classroom, LanguageLesson, PictureLesson
from tools.pocket.model import PocketShape, build_model, build_processor, save_checkpoint
from tools.pocket.packing import Packer
from tools.pocket.rectangles import rectangle_pictures
from tools.pocket.render import positive
from tools.pocket.shards import PictureStore
from tools.pocket.tokenizer import build_tokenizer, coordinate_rows, wrapped
from tools.pocket.trainee import Trainee
from tools.pocket.training import LAST, Phase, PhasePlan
from tools.pocket.wordings import prompt_corpus
from vlmlab.core.seeding import rng_for

SEED = 20_265
CORPUS_SCENES = 6000
RECTANGLE_SEEDS = 30
MODEL = "vlm."
EYES = (f"{MODEL}model.vision_tower.", "heads.")
PLANS = {
    "language": PhasePlan(
        steps=850,
        rate=2e-3,
        muon_rate=4e-3,
        constant_share=0.65,
        check_steps=100,
        batch_size=32,
        seed=SEED,
    ),
    "vision": PhasePlan(steps=3000, rate=1.5e-3, muon_rate=1.5e-3, check_steps=250, batch_size=32, seed=SEED),
    "bridge": PhasePlan(steps=200, rate=2e-3, muon_rate=3e-3, check_steps=100, batch_size=32, seed=SEED),
    "joint": PhasePlan(
        kept_steps=(200, 400, 600),
        slow_parts=EYES,
        slow_share=0.25,
        steps=1000,
        rate=1.5e-3,
        muon_rate=2.5e-3,
        constant_share=0.45,
        check_steps=200,
        batch_size=32,
        seed=SEED,
    ),
}
STARTS = {"language": (), "vision": (), "bridge": ("language", "vision"), "joint": ("bridge",)}
"""Phases whose best states a phase goes on from; of the second only the eyes are taken."""

SHAPE = PocketShape()


@dataclass(frozen=True)
class School:
    """A trainee with everything that is built around it."""

    trainee: Trainee
    room: Classroom
    shape: PocketShape


def kept_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """Return the tokenizer of a run; the first call learns it, so later changes of texts change no token."""
    path = folder / "tokenizer.json"
    if path.exists():
        return wrapped(Tokenizer.from_file(str(path)))
    rng = rng_for(SEED, "corpus")
    tokenizer = build_tokenizer(prompt_corpus([imagined_record(rng) for _ in range(CORPUS_SCENES)], rng=rng))
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    tokenizer.backend_tokenizer.save(str(unfinished))
    unfinished.rename(path)
    return tokenizer


def open_school(folder: Path, shape: PocketShape, *, batch_size: int) -> School:
    """Build untrained model, helper heads and packer around the run's tokenizer; equal runs start equal."""
    torch.manual_seed(SEED)
    tokenizer = kept_tokenizer(folder)
    model = build_model(tokenizer, shape)
    trainee = Trainee(model, grid=shape.grid, coordinates=coordinate_rows(tokenizer))
    packer = Packer(tokenizer, image_tokens=shape.grid**2)
    return School(trainee, Classroom(shape.grid, packer, batch_size), shape)


def train_phase(name: str, options: argparse.Namespace) -> Path:
    """Run one phase and return the path of its best state."""
    run, plan = Path(options.out), PLANS[name]
    plan = replace(plan, steps=options.steps or plan.steps, batch_size=options.batch or plan.batch_size)
    folder = run / name
    if (folder / LAST).exists() and not options.resume:
        raise SystemExit(f"{folder} has a training: go on with it (--resume), or move it away first.")
    school = open_school(run, SHAPE, batch_size=plan.batch_size)
    starts = [options.start] if options.start else [run / one / "best.pt" for one in STARTS[name]]
    _load_start(school.trainee, starts)
    folder.mkdir(parents=True, exist_ok=True)
    _choose_parts(school.trainee, name)
    phase = Phase(name, school.trainee, plan, folder)
    if options.resume and phase.resume(folder / LAST):
        print(f"{name}: goes on at step {phase.step}, {phase.spent_seconds:.0f} s", flush=True)
    if name == "language":
        language = LanguageLesson(school.trainee, school.room, seed=plan.seed)
        phase.run(language.loss_at, language.check)
        return folder / "best.pt"
    side = school.shape.image_size
    pictures = open_pictures(options.pictures, side=side)
    pictures.add(*rectangle_pictures(RECTANGLE_SEEDS, side=side))
    exam = Exam(open_pictures([options.validation], side=side), school.room.packer, seed=SEED)
    lesson = PictureLesson(
        school.trainee, school.room, seed=plan.seed, pictures=pictures, exam=exam, name=name
    )
    print_scales(school.trainee, pictures)
    phase.run(lesson.loss_at, lesson.check)
    return folder / "best.pt"


def _load_start(trainee: Trainee, states: list[Path]) -> None:
    """Load the first state whole and of the second one what sees; helper heads may be new.

    Raises:
        RuntimeError: a part of the model is missing.
    """
    for number, path in enumerate(states):
        module = torch.load(path, weights_only=True)["module"]
        kept = {name: value for name, value in module.items() if number == 0 or name.startswith(EYES)}
        missing, _ = trainee.load_state_dict(kept, strict=False)
        lacking = [name for name in missing if name.startswith(MODEL)]
        if number == 0 and lacking:
            raise RuntimeError(f"{path} lacks {', '.join(lacking)}")


def open_pictures(folders: list[str], *, side: int) -> PictureStore:
    """Return all pictures that are there now.

    Raises:
        SystemExit: there are none.
    """
    store = PictureStore([Path(folder) for folder in folders], side=side)
    if not store.refresh():
        raise SystemExit(
            f"No pictures in {', '.join(folders)}: render them first, see tools/pocket/README.md."
        )
    return store


def _choose_parts(trainee: Trainee, name: str) -> None:
    """Choose what learns: codes and words; what sees; the projector alone; all but the codes."""
    eyes = (trainee.vlm.model.vision_tower, trainee.heads)
    words = (
        trainee.vlm.model.language_model,
        trainee.vlm.lm_head,
        trainee.verdict_heads,
        trainee.box_heads,
        trainee.place_heads,
    )
    trainee.codes.requires_grad_(name == "language")
    trainee.vlm.model.multi_modal_projector.requires_grad_(name in ("bridge", "joint"))
    for part in eyes:
        part.requires_grad_(name in ("vision", "joint"))
    for part in words:
        part.requires_grad_(name in ("language", "joint"))
    trainee.has_fixed_tower = name == "bridge"


@torch.no_grad()
def print_scales(trainee: Trainee, pictures: PictureStore) -> None:
    """Print the spread of image tokens, words and positions: they must be of one size to start well."""
    trainee.eval()
    _, tokens = trainee.see(as_pixels(pictures.pictures(range(min(32, len(pictures))))))
    language = trainee.vlm.model.language_model
    scales = {"projector": tokens, "words": language.wte.weight, "positions": language.wpe.weight}
    scales["codes"] = trainee.codes.classes.weight
    print("spread at step 0:", {name: round(float(t.std()), 3) for name, t in scales.items()}, flush=True)
    trainee.train()


def export(state: Path, folder: Path, *, run: Path, shape: PocketShape) -> None:
    """Write the model of a training state as a Hugging Face folder; of the helper heads nothing is read."""
    school = open_school(run, shape, batch_size=1)
    module = torch.load(state, weights_only=True)["module"]
    parts = {name.removeprefix(MODEL): value for name, value in module.items() if name.startswith(MODEL)}
    school.trainee.vlm.load_state_dict(parts)
    processor = build_processor(school.room.packer.tokenizer, school.shape)
    save_checkpoint(school.trainee.vlm, processor, folder)


def main() -> None:
    """Read the command line and train, or export a state."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--phase", choices=["all", *PLANS], default="all")
    parser.add_argument("--out", default="var/pocket/run", help="folder of states and logs")
    parser.add_argument("--pictures", nargs="*", default=["var/pocket/train"], help="folders of shards")
    parser.add_argument("--validation", default="var/pocket/validation", help="folder of validation shards")
    parser.add_argument("--start", type=Path, help="state that the phase starts from")
    parser.add_argument("--steps", type=positive, help="instead of the phase's own number")
    parser.add_argument("--batch", type=positive, help="pictures a step instead of the phase's own number")
    parser.add_argument("--workers", type=positive, default=2, help="processes; each has batches of its own")
    parser.add_argument("--threads", type=positive, default=1, help="of a single process")
    parser.add_argument("--resume", action="store_true", help="go on from the last states in --out")
    parser.add_argument("--export", type=Path, help="write the state of --start to this folder and stop")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.export:
        if options.start is None:
            parser.error("--export needs --start with the state to export")
        export(options.start, options.export, run=Path(options.out), shape=SHAPE)
        return
    kept_tokenizer(Path(options.out))  # learnt before there are workers, all of which would learn it
    for name in PLANS if options.phase == "all" else [options.phase]:
        workers.run(options.workers, train_phase, name, options)


if __name__ == "__main__":
    main()
