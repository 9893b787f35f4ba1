"""Makes pictures of driving sets with Scenic and CARLA: plan, layout, picture, presence check and cache."""

import hashlib
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from vlmlab.core.errors import ConceptError, DrawingStoppedError
from vlmlab.core.images import encode_png
from vlmlab.core.scenes.anchors import anchor_graph
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.masks import encode_mask
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.cache import DirectoryCache, scene_key
from vlmlab.core.scenes.render.carla.availability import check_packages
from vlmlab.core.scenes.render.carla.blueprints import CARLA_VERSION, EGO
from vlmlab.core.scenes.render.carla.describing import Roads
from vlmlab.core.scenes.render.carla.lowering import LOWERING_VERSION, ScenePlan, plan_scene
from vlmlab.core.scenes.render.carla.params import CARLA, CarlaParams
from vlmlab.core.scenes.render.carla.readback import CHECK_VERSION, presence_fault, read_annotations
from vlmlab.core.scenes.render.carla.sampling import SampledScene, sample_scene, scenic_version
from vlmlab.core.scenes.render.carla.session import CarlaSession
from vlmlab.core.scenes.render.carla.shots import Shot
from vlmlab.core.scenes.render.fault_words import in_labels, nothing_shows
from vlmlab.core.scenes.scene import GeneratedScene, SceneSource

MAX_ATTEMPTS = 8


class Session(Protocol):
    """What shows scenes."""

    def held(self, while_waiting: Callable[[], None]) -> AbstractContextManager[None]:
        """Keep other processes off the server for a while."""
        ...

    def roads(self, town: str) -> Roads:
        """Return the map of a town."""
        ...

    def photograph(self, sampled: SampledScene, plan: ScenePlan, *, width: int, height: int) -> Shot:
        """Return one frame of a scene."""
        ...


class CarlaSource:
    """A ``SceneSource`` on a CARLA server.

    Args:
        session: the connection.
        domain: a domain that draws as driving.
        params: where the server is and what it loads.
        context: the cache, and who wants to know of progress.
        width, height: of the pictures, in pixels.
    """

    def __init__(
        self,
        session: Session,
        domain: Domain,
        params: CarlaParams,
        context: BackendContext,
        *,
        width: int,
        height: int,
    ) -> None:
        self._session = session
        self._domain = domain
        self._params = params
        self._width, self._height = width, height
        self._should_stop, self._on_progress = context.should_stop, context.on_progress
        folder = context.cache_dir
        self._cache = DirectoryCache(folder, context.cache_max_bytes) if folder is not None else None

    @property
    def identity(self) -> str:
        """Version of CARLA and Scenic, of our lowering, map, steps, domain and size as one line."""
        params = self._params
        return (
            f"{CARLA} {CARLA_VERSION} scenic={scenic_version()} lowering={LOWERING_VERSION} "
            f"map={params.map} ego={EGO.id} settle={params.settle_ticks} domain={self._domain.ref} "
            f"size={self._width}x{self._height} check={CHECK_VERSION}/{MAX_ATTEMPTS}"
        )

    def generate(self, concepts: tuple[str, ...], *, seed: int) -> GeneratedScene:
        """Return a scene of the canonical set that shows every required concept.

        Raises:
            GenerationError: no attempt showed every required object, or CARLA lacks something.
            SourceAwayError: the server is away, or (DrawingStoppedError) the worker was asked to stop.
            ConceptError: the set is not valid in the domain.
        """
        reason = self._domain.why_invalid(concepts)
        if reason is not None:
            raise ConceptError(reason, field="concepts")
        key = scene_key(self.identity, concepts, seed=seed)
        stored = self._cache.get(key) if self._cache is not None else None
        if stored is not None:
            return stored
        with self._session.held(self._go_on):
            scene = self._draw(concepts, seed)
        if self._cache is not None:
            self._cache.put(key, scene)
        return scene

    def _draw(self, concepts: tuple[str, ...], seed: int) -> GeneratedScene:
        # Imported here: it brings Scenic's simulator and the client.
        from vlmlab.core.scenes.render.carla.simulation import UnfitLayoutError

        self._go_on()
        plan = plan_scene(anchor_graph(self._domain, concepts), seed=seed)
        roads = self._session.roads(plan.town)
        faults: list[str] = []
        for attempt in range(MAX_ATTEMPTS):
            self._go_on()
            sampled = sample_scene(plan, roads, concepts=concepts, seed=seed, attempt=attempt)
            try:
                shot = self._session.photograph(sampled, plan, width=self._width, height=self._height)
            except UnfitLayoutError as unfit:
                faults.append(str(unfit).rstrip("."))
                continue
            annotations, masks = read_annotations(sampled.description, shot)
            fault = presence_fault(sampled.description, annotations, shot)
            if fault is None:
                png = encode_png(shot.image)
                return GeneratedScene(
                    description=sampled.description,
                    image_png=png,
                    image_sha256=hashlib.sha256(png).hexdigest(),
                    annotations=annotations,
                    provenance=self._provenance(sampled, shot),
                    masks={name: encode_mask(mask) for name, mask in masks.items()},
                )
            faults.append(in_labels(fault, sampled.description, self._domain))
        raise nothing_shows(concepts, self._domain, faults)

    def _go_on(self) -> None:
        """Give a sign of life, and end where the batch is to end."""
        self._on_progress()
        if self._should_stop():
            raise DrawingStoppedError("The worker was asked to stop before the scene was made.")

    def _provenance(self, sampled: SampledScene, shot: Shot) -> dict[str, str]:
        poses = [[actor.concept, actor.actor_id, *actor.pose] for actor in shot.actors]
        return {
            "backend": CARLA,
            "version": CARLA_VERSION,
            "scenic": scenic_version(),
            "lowering": LOWERING_VERSION,
            "size": f"{self._width}x{self._height}",
            "description": sampled.description.digest,
            "frame": str(shot.frame),
            "weather": shot.weather,
            "poses": json.dumps(poses, separators=(",", ":")),
        }


def make_carla_source(
    domain: Domain, params: CarlaParams, context: BackendContext, *, width: int, height: int
) -> SceneSource:
    """Return the source of a CARLA server; it connects when the first scene is asked for.

    Raises:
        GenerationError: Scenic or the client is missing or of another version.
    """
    check_packages()
    session = CarlaSession(params, context.network, lock_folder=context.cache_dir)
    return CarlaSource(session, domain, params, context, width=width, height=height)
