"""Draws the picture of every concept that the domain pages show; the result is committed under ``static/``."""

import io
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from PIL import Image

from searches.services.scene_sources import scene_source
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain
from vlmlab.core.scenes.concepts import Domain, Key

WIDTH, HEIGHT = 320, 240
COMPANIONS = ((), ("town_town01",), ("pedestrian",), ("cone",))
# Layouts that show the concept well, found by looking at them; every other concept takes the first number.
SEEDS: dict[str, int] = {}
FIRST_SEED = 3


class Command(BaseCommand):
    """Writes ``static/img/concepts/<domain>/<concept>.webp``."""

    help = "Draw the pictures of all concepts again (needed after the renderer changed)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--domain", default=DOMAIN_SLUGS[0], choices=DOMAIN_SLUGS)
        parser.add_argument("--only", nargs="*", default=None, help="ids of some concepts; default: all")
        parser.add_argument("--seed", type=int, default=None, help="layout seed; default: the chosen ones")
        parser.add_argument("--out", type=Path, default=None, help="another folder")

    def handle(self, *args: Any, **options: Any) -> None:
        """Draw and write each picture."""
        domain = load_domain(options["domain"])
        folder = options["out"] or settings.BASE_DIR / "static" / "img" / "concepts" / domain.slug
        folder.mkdir(parents=True, exist_ok=True)
        source = scene_source(domain.slug, width=WIDTH, height=HEIGHT)
        for concept in domain.concepts:
            if options["only"] and concept.id not in options["only"]:
                continue
            seed = options["seed"] if options["seed"] is not None else SEEDS.get(concept.id, FIRST_SEED)
            scene = source.generate(smallest_set_with(concept.id, domain), seed=seed)
            target = folder / f"{concept.id}.webp"
            Image.open(io.BytesIO(scene.image_png)).save(target, "WEBP", quality=82, method=6)
            self.stdout.write(f"{concept.id}: {target.stat().st_size / 1000:.0f} kB")


def smallest_set_with(concept_id: str, domain: Domain) -> Key:
    """Return a small valid set that shows the concept; a place, distance or weather needs something to act on.

    Raises:
        CommandError: no companion makes it valid.
    """
    for companions in COMPANIONS:
        key = domain.canonical((concept_id, *companions))
        if domain.is_compatible(key):
            return key
    raise CommandError(f"No small valid set shows {concept_id}.")
