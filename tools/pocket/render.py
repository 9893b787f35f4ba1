"""Renders training pictures in shards: ``python -m tools.pocket.render --domain indoor``."""

import argparse
import io
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from tools.pocket.sets import SetSampler
from tools.pocket.shards import PictureRecord, Pixels, record_of, write_shard
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.scenes.render.generator import make_scene_source
from vlmlab.core.scenes.scene import SceneSource
from vlmlab.core.scenes.strata import is_askable
from vlmlab.core.seeding import derive_seed, pick, rng_for

ROOT_SEED = 7_402_331
RANDOM_SIZES = (1, 2, 3, 4)
MOST_PASSED_OVER = 50


def _training_set(sampler: SetSampler, rng: np.random.Generator, _place: int) -> Key:
    return sampler.draw(rng)


def _small_set(sampler: SetSampler, rng: np.random.Generator, place: int) -> Key:
    actions = list(sampler.domain.actions)
    return sampler.draw_by_answer(rng, action=actions[place % len(actions)], largest=2)


def _random_set(sampler: SetSampler, rng: np.random.Generator, _place: int) -> Key:
    return sampler.draw_of_size(rng, pick(rng, RANDOM_SIZES))


def _set_of_several(sampler: SetSampler, rng: np.random.Generator, _place: int) -> Key:
    while True:
        key = sampler.draw_by_things(rng)
        if sum(is_askable(sampler.domain, one) for one in key) > 1:
            return key


DRAWS: Mapping[str, Callable[[SetSampler, np.random.Generator, int], Key]] = {
    "training": _training_set,
    "small": _small_set,
    "random": _random_set,
    "several": _set_of_several,
}
"""Sets as training wants them; sets of one or two concepts, each answer in turn; any set of size 1 to 4; sets
with two or three things that may be asked for."""


def decoded(image_png: bytes) -> Pixels:
    """Return PNG bytes as ``(height, width, 3)`` uint8."""
    return np.asarray(Image.open(io.BytesIO(image_png)).convert("RGB"))


def render_shard(
    source: SceneSource,
    sampler: SetSampler,
    *,
    purpose: str,
    number: int,
    count: int,
    draws: str = "training",
) -> tuple[Pixels, list[PictureRecord]]:
    """Draw sets and render them until there are ``count`` pictures.

    Args:
        source: makes the pictures.
        sampler: draws the sets.
        purpose: name of the seed space, such as ``pocket-train``; no search and no test uses it.
        number: the shard's number in that space.
        count: pictures to make; sets that cannot be shown are passed over.
        draws: which sets, one of ``DRAWS``.

    Returns:
        ``(count, height, width, 3)`` pictures and their records.

    Raises:
        SystemExit: one set after the other cannot be shown.
    """
    slug = sampler.domain.slug
    rng = rng_for(ROOT_SEED, purpose, slug, "sets", number)
    draw = DRAWS[draws]
    pictures: list[Pixels] = []
    records: list[PictureRecord] = []
    place = passed_over = 0
    while len(pictures) < count:
        key = draw(sampler, rng, len(pictures))
        seed = derive_seed(ROOT_SEED, purpose, slug, "scene", number, place)
        place += 1
        try:
            scene = source.generate(key, seed=seed)
        except VlmLabError as error:
            print(f"passed over {key}: {error}", flush=True)
            passed_over += 1
            if passed_over == MOST_PASSED_OVER:
                raise SystemExit(f"{passed_over} sets in a row cannot be shown; the last: {error}") from error
            continue
        passed_over = 0
        picture = decoded(scene.image_png)
        pictures.append(picture)
        size = (picture.shape[1], picture.shape[0])
        records.append(record_of(sampler.domain, key, scene, size=size))
    return np.stack(pictures), records


def positive(text: str) -> int:
    """Read a whole number of at least 1 from a command line.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1 is needed, not {text}")
    return int(text)


def main() -> None:
    """Read the command line and render the shards that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--domain", choices=DOMAIN_SLUGS, required=True)
    parser.add_argument("--out", type=Path, help="default: var/pocket/PURPOSE/DOMAIN")
    parser.add_argument("--purpose", default="train", help="name of the seed space and folder")
    parser.add_argument("--draws", choices=DRAWS, default="training", help="which sets")
    parser.add_argument("--first", type=int, default=0, help="number of the first shard")
    parser.add_argument("--shards", type=int, default=64, help="number of the shard behind the last")
    parser.add_argument("--count", type=positive, default=64, help="pictures a shard")
    parser.add_argument("--width", type=positive, default=256)
    parser.add_argument("--height", type=positive, default=192)
    parser.add_argument("--quality", choices=["fast", "standard"], default="fast")
    options = parser.parse_args()
    domain = load_domain(options.domain)
    sampler = SetSampler(domain)
    folder = options.out or Path("var/pocket") / options.purpose / domain.slug
    source = make_scene_source(
        domain=domain.slug, width=options.width, height=options.height, quality=options.quality
    )
    for number in range(options.first, options.shards):
        if (folder / f"shard_{number:04d}.json").exists():
            continue
        start = time.monotonic()
        purpose = f"pocket-{options.purpose}"
        pictures, records = render_shard(
            source, sampler, purpose=purpose, number=number, count=options.count, draws=options.draws
        )
        write_shard(folder, number, pictures, records)
        seconds = (time.monotonic() - start) / len(pictures)
        print(f"shard {number}: {len(pictures)} pictures, {seconds:.2f} s each", flush=True)


if __name__ == "__main__":
    main()
