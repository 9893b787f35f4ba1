"""Renders training pictures in shards: ``python -m tools.pocket.render --out var/pocket/train``."""

import argparse
import io
import time
from pathlib import Path

import numpy as np
from PIL import Image

from tools.pocket.sets import SetSampler
from tools.pocket.shards import PictureRecord, Pixels, seen_things, write_shard
from tools.pocket.truth import truth_of
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.generator import make_scene_source
from vlmlab.core.scenes.scene import GeneratedScene, SceneSource
from vlmlab.core.seeding import derive_seed, rng_for

ROOT_SEED = 7_402_331


def decoded(image_png: bytes) -> Pixels:
    """Return PNG bytes as ``(height, width, 3)`` uint8."""
    return np.asarray(Image.open(io.BytesIO(image_png)).convert("RGB"))


def render_shard(
    source: SceneSource, sampler: SetSampler, *, purpose: str, number: int, count: int
) -> tuple[Pixels, list[PictureRecord]]:
    """Draw sets and render them until there are ``count`` pictures.

    Args:
        source: makes the pictures.
        sampler: draws the sets.
        purpose: name of the seed space, such as ``pocket-train``; no search and no test uses it.
        number: the shard's number in that space.
        count: pictures to make; sets that cannot be shown are passed over.

    Returns:
        ``(count, height, width, 3)`` pictures and their records.
    """
    rng = rng_for(ROOT_SEED, purpose, "sets", number)
    pictures: list[Pixels] = []
    records: list[PictureRecord] = []
    place = 0
    while len(pictures) < count:
        key = sampler.draw(rng)
        seed = derive_seed(ROOT_SEED, purpose, "scene", number, place)
        place += 1
        try:
            scene = source.generate(key, seed=seed)
        except VlmLabError as error:
            print(f"passed over {key}: {error}", flush=True)
            continue
        pictures.append(decoded(scene.image_png))
        records.append(_record(sampler.domain, key, scene, seed=seed, picture=pictures[-1]))
    return np.stack(pictures), records


def _record(
    domain: Domain, key: tuple[str, ...], scene: GeneratedScene, *, seed: int, picture: Pixels
) -> PictureRecord:
    height, width = picture.shape[:2]
    things = seen_things(truth_of(domain, key), scene.annotations, width=width, height=height)
    return PictureRecord(key, seed, things)


def main() -> None:
    """Read the command line and render the shards that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("var/pocket/train"))
    parser.add_argument("--purpose", default="pocket-train", help="name of the seed space")
    parser.add_argument("--shards", type=int, default=39)
    parser.add_argument("--count", type=int, default=64, help="pictures a shard")
    parser.add_argument("--width", type=int, default=224)
    parser.add_argument("--height", type=int, default=168)
    parser.add_argument("--quality", choices=["fast", "standard"], default="fast")
    options = parser.parse_args()
    domain = load_domain("driving")
    sampler = SetSampler(domain)
    source = make_scene_source(
        domain=domain.slug, width=options.width, height=options.height, quality=options.quality
    )
    for number in range(options.shards):
        if (options.out / f"shard_{number:04d}.json").exists():
            continue
        start = time.monotonic()
        pictures, records = render_shard(
            source, sampler, purpose=options.purpose, number=number, count=options.count
        )
        write_shard(options.out, number, pictures, records)
        seconds = (time.monotonic() - start) / len(pictures)
        print(f"shard {number}: {len(pictures)} pictures, {seconds:.2f} s each", flush=True)


if __name__ == "__main__":
    main()
