"""Holds the connection to a CARLA server: loads maps, steps it in lockstep, and leaves it as it was."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from vlmlab.core.errors import GenerationError, SourceAwayError
from vlmlab.core.scenes.render.carla.availability import connect
from vlmlab.core.scenes.render.carla.blueprints import LOOKS
from vlmlab.core.scenes.render.carla.crossing import crossing_file
from vlmlab.core.scenes.render.carla.describing import Roads
from vlmlab.core.scenes.render.carla.frames import camera_mount
from vlmlab.core.scenes.render.carla.lowering import ScenePlan
from vlmlab.core.scenes.render.carla.params import CarlaParams
from vlmlab.core.scenes.render.carla.sampling import SampledScene
from vlmlab.core.scenes.render.carla.shots import Shot
from vlmlab.core.suts.context import no_progress
from vlmlab.core.suts.network import NetworkPolicy

try:
    import fcntl
except ImportError:  # not on Windows, where a lab has one worker
    fcntl = None  # type: ignore[assignment]  # tested for where it is used

if TYPE_CHECKING:
    from vlmlab.core.scenes.render.carla.driving_trial import Drive, DriveOutcome
    from vlmlab.core.scenes.render.carla.simulation import Order

WAIT_S = 0.2  # between two looks at a server that another process holds
TRIAL_SIZE = (320, 240)  # of the picture that is taken before a drive


class CarlaSession:
    """A lazy connection to one server; it is opened by the first scene.

    A server shows one world to all its clients, so processes that share a lock folder take turns.

    Args:
        params: where the server is.
        network: which addresses may be connected to.
        lock_folder: where the lock file of the server lies; None = nobody else uses it.
    """

    def __init__(
        self, params: CarlaParams, network: NetworkPolicy, *, lock_folder: Path | None = None
    ) -> None:
        self._params = params
        self._network = network
        self._lock_folder = lock_folder
        self._client: Any = None
        self._world: Any = None
        self._loaded: str | None = None
        self._roads: dict[str, Roads] = {}

    @contextmanager
    def held(self, while_waiting: Callable[[], None] = no_progress) -> Iterator[None]:
        """Keep other processes off the server until this ends; they wait for their turn.

        Args:
            while_waiting: called again and again until it is our turn; may raise to give up.
        """
        if self._lock_folder is None or fcntl is None:
            yield
            return
        self._lock_folder.mkdir(parents=True, exist_ok=True)
        name = f"carla-{self._params.host.replace(':', '_')}-{self._params.port}.lock"
        with (self._lock_folder / name).open("a") as file:
            while not _is_locked(file):
                while_waiting()
                threading.Event().wait(WAIT_S)
            yield

    def roads(self, town: str) -> Roads:
        """Return the map of a town, loaded on the server; the crossing where the settings say so.

        Raises:
            GenerationError: the server has no such map.
            SourceAwayError: the server is away.
        """
        name = town if self._params.map == "towns" else ""
        if self._loaded != name or self._is_changed():
            self._load(name)
        return self._roads[name]

    def photograph(self, sampled: SampledScene, plan: ScenePlan, *, width: int, height: int) -> Shot:
        """Return one frame of a sampled scene on the map that is loaded.

        Raises:
            UnfitLayoutError: this layout cannot be put into the world.
            GenerationError: the server lacks a blueprint, or a camera is late.
            SourceAwayError: the server is away.
        """
        # Imported here: it brings Scenic's simulator and the client.
        from vlmlab.core.scenes.render.carla.simulation import photograph

        order = self._order(sampled, plan, width, height)
        with self._answers(), self._in_lockstep():
            return photograph(self._client, self._world, sampled.scenic, order)

    def drive(self, sampled: SampledScene, plan: ScenePlan, drive: "Drive") -> "DriveOutcome":
        """Return what happens when the car of a sampled scene drives on the map that is loaded.

        Raises:
            UnfitLayoutError, GenerationError, SourceAwayError: as ``photograph``.
        """
        from vlmlab.core.scenes.render.carla.driving_trial import drive_scene

        order = self._order(sampled, plan, *TRIAL_SIZE)
        with self._answers(), self._in_lockstep():
            return drive_scene(self._client, self._world, sampled.scenic, order, drive)

    def _order(self, sampled: SampledScene, plan: ScenePlan, width: int, height: int) -> "Order":
        from vlmlab.core.scenes.render.carla.simulation import Order

        camera = sampled.description.camera
        return Order(
            mount=camera_mount(camera),
            fov=camera.fov,
            width=width,
            height=height,
            light=plan.light,
            light_concept=f"light_{plan.light}" if plan.light else "",
            attributes={thing.concept: LOOKS[thing.kind].attributes or {} for thing in plan.things},
            settle_ticks=self._params.settle_ticks,
            timeout_s=self._params.timeout_s,
        )

    def _load(self, name: str) -> None:
        if self._client is None:
            self._client = connect(self._params, self._network)
        self._loaded = None
        with self._answers():
            if name:
                self._check_map(name)
                self._world = self._client.load_world(name)
                xodr = str(self._world.get_map().to_opendrive())
            else:
                xodr = crossing_file()
                self._world = self._client.generate_opendrive_world(xodr, self._road_shape())
        self._roads[name] = Roads(xodr, name or None)
        self._loaded = name

    @staticmethod
    def _road_shape() -> Any:
        """Return how the server builds roads from a file: as CARLA does, but without walls beside them."""
        import carla

        return carla.OpendriveGenerationParameters(
            vertex_distance=2.0,
            max_road_length=50.0,
            wall_height=0.0,
            additional_width=0.6,
            smooth_junctions=True,
            enable_mesh_visibility=True,
        )

    def _is_changed(self) -> bool:
        """Return whether somebody else has loaded a map since."""
        with self._answers():
            return bool(self._client.get_world().id != self._world.id)

    def _check_map(self, name: str) -> None:
        known = [str(one).rsplit("/", 1)[-1] for one in self._client.get_available_maps()]
        if name not in known:
            raise GenerationError(
                f"The CARLA server has no map {name}.",
                hint="Install CARLA's towns, or choose our own crossing as the map of the picture source.",
                field="map",
            )

    @contextmanager
    def _in_lockstep(self) -> Iterator[None]:
        """Let the server move only when it is told to, with fixed steps; afterwards as it was before."""
        from vlmlab.core.scenes.render.carla.simulation import STEP_S

        settings = self._world.get_settings()
        before = (settings.synchronous_mode, settings.fixed_delta_seconds, settings.no_rendering_mode)
        settings.synchronous_mode, settings.fixed_delta_seconds = True, STEP_S
        settings.no_rendering_mode = False
        self._world.apply_settings(settings)
        try:
            yield
        finally:
            settings.synchronous_mode, settings.fixed_delta_seconds, settings.no_rendering_mode = before
            with suppress(RuntimeError):
                self._world.apply_settings(settings)

    @contextmanager
    def _answers(self) -> Iterator[None]:
        """Turn a lost server into an error that a run waits for; the next scene connects anew."""
        try:
            yield
        except RuntimeError as error:
            self._client, self._world, self._loaded = None, None, None
            raise SourceAwayError(
                f"The CARLA server at {self._params.host}:{self._params.port} stopped answering.",
                hint="Check that it runs and that no other program uses it; a map that loads slowly needs "
                "more patience in the picture source.",
            ) from error


def _is_locked(file: IO[str]) -> bool:
    """Lock a file unless another process has; the system lets go when a process ends, however it ends."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
