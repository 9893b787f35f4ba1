"""Draws the picture of every concept for the domain pages; the result is committed under ``static/``."""

import io
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from PIL import Image

from searches.services.domain_store import shell_domain
from searches.services.scene_sources import scene_source
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.scene import GeneratedScene

WIDTH, HEIGHT = 320, 240
DRAWN_AT = 2  # drawn so many times larger, then cut out and scaled down
LEAST_WINDOW = 0.5  # smallest part of the frame that is shown
ROOM = 2.6  # height of the window in heights of the object
COMPANIONS = ((), ("town_town01",), ("pedestrian",), ("cone",))
# Layouts that show the concept well, found by looking at them; every other concept takes the first number.
SEEDS: dict[str, int] = {"weather_clear_noon": 8}
FIRST_SEED = 3


class Command(BaseCommand):
    """Writes ``static/img/concepts/<domain>/<concept>.webp``."""

    help = "Draw the pictures of all concepts again (needed after the renderer changed)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--domain", default="driving")
        parser.add_argument("--only", nargs="*", default=None, help="ids of some concepts; default: all")
        parser.add_argument("--seed", type=int, default=None, help="layout seed; default: the chosen ones")
        parser.add_argument("--out", type=Path, default=None, help="another folder")

    def handle(self, *args: Any, **options: Any) -> None:
        """Draw and write each picture."""
        domain = shell_domain(options["domain"])
        folder = options["out"] or settings.BASE_DIR / "static" / "img" / "concepts" / domain.slug
        folder.mkdir(parents=True, exist_ok=True)
        source = scene_source(domain, width=WIDTH * DRAWN_AT, height=HEIGHT * DRAWN_AT)
        for concept in domain.concepts:
            if options["only"] and concept.id not in options["only"]:
                continue
            seed = options["seed"] if options["seed"] is not None else SEEDS.get(concept.id, FIRST_SEED)
            scene = source.generate(smallest_set_with(concept.id, domain), seed=seed)
            target = folder / f"{concept.id}.webp"
            picture: Image.Image = Image.open(io.BytesIO(scene.image_png))
            if concept.is_thing:
                picture = picture.crop(window_around(concept.id, scene))
            picture = picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
            picture.save(target, "WEBP", quality=82, method=6)
            self.stdout.write(f"{concept.id}: {target.stat().st_size / 1000:.0f} kB")


def smallest_set_with(concept_id: str, domain: Domain) -> Key:
    """Return a small valid set that shows the concept: a place or a weather needs something to act on.

    Raises:
        CommandError: no valid set holds it.
    """
    for companions in COMPANIONS:
        key = (concept_id, *companions)
        if domain.index.keys() >= set(key) and domain.is_compatible(domain.canonical(key)):
            return domain.canonical(key)
    found = domain.universe(required=(concept_id,))
    if not len(found):
        raise CommandError(f"No valid set shows {concept_id}.")
    return domain.key_of(found[0])  # sorted by size


def window_around(concept_id: str, scene: GeneratedScene) -> tuple[int, int, int, int]:
    """Return the part of the frame that shows an object with some surroundings, in the frame's shape."""
    width, height = WIDTH * DRAWN_AT, HEIGHT * DRAWN_AT
    boxes = [one.visible_box for one in scene.annotations if one.concept == concept_id and one.visible_box]
    if not boxes:
        return (0, 0, width, height)
    x_min, y_min, x_max, y_max = boxes[0]
    share = max(LEAST_WINDOW, ROOM * (y_max - y_min) / height, ROOM / 1.6 * (x_max - x_min) / width)
    if share >= 1:
        return (0, 0, width, height)
    left = min(max((x_min + x_max) / 2 - share * width / 2, 0), width * (1 - share))
    top = min(max((y_min + y_max) / 2 - share * height / 2, 0), height * (1 - share))
    return (round(left), round(top), round(left + share * width), round(top + share * height))
