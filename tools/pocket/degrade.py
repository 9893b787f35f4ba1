"""How the pocket VLM's answers fade as pictures and prompts get worse: ``python -m tools.pocket.degrade``.

A plain script for the model card; the perturbation operators of the searches are another matter.
"""

import argparse
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

from tools.pocket.disturb import with_typos, without_words
from tools.pocket.evaluate import Asked, everything_about, opened, pictures_of
from tools.pocket.scores import Judged, Share, share_of
from vlmlab.core.images import encode_png
from vlmlab.core.seeding import rng_for
from vlmlab.core.suts.base import Sut, SutRequest

TASKS = ("driving answer", "indoor answer", "locating")


def _blurred(picture: Image.Image, level: float, _rng: np.random.Generator) -> Image.Image:
    return picture.filter(ImageFilter.GaussianBlur(level))


def _noisy(picture: Image.Image, level: float, rng: np.random.Generator) -> Image.Image:
    values = np.asarray(picture, np.float32) + rng.normal(0.0, level, (picture.height, picture.width, 3))
    return Image.fromarray(values.clip(0, 255).astype(np.uint8))


def _compressed(picture: Image.Image, level: float, _rng: np.random.Generator) -> Image.Image:
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=int(level))
    return Image.open(stream).convert("RGB")


def _fogged(picture: Image.Image, level: float, _rng: np.random.Generator) -> Image.Image:
    return Image.blend(picture, Image.new("RGB", picture.size, (205, 208, 212)), level)


def _darkened(picture: Image.Image, level: float, _rng: np.random.Generator) -> Image.Image:
    return Image.blend(picture, Image.new("RGB", picture.size), level)


PICTURE_CHANGES: Mapping[str, tuple[str, Sequence[float], Callable[..., Image.Image]]] = {
    "blur": ("sigma in pixels of 320", (0.5, 1, 2, 3, 5), _blurred),
    "noise": ("sigma of 255", (5, 10, 20, 40, 70), _noisy),
    "JPEG": ("quality", (60, 30, 15, 8, 4), _compressed),
    "fog": ("share of grey", (0.15, 0.3, 0.45, 0.6, 0.75), _fogged),
    "darkness": ("share of black", (0.2, 0.4, 0.6, 0.75, 0.88), _darkened),
}


def _misspelt(prompt: str, level: float, rng: np.random.Generator) -> str:
    return with_typos(prompt, round(level * sum(sign.islower() for sign in prompt)), rng=rng)


def _shortened(prompt: str, level: float, rng: np.random.Generator) -> str:
    return without_words(prompt, level, rng=rng)


PROMPT_CHANGES: Mapping[str, tuple[str, Sequence[float], Callable[..., str]]] = {
    "typos": ("share of lowercase letters", (0.01, 0.03, 0.06, 0.12, 0.25), _misspelt),
    "dropped words": ("share of lowercase words", (0.05, 0.1, 0.2, 0.4, 0.7), _shortened),
}


def changed(asked: Asked, name: str, level: float, *, seed: int) -> SutRequest:
    """Return a request with its picture or its prompt made worse; the same seed changes it alike."""
    rng = rng_for(seed, name)
    if name in PROMPT_CHANGES:
        prompt = PROMPT_CHANGES[name][2](asked.request.prompt, level, rng)
        return SutRequest(asked.request.image_png, prompt)
    picture = Image.open(io.BytesIO(asked.request.image_png)).convert("RGB")
    return SutRequest(
        encode_png(np.asarray(PICTURE_CHANGES[name][2](picture, level, rng))), asked.request.prompt
    )


def chosen(folders: Sequence[Path], *, each: int) -> list[Asked]:
    """Return the decisions and single-object prompts about the first pictures of each folder."""
    rows = []
    for folder in folders:
        for number, record, png in pictures_of(folder, most=each):
            for one in everything_about(record, png, number):
                if one.task in TASKS and not one.statements and len(one.objects) <= 1:
                    rows.append(one)
    return rows


def shares(sut: Sut, rows: Sequence[Asked], requests: Sequence[SutRequest]) -> dict[str, Share]:
    """Return the share of right replies of each task."""
    judged: list[Judged] = []
    for one, reply in zip(rows, sut.generate(list(requests)), strict=True):
        judged += one.judged(reply)
    return {task: share_of(row.is_right for row in judged if row.task == task) for task in TASKS}


def main() -> None:
    """Read the command line, measure every change at every level, and write one JSON file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", required=True, help="folder, or shipped:pocket")
    parser.add_argument("--small", type=Path, default=Path("var/pocket/evaluation-small"))
    parser.add_argument("--each", type=int, default=200, help="pictures of each domain")
    parser.add_argument("--out", type=Path, default=Path("var/pocket/degradation.json"))
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    sut = opened(options.checkpoint)
    rows = chosen([options.small / slug for slug in ("driving", "indoor")], each=options.each)
    clean = shares(sut, rows, [one.request for one in rows])
    curves: dict[str, dict[str, object]] = {}
    for name, (unit, levels, _) in {**PICTURE_CHANGES, **PROMPT_CHANGES}.items():
        points = []
        for level in levels:
            requests = [changed(one, name, level, seed=number) for number, one in enumerate(rows)]
            found = shares(sut, rows, requests)
            points.append({"level": level, **{task: asdict(share) for task, share in found.items()}})
            print(name, level, {task: str(share) for task, share in found.items()}, flush=True)
        curves[name] = {"unit": unit, "points": points}
    report = {"clean": {task: asdict(share) for task, share in clean.items()}, "curves": curves}
    options.out.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
