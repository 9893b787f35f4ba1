"""Ray casting with Embree: which triangle a ray meets first, and whether a point is in shadow."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.render.mesh import SOLID, Bools, Floats, Ints, Mesh, Texture

SKY = -1
FAR_AWAY = np.float32(1e30)


def _embree() -> tuple[Any, Any]:
    """Import Embree when the first scene is drawn, so that a process that draws none never loads it."""
    try:
        from embreex.mesh_construction import TriangleMesh
        from embreex.rtcore_scene import EmbreeScene
    except ImportError as error:
        raise GenerationError(
            "The embedded renderer needs the package embreex, and it cannot be loaded here.",
            hint="Run pip install embreex (it has no wheel for Linux on ARM), or choose another back end.",
        ) from error
    return EmbreeScene, TriangleMesh


@dataclass(frozen=True, eq=False)
class Hits:
    """What rays met: triangle (``SKY`` = nothing), distance in metres, barycentric u and v; each ``(n,)``."""

    triangle: Ints
    distance: Floats
    u: Floats
    v: Floats

    def rows(self, chosen: Ints) -> "Hits":
        """Return some of the hits."""
        return Hits(self.triangle[chosen], self.distance[chosen], self.u[chosen], self.v[chosen])


class _Casting:
    """One Embree tree over some of the triangles."""

    def __init__(self, corners: Floats, numbers: Ints) -> None:
        scene_type, mesh_type = _embree()
        self._scene = scene_type()
        self._mesh = mesh_type(self._scene, np.ascontiguousarray(corners[numbers]))
        self._numbers = np.append(numbers, SKY)

    def first(self, origins: Floats, directions: Floats) -> Hits:
        found = self._scene.run(origins, directions, output=1)
        triangle = self._numbers[found["primID"]]
        distance = np.where(triangle >= 0, found["tfar"], FAR_AWAY).astype(np.float32)
        return Hits(triangle, distance, found["u"], found["v"])

    def blocked(self, origins: Floats, directions: Floats) -> Bools:
        blocked: Bools = self._scene.run(origins, directions, query="OCCLUDED") >= 0
        return blocked

    def hidden_before(self, origins: Floats, directions: Floats, distances: Floats) -> Bools:
        reach = np.ascontiguousarray(distances, np.float32)
        blocked: Bools = self._scene.run(origins, directions, dists=reach, query="OCCLUDED") >= 0
        return blocked


class Geometry:
    """All triangles of a scene with their tables of attributes, ready for rays.

    Args:
        parts: meshes in world space, each with the number of the object it belongs to.
    """

    def __init__(self, parts: list[tuple[Mesh, int]]) -> None:
        meshes = [mesh for mesh, _ in parts]
        starts = np.cumsum([0, *(len(mesh.materials) for mesh in meshes)])
        self.corners = np.concatenate([mesh.corners for mesh in meshes])
        self.normals = np.concatenate([mesh.normals for mesh in meshes])
        self.uvs = np.concatenate([mesh.uvs for mesh in meshes])
        self.material_of: Ints = np.concatenate(
            [mesh.material_of + start for mesh, start in zip(meshes, starts, strict=False)]
        )
        self.object_of: Ints = np.concatenate(
            [np.full(len(mesh), number, np.int64) for mesh, number in parts]
        )
        self.is_veil: Bools = np.concatenate([mesh.veil for mesh in meshes])
        self._read_materials(meshes)
        self._read_shapes()
        see_through = (self.opacity <= SOLID)[self.material_of]
        solid, clear = np.nonzero(~see_through)[0], np.nonzero(see_through)[0]
        self._solid = _Casting(self.corners, solid)
        self._clear = _Casting(self.corners, clear) if len(clear) else None

    def _read_materials(self, meshes: list[Mesh]) -> None:
        materials = [material for mesh in meshes for material in mesh.materials]
        self.albedo = np.array([m.albedo for m in materials], np.float32)
        self.opacity = np.array([m.opacity for m in materials], np.float32)
        self.reflectance = np.array([m.reflectance for m in materials], np.float32)
        self.roughness = np.array([m.roughness for m in materials], np.float32)
        self.emission = np.array([m.emission for m in materials], np.float32)
        means = [m.texture.mean if m.texture is not None else (1.0, 1.0, 1.0) for m in materials]
        self.mean_albedo = self.albedo * np.array(means, np.float32)
        self.textures: list[Texture] = []
        numbers: dict[int, int] = {}
        self.texture_of = np.full(len(materials), -1, np.int64)
        for index, material in enumerate(materials):
            if material.texture is not None:
                key = id(material.texture)
                if key not in numbers:
                    numbers[key] = len(self.textures)
                    self.textures.append(material.texture)
                self.texture_of[index] = numbers[key]

    def _read_shapes(self) -> None:
        first, second = self.corners[:, 1] - self.corners[:, 0], self.corners[:, 2] - self.corners[:, 0]
        normal = np.stack(
            [
                first[:, 1] * second[:, 2] - first[:, 2] * second[:, 1],
                first[:, 2] * second[:, 0] - first[:, 0] * second[:, 2],
                first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0],
            ],
            -1,
        )
        area = np.maximum(np.sqrt((normal * normal).sum(1)), np.float32(1e-12))
        self.flat_normals: Floats = normal / area[:, None]
        a, b = self.uvs[:, 1] - self.uvs[:, 0], self.uvs[:, 2] - self.uvs[:, 0]
        self.texture_density: Floats = np.sqrt(np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) / area)

    def first_hits(self, origins: Floats, directions: Floats) -> Hits:
        """Return the nearest hit of each ray, see-through layers included."""
        solid = self._solid.first(origins, directions)
        if self._clear is None:
            return solid
        clear = self._clear.first(origins, directions)
        nearer = clear.distance < solid.distance
        if not nearer.any():
            return solid
        return Hits(
            np.where(nearer, clear.triangle, solid.triangle),
            np.where(nearer, clear.distance, solid.distance),
            np.where(nearer, clear.u, solid.u),
            np.where(nearer, clear.v, solid.v),
        )

    def first_solid(self, origins: Floats, directions: Floats) -> Hits:
        """Return the nearest hit of each ray on a solid surface (for light that bounced once)."""
        return self._solid.first(origins, directions)

    def in_shadow(self, origins: Floats, directions: Floats) -> Bools:
        """Return whether something solid stands on each ray."""
        return self._solid.blocked(origins, directions)

    def hidden_before(self, origins: Floats, directions: Floats, distances: Floats) -> Bools:
        """Return whether something solid stands on each ray nearer than its distance (a lamp's)."""
        return self._solid.hidden_before(origins, directions, distances)


class LoneObject:
    """One mesh by itself, to ask what it would cover with nothing in front."""

    def __init__(self, mesh: Mesh) -> None:
        self._casting = _Casting(mesh.corners, np.nonzero(~mesh.veil)[0])

    def distances(self, origins: Floats, directions: Floats) -> Floats:
        """Return how far each ray goes until it meets the mesh; ``FAR_AWAY`` where it misses."""
        return self._casting.first(origins, directions).distance
