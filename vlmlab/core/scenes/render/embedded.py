"""The embedded back end: builds a described scene, casts rays with Embree and develops the picture."""

from dataclasses import dataclass, replace

import numpy as np

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.render.atmosphere import Atmosphere
from vlmlab.core.scenes.render.builders import BUILDERS
from vlmlab.core.scenes.render.camera import Pinhole
from vlmlab.core.scenes.render.film import develop
from vlmlab.core.scenes.render.kitchen import build_kitchen
from vlmlab.core.scenes.render.mesh import Floats, Mesh
from vlmlab.core.scenes.render.packs import asset_digest
from vlmlab.core.scenes.render.presence import (
    Visibility,
    check_pinhole,
    measure_visibility,
    projection_fault,
    visibility_fault,
)
from vlmlab.core.scenes.render.town import build_town
from vlmlab.core.scenes.render.tracer import Geometry
from vlmlab.core.scenes.render.tracing import QUALITIES, Film, trace_picture
from vlmlab.core.scenes.scene import Annotation, Parameter, RenderedScene, SceneDescription, SceneObject
from vlmlab.core.seeding import rng_for

WORLDS = {"driving": build_town, "indoor": build_kitchen}
MASK_COVERAGE = 0.5
Box = tuple[float, float, float, float]
SURROUNDINGS = ("room_seed", "town")  # entries of the world that an object may match


@dataclass(frozen=True, eq=False)
class BuiltScene:
    """A described scene as geometry.

    Attributes:
        description: what was built.
        meshes: one a scene object, in order, in world space.
        world: the static surroundings.
    """

    description: SceneDescription
    meshes: tuple[Mesh, ...]
    world: Mesh

    def geometry(self) -> Geometry:
        """Return everything ready for rays; object number 0 is the world, n + 1 the n-th scene object."""
        parts = [(self.world, 0), *((mesh, number + 1) for number, mesh in enumerate(self.meshes))]
        return Geometry(parts)


def build_object(item: SceneObject) -> Mesh:
    """Return one scene object as a mesh in world space.

    Raises:
        GenerationError: no builder draws this kind.
    """
    builder = BUILDERS.get(item.kind)
    if builder is None:
        raise GenerationError(
            f"The embedded renderer cannot draw the kind {item.kind!r}.",
            hint=f"It draws: {', '.join(sorted(BUILDERS))}.",
        )
    seed = item.parameters.get("appearance_seed", 0)
    rng = rng_for(int(seed) if isinstance(seed, int | float) else 0, "appearance", item.kind)
    x, y, z = item.position
    return builder(item, rng).moved(x, y, z, yaw=item.yaw)


def _placed(item: SceneObject, description: SceneDescription) -> SceneObject:
    """Return an object that knows its town or the seed of its room, so that it matches the rest of it."""
    known: dict[str, Parameter] = {}
    for name in SURROUNDINGS:
        value = description.world.get(name)
        if isinstance(value, int | str):
            known[name] = value
    return replace(item, parameters={**known, **item.parameters}) if known else item


class EmbeddedBackend:
    """Draws scene descriptions on the CPU, with no display and no system package.

    The same description gives the same bytes in every process on one kind of machine.
    """

    name = "embedded"
    version = "3"

    @property
    def asset_digest(self) -> str:
        """Digest of the meshes; part of the identity of every picture."""
        return asset_digest()

    def build(self, description: SceneDescription) -> BuiltScene:
        """Build all meshes of a description.

        Raises:
            GenerationError: the domain has no world here, or a kind has no builder.
        """
        world = WORLDS.get(description.domain)
        if world is None:
            raise GenerationError(
                f"The embedded renderer has no world for the domain {description.domain!r}.",
                hint="Choose another back end for this domain.",
            )
        meshes = tuple(build_object(_placed(item, description)) for item in description.objects)
        return BuiltScene(description, meshes, world(description.world))

    def render(
        self, description: SceneDescription, *, width: int, height: int, quality: str = "standard"
    ) -> RenderedScene:
        """Return the picture of a description with boxes and masks.

        Raises:
            GenerationError: Embree is missing, or the description holds something this back end cannot draw.
            ValueError: the quality is unknown.
        """
        built = self.build(description)
        geometry = built.geometry()
        visibility = _measure(built, geometry)
        return self._render_built(built, geometry, visibility, width=width, height=height, quality=quality)

    def fault_or_render(
        self, description: SceneDescription, *, width: int, height: int, quality: str
    ) -> RenderedScene | str:
        """Return the picture, or one phrase that says which required object would not be seen.

        The geometry of the presence check is that of the picture, so nothing is built twice.
        """
        built = self.build(description)
        checked = _checked(built)
        if isinstance(checked, str):
            return checked
        return self._render_built(
            built, checked.geometry, checked.visibility, width=width, height=height, quality=quality
        )

    def fault(self, description: SceneDescription) -> str | None:
        """Return which required object would not be seen, in one phrase, or None; nothing is drawn."""
        checked = _checked(self.build(description))
        return checked if isinstance(checked, str) else None

    def _render_built(
        self, built: BuiltScene, geometry: Geometry, visibility: dict[str, Visibility], *,
        width: int, height: int, quality: str,
    ) -> RenderedScene:  # fmt: skip
        """Draw a scene whose geometry exists already."""
        if quality not in QUALITIES:
            raise ValueError(f"quality: expected one of {sorted(QUALITIES)}, got {quality!r}")
        description = built.description
        seed = description.seed
        pinhole = Pinhole.of(description.camera, width=width, height=height)
        atmosphere = Atmosphere.of(description.environment)
        film = trace_picture(
            geometry, atmosphere, pinhole, rng=rng_for(seed, "render", "rays"), quality=QUALITIES[quality]
        )
        image = develop(film, atmosphere, rng=rng_for(seed, "render", "film"))
        annotations, masks = _annotate(built, film, pinhole, visibility)
        provenance = {
            "backend": self.name,
            "version": self.version,
            "assets": self.asset_digest,
            "size": f"{width}x{height}",
            "quality": quality,
            "description": description.digest,
        }
        return RenderedScene(image, annotations, masks, provenance)


@dataclass(frozen=True, eq=False)
class _Checked:
    """A built scene that shows every required object: its geometry and how much of each shows."""

    geometry: Geometry
    visibility: dict[str, Visibility]


def _checked(built: BuiltScene) -> _Checked | str:
    """Return what the picture needs, or one phrase that says which required object would not be seen."""
    pinhole = check_pinhole(built.description)
    for item, mesh in zip(built.description.objects, built.meshes, strict=True):
        fault = projection_fault(item, mesh, pinhole) if item.is_required else None
        if fault is not None:
            return fault
    geometry = built.geometry()
    visibility = _measure(built, geometry)
    for item in built.description.objects:
        fault = visibility_fault(item, visibility[item.id]) if item.is_required else None
        if fault is not None:
            return fault
    return _Checked(geometry, visibility)


def _measure(built: BuiltScene, geometry: Geometry) -> dict[str, Visibility]:
    pinhole = check_pinhole(built.description)
    return measure_visibility(built.description.objects, built.meshes, geometry, pinhole)


def _annotate(
    built: BuiltScene, film: Film, pinhole: Pinhole, visibility: dict[str, Visibility]
) -> tuple[tuple[Annotation, ...], dict[str, np.typing.NDArray[np.bool_]]]:
    """Return the ground truth of every object in the frame, and the masks of the required ones."""
    annotations = []
    masks = {}
    for number, (item, mesh) in enumerate(zip(built.description.objects, built.meshes, strict=True)):
        amodal = _clipped(pinhole.box_of(mesh.corners[~mesh.veil].reshape(-1, 3)), pinhole)
        if amodal is None:
            continue
        coverage = film.coverage(number + 1)
        visible = _box_of(coverage)
        mask = coverage >= MASK_COVERAGE
        pixels = int(mask.sum())
        if item.is_required:
            masks[item.id] = mask
        annotations.append(
            Annotation(
                object_id=item.id,
                kind=item.kind,
                concept=item.concept,
                is_required=item.is_required,
                visible_box=visible,
                amodal_box=amodal if visible is None else _around(amodal, visible),
                visible_pixels=pixels,
                visible_fraction=visibility[item.id].fraction if item.is_required else float(pixels > 0),
            )
        )
    return tuple(annotations), masks


def _clipped(box: Box | None, pinhole: Pinhole) -> Box | None:
    """Return a box cut to the frame; None when nothing of it is inside."""
    if box is None:
        return None
    x_min, x_max = (float(np.clip(value, 0, pinhole.width)) for value in (box[0], box[2]))
    y_min, y_max = (float(np.clip(value, 0, pinhole.height)) for value in (box[1], box[3]))
    return (x_min, y_min, x_max, y_max) if x_max > x_min and y_max > y_min else None


def _around(one: Box, other: Box) -> Box:
    """Return the box about two: rays at the rim of a pixel and steam reach a little beyond the corners."""
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _box_of(coverage: Floats) -> Box | None:
    """Return the bounds of all pixels that show anything of an object."""
    rows, columns = np.nonzero(coverage.max(1) > 0)[0], np.nonzero(coverage.max(0) > 0)[0]
    if not len(rows):
        return None
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)
