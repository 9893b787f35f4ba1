"""``manage.py carla_validation``: prepare the 200-scene check of the driving rules in CARLA, and drive it."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from searches.services.domain_store import shell_domain
from vlmlab.core.errors import GenerationError, SourceAwayError, VlmLabError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.carla.params import CarlaParams, carla_obstacle, carla_unpictured
from vlmlab.core.scenes.render.presence_report import SetToCheck, draw_sets
from vlmlab.core.suts.network import policy_of

if TYPE_CHECKING:
    from vlmlab.core.scenes.render.carla.session import CarlaSession
    from vlmlab.core.scenes.render.carla.validation import ValidationRow, ValidationScene


class Command(BaseCommand):
    """``manage.py carla_validation --out FOLDER [--scenes 200] [--host ADDRESS --port 2000 --map towns]``."""

    help = (
        "Write a folder with Scenic programs, a map and plan.csv: concept set, seed, rule, expected action, "
        "speed, brake and the verdict of the one-dimensional check for each scene. With --host the scenes "
        "are put up on that CARLA server, driven with the expected action, and the outcome is added."
    )
    requires_system_checks: list[str] = []  # a built-in domain needs no database

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--out", required=True, help="folder for the plan; made when it is missing")
        parser.add_argument("--domain", default="driving", help="slug of a driving domain (default driving)")
        parser.add_argument("--scenes", type=int, default=200, help="how many (default 200)")
        parser.add_argument("--seed", type=int, default=1, help="of the draw of sets (default 1)")
        parser.add_argument("--max-size", type=int, default=None, help="largest size of a set")
        parser.add_argument(
            "--host", default="", help="IP address of a CARLA server; without it, only the plan"
        )
        parser.add_argument("--port", type=int, default=2000, help="of the server (default 2000)")
        parser.add_argument(
            "--map", default="", help="towns or crossing (default: crossing; towns needs --host)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare the scenes, and drive them where a server is given."""
        if not 1 <= options["scenes"] <= 10_000:
            raise CommandError("--scenes: 1 to 10000.")
        map_choice = options["map"] or "crossing"
        if map_choice == "towns" and not options["host"]:
            raise CommandError("--map towns needs the server that has them: add --host.")
        try:
            params = CarlaParams(host=options["host"] or "127.0.0.1", port=options["port"], map=map_choice)
        except ValueError as error:
            raise CommandError(f"The server's address or map is not valid: {error}") from error
        try:
            self._prepare(params, options, is_driven=bool(options["host"]))
        except VlmLabError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"The plan cannot be written: {error.strerror}.") from error

    def _prepare(self, params: CarlaParams, options: dict[str, Any], *, is_driven: bool) -> None:
        # Imported here: Scenic and the simulator's client are needed by this command alone.
        from vlmlab.core.scenes.render.carla.availability import check_packages
        from vlmlab.core.scenes.render.carla.session import CarlaSession
        from vlmlab.core.scenes.render.carla.validation import TABLE_FILE, summary, write_table

        check_packages()
        domain = shell_domain(options["domain"])
        obstacle = carla_obstacle(domain)
        if obstacle:
            raise GenerationError(obstacle)
        policy = policy_of(settings.ENDPOINT_ALLOW)
        session = CarlaSession(params, policy, lock_folder=settings.SCENE_CACHE_DIR) if is_driven else None
        folder = Path(options["out"])
        folder.mkdir(parents=True, exist_ok=True)
        rows: list[ValidationRow] = []
        for number, one in enumerate(_sets(domain, params, options), 1):
            with session.held() if session else nullcontext():  # a lab's workers may use the server between
                rows.append(self._row(number, one, domain, params, session, folder))
            write_table(rows, folder / TABLE_FILE)  # after every scene, so that a lost server loses nothing
            self.stdout.write(f"{number}: {rows[-1].concepts}: {rows[-1].problem or rows[-1].sentence}")
        self.stdout.write(f"{summary(rows)}\nThe plan lies in {folder / TABLE_FILE}.")

    def _row(
        self, number: int, one: SetToCheck, domain: Domain, params: CarlaParams,
        session: "CarlaSession | None", folder: Path,
    ) -> "ValidationRow":  # fmt: skip
        from vlmlab.core.scenes.render.carla.crossing import crossing_file
        from vlmlab.core.scenes.render.carla.describing import Roads
        from vlmlab.core.scenes.render.carla.validation import validation_scene, write_program

        roads_of: Callable[[str], Roads] = (
            session.roads if session else lambda _: Roads(crossing_file(), None)
        )
        scene = validation_scene(number, one.key, domain=domain, seed=one.seed, roads_of=roads_of)
        write_program(scene, folder, roads=roads_of(scene.plan.town))
        return _driven(scene, session) if session and scene.sampled else scene.row


def _driven(scene: "ValidationScene", session: "CarlaSession") -> "ValidationRow":
    """Return the row of a scene with what the server's car did; a scene that cannot be put up says why."""
    from vlmlab.core.scenes.render.carla.driving_trial import Drive
    from vlmlab.core.scenes.render.carla.simulation import UnfitLayoutError

    row = scene.row
    assert scene.sampled is not None
    try:
        outcome = session.drive(scene.sampled, scene.plan, Drive(row.ego_mps, row.brake))
    except SourceAwayError:
        raise
    except (UnfitLayoutError, GenerationError) as error:
        return replace(row, problem=str(error))
    return replace(
        row,
        drove_into=outcome.hit if outcome.has_collided else "nothing",
        drove_impact_mps=outcome.impact_mps,
        drove_m=outcome.travelled_m,
    )


def _sets(domain: Domain, params: CarlaParams, options: dict[str, Any]) -> list[SetToCheck]:
    """Return the sets to check: as many of each size, none with a concept that the map cannot show."""
    missing = set(carla_unpictured(domain, params, BackendContext()))
    wanted = int(options["scenes"])
    count = wanted
    for _ in range(4):
        drawn = draw_sets(domain, count=count, seed=options["seed"], max_size=options["max_size"])
        shown = [one for one in drawn if missing.isdisjoint(one.key)]
        if len(shown) >= wanted:
            # Evenly from all, because the drawn ones are sorted by size.
            return [shown[index * len(shown) // wanted] for index in range(wanted)]
        count *= 2
    return shown
