"""Trains the pocket VLM: ``python -m tools.pocket.train --resume`` goes through all phases."""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from tools.pocket.lessons import Classroom, LanguageLesson, PictureLesson
from tools.pocket.model import PocketShape, build_model, build_processor, save_checkpoint
from tools.pocket.packing import Packer
from tools.pocket.sets import decided_universe
from tools.pocket.shards import PictureStore
from tools.pocket.tokenizer import build_tokenizer, wrapped
from tools.pocket.trainee import Trainee
from tools.pocket.training import Phase, PhasePlan
from tools.pocket.truth import class_names, surrounding_names
from tools.pocket.wordings import prompt_corpus
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.seeding import rng_for

SEED = 20_261
CORPUS_SETS = 3000
PLANS = {
    "language": PhasePlan(steps=350, rate=2e-3, muon_rate=5e-3, seed=SEED),
    "vision": PhasePlan(steps=1040, rate=1.5e-3, muon_rate=1.5e-3, seed=SEED),
    "joint": PhasePlan(steps=325, rate=8e-4, muon_rate=1.5e-3, constant_share=0.3, seed=SEED),
}
QUESTIONS = {"language": 4, "vision": 1, "joint": 3}


@dataclass(frozen=True)
class School:
    """A trainee with everything that is built around it."""

    trainee: Trainee
    room: Classroom
    shape: PocketShape


def kept_tokenizer(folder: Path, domain: Domain) -> PreTrainedTokenizerFast:
    """Return the tokenizer of a run; the first call learns it, so later changes of texts change no token."""
    path = folder / "tokenizer.json"
    if path.exists():
        return wrapped(Tokenizer.from_file(str(path)))
    rng = rng_for(SEED, "corpus")
    keys = [key for key, _ in decided_universe(domain, 4)]
    chosen = [keys[int(place)] for place in rng.integers(0, len(keys), CORPUS_SETS)]
    tokenizer = build_tokenizer(prompt_corpus(domain, chosen, rng=rng))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.backend_tokenizer.save(str(path))
    return tokenizer


def open_school(folder: Path, shape: PocketShape, *, batch_size: int, questions: int) -> School:
    """Build untrained model, helper heads and packer around the run's tokenizer; equal runs start equal."""
    torch.manual_seed(SEED)
    domain = load_domain("driving")
    tokenizer = kept_tokenizer(folder, domain)
    model = build_model(tokenizer, shape)
    trainee = Trainee(
        model, classes=class_names(domain), surroundings=surrounding_names(domain), grid=shape.grid
    )
    packer = Packer(tokenizer, image_tokens=shape.grid**2)
    return School(trainee, Classroom(domain, shape.grid, packer, batch_size, questions), shape)


def train_phase(name: str, options: argparse.Namespace, *, start: Path | None) -> Path:
    """Run one phase and return the path of its best state."""
    school = open_school(
        Path(options.out),
        PocketShape(image_size=options.side),
        batch_size=options.batch,
        questions=QUESTIONS[name],
    )
    if start is not None:
        school.trainee.load_state_dict(torch.load(start, weights_only=True)["module"])
    folder = Path(options.out) / name
    folder.mkdir(parents=True, exist_ok=True)
    plan = PLANS[name] if options.steps is None else replace(PLANS[name], steps=options.steps)
    _choose_parts(school.trainee, name)
    phase = Phase(name, school.trainee, plan, folder)
    if options.resume and phase.resume(folder / "last.pt"):
        print(f"{name}: goes on at step {phase.step}, {phase.spent_seconds:.0f} s", flush=True)
    lesson: LanguageLesson | PictureLesson
    if name == "language":
        lesson = LanguageLesson(school.trainee, school.room, seed=plan.seed)
    else:
        domain = school.room.domain
        pictures = PictureStore([Path(p) for p in options.pictures], domain=domain, side=options.side)
        validation = PictureStore([Path(options.validation)], domain=domain, side=options.side)
        pictures.refresh()
        validation.refresh()
        lesson = PictureLesson(
            school.trainee,
            school.room,
            seed=plan.seed,
            pictures=pictures,
            validation=validation,
            asks=name == "joint",
        )
        print_scales(school.trainee, pictures)
    phase.run(lesson.loss_at, lesson.check)
    return folder / "best.pt"


def _choose_parts(trainee: Trainee, name: str) -> None:
    """Choose what learns: codes and words, then tower and projector, then projector and words."""
    trainee.codes.requires_grad_(name == "language")
    for part in (trainee.vlm.model.language_model, trainee.vlm.lm_head):
        part.requires_grad_(name != "vision")
    if name == "joint":
        trainee.fix_tower()


@torch.no_grad()
def print_scales(trainee: Trainee, pictures: PictureStore) -> None:
    """Print the spread of image tokens, words and positions: they must be of one size to start well."""
    from tools.pocket.augment import as_pixels

    trainee.eval()
    _, tokens = trainee.see(as_pixels(pictures.pictures(range(min(32, len(pictures))))))
    language = trainee.vlm.model.language_model
    scales = {"projector": tokens, "words": language.wte.weight, "positions": language.wpe.weight}
    scales["codes"] = trainee.codes.classes.weight
    print("spread at step 0:", {name: round(float(t.std()), 3) for name, t in scales.items()}, flush=True)
    trainee.train()


def export(state: Path, folder: Path, *, run: Path, side: int) -> None:
    """Write the model of a training state as a Hugging Face folder, without its helper heads."""
    school = open_school(run, PocketShape(image_size=side), batch_size=1, questions=1)
    school.trainee.load_state_dict(torch.load(state, weights_only=True)["module"])
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
    parser.add_argument("--steps", type=int, help="instead of the phase's own number")
    parser.add_argument("--side", type=int, default=160, help="side of the model's input in pixels")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", action="store_true", help="go on from the last states in --out")
    parser.add_argument("--export", type=Path, help="write the state of --start to this folder and stop")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.export:
        if options.start is None:
            parser.error("--export needs --start with the state to export")
        export(options.start, options.export, run=Path(options.out), side=options.side)
        return
    start = options.start
    for name in PLANS if options.phase == "all" else [options.phase]:
        start = train_phase(name, options, start=start)


if __name__ == "__main__":
    main()
