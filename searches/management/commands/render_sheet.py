"""Writes a contact sheet of a domain's concepts, so that a person can see what the models are shown."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from searches.management.sizes import picture_size
from searches.services.domain_store import shell_domain
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.blind import blind_items, showcase_sets
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.generator import make_scene_source
from vlmlab.core.scenes.render.sheet import (
    SheetCell,
    beside,
    compose_sheet,
    draw_blind,
    draw_cells,
    read_sets,
)
from vlmlab.core.scenes.render.tracing import QUALITIES
from vlmlab.core.scenes.scene import SceneSource


class Command(BaseCommand):
    """``manage.py render_sheet --domain driving [--out FILE] [--seed N] [--size WxH] [--sets FILE]``."""

    help = "Draw one scene for each concept (or for each line of a file of concept sets) onto one picture."
    requires_system_checks: list[str] = []  # it reads no row and no address of the site

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--domain", default="driving")
        parser.add_argument("--out", type=Path, default=None, help="PNG to write; default: DOMAIN_sheet.png")
        parser.add_argument("--seed", type=int, default=1, help="scene seed of every picture")
        parser.add_argument("--size", default="448x336", help="WIDTHxHEIGHT of one picture in pixels")
        parser.add_argument(
            "--sets", type=Path, default=None, help="file with one concept set a line: id, id, ..."
        )
        parser.add_argument("--columns", type=int, default=5)
        parser.add_argument("--quality", default="standard", choices=sorted(QUALITIES))
        parser.add_argument(
            "--beside-fine",
            action="store_true",
            help="left of each picture, the same scene with many more rays",
        )
        parser.add_argument("--boxes", action="store_true", help="draw the box of each required object")
        parser.add_argument("--no-labels", action="store_true", help="leave the names out")
        parser.add_argument(
            "--blind",
            type=int,
            default=0,
            metavar="N",
            help="draw N pictures of each concept, shuffled and numbered; the answers go to OUT.answers.tsv",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Draw and write the sheet."""
        width, height = picture_size(options["size"])
        out = options["out"] or Path(f"{options['domain']}_sheet.png")
        try:
            domain = shell_domain(options["domain"])
            source = make_scene_source(domain=domain, width=width, height=height, quality=options["quality"])
            if options["blind"]:
                cells = self._blind(domain, source, out, repeats=options["blind"], seed=options["seed"])
            else:
                file = options["sets"]
                sets = read_sets(file.read_text(), domain) if file else showcase_sets(domain)
                cells = draw_cells(source, sets, seed=options["seed"])
                if options["beside_fine"]:
                    fine = make_scene_source(domain=domain, width=width, height=height, quality="fine")
                    cells = beside(draw_cells(fine, sets, seed=options["seed"]), cells)
            sheet = compose_sheet(
                cells,
                width=width,
                height=height,
                columns=options["columns"],
                with_labels=not options["no_labels"],
                with_boxes=options["boxes"],
            )
            sheet.save(out)
        except VlmLabError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename or out}: {error.strerror}.") from error
        for cell in cells:
            if cell.scene is None:
                self.stderr.write(f"{cell.label}: {cell.reason}")
        self.stdout.write(f"{out}: {len(cells)} scenes")

    @staticmethod
    def _blind(
        domain: Domain, source: SceneSource, out: Path, *, repeats: int, seed: int
    ) -> tuple[SheetCell, ...]:
        """Draw the pictures of a blind test and write the answers beside the sheet."""
        items = blind_items(domain, repeats=repeats, seed=seed)
        lines = [f"{number}\t{item.concept}\t{', '.join(item.key)}" for number, item in enumerate(items, 1)]
        out.with_suffix(".answers.tsv").write_text("\n".join(["picture\tconcept\tset", *lines]) + "\n")
        return draw_blind(source, items)
