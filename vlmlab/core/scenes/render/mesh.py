"""Triangle meshes with materials: the form in which every builder hands over its geometry."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Colour = tuple[float, float, float]
MANY_TRIANGLES = 2000
SOLID = 0.98  # opacity above which a layer stops rays
CORE_SHARE = 0.1


def dot(first: Floats, second: Floats) -> Floats:
    """Return the row-wise dot product of two ``(n, 3)`` arrays as ``(n,)``."""
    product: Floats = first[:, 0] * second[:, 0]
    product += first[:, 1] * second[:, 1]
    product += first[:, 2] * second[:, 2]
    return product


def unit(vectors: Floats) -> Floats:
    """Return ``(n, 3)`` vectors scaled to length 1 (zero vectors stay finite)."""
    length = np.sqrt(np.maximum(dot(vectors, vectors), np.float32(1e-18)))
    return (vectors / length[:, None]).astype(np.float32, copy=False)


def linear_rgb(values: npt.ArrayLike) -> Floats:
    """Return linear light for sRGB values in [0, 1] (IEC 61966-2-1)."""
    encoded = np.asarray(values, np.float32)
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4).astype(
        np.float32
    )


@dataclass(frozen=True, eq=False)
class Texture:
    """A mip pyramid in one flat table, so that one gather samples any mix of levels.

    Attributes:
        texels: ``(n, channels)`` linear RGB or RGBA of all levels, one after the other.
        offsets, widths, heights: one entry a level.
        mean: mean RGB.
    """

    texels: Floats
    offsets: Ints
    widths: Ints
    heights: Ints
    mean: Colour

    @property
    def has_alpha(self) -> bool:
        """Whether a fourth channel holds opacity."""
        return bool(self.texels.shape[1] == 4)

    @staticmethod
    def from_linear(image: Floats) -> "Texture":
        """Build the pyramid of one ``(height, width, 3 or 4)`` image by 2x2 box averages."""
        levels = [np.ascontiguousarray(image, np.float32)]
        while min(levels[-1].shape[:2]) >= 4:
            last = levels[-1]
            last = last[: last.shape[0] // 2 * 2, : last.shape[1] // 2 * 2]
            quarter = np.float32(0.25)
            levels.append((last[::2, ::2] + last[1::2, ::2] + last[::2, 1::2] + last[1::2, 1::2]) * quarter)
        sizes = [level.shape[0] * level.shape[1] for level in levels]
        mean = levels[-1][..., :3].mean((0, 1))
        return Texture(
            texels=np.concatenate([level.reshape(-1, level.shape[2]) for level in levels]),
            offsets=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64),
            widths=np.array([level.shape[1] for level in levels], np.int64),
            heights=np.array([level.shape[0] for level in levels], np.int64),
            mean=(float(mean[0]), float(mean[1]), float(mean[2])),
        )

    def sample(self, uv: Floats, level: Floats) -> Floats:
        """Return ``(n, channels)`` bilinear samples at ``(n, 2)`` coordinates (they repeat)."""
        chosen = np.clip(np.rint(level), 0, len(self.offsets) - 1).astype(np.int64)
        width, height, offset = self.widths[chosen], self.heights[chosen], self.offsets[chosen]
        x = (uv[:, 0] - np.floor(uv[:, 0])) * width - 0.5
        y = (1.0 - (uv[:, 1] - np.floor(uv[:, 1]))) * height - 0.5
        left, top = np.floor(x), np.floor(y)
        fx = (x - left).astype(np.float32)[:, None]
        fy = (y - top).astype(np.float32)[:, None]
        x0, y0 = left.astype(np.int64) % width, top.astype(np.int64) % height
        x1, y1 = (x0 + 1) % width, (y0 + 1) % height
        row0, row1 = offset + y0 * width, offset + y1 * width
        upper = self.texels[row0 + x0]
        upper += (self.texels[row0 + x1] - upper) * fx
        lower = self.texels[row1 + x0]
        lower += (self.texels[row1 + x1] - lower) * fx
        upper += (lower - upper) * fy
        return cast(Floats, upper)


@dataclass(frozen=True, eq=False)
class Material:
    """How a surface looks.

    Attributes:
        albedo: linear diffuse colour; multiplies the texture when there is one.
        texture: optional picture.
        opacity: 1 solid; below 0.99 a thin see-through layer that casts no shadow.
        reflectance: mirror reflectance at normal incidence (F0).
        roughness: 0 mirror to 1 diffuse.
        emission: linear radiance it sends out.
    """

    albedo: Colour = (0.7, 0.7, 0.7)
    texture: Texture | None = None
    opacity: float = 1.0
    reflectance: float = 0.03
    roughness: float = 0.5
    emission: Colour = (0.0, 0.0, 0.0)
    name: str = ""

    @property
    def is_soft(self) -> bool:
        """Whether it is a see-through picture with its own outline, like steam."""
        return self.opacity <= SOLID and self.texture is not None and self.texture.has_alpha

    def painted(self, albedo: Colour) -> "Material":
        """Return this material in one plain colour."""
        return replace(self, albedo=albedo, texture=None)


def paint(
    *colour: float, reflectance: float = 0.03, roughness: float = 0.5, emission: Colour = (0, 0, 0)
) -> Material:
    """Return a plain material from one grey value or three linear RGB values."""
    rgb = (colour[0], colour[0], colour[0]) if len(colour) == 1 else (colour[0], colour[1], colour[2])
    return Material(albedo=rgb, reflectance=reflectance, roughness=roughness, emission=emission)


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles with their own corner attributes (nothing is shared between triangles).

    Attributes:
        corners: ``(n, 3, 3)`` positions in metres.
        normals: ``(n, 3, 3)`` unit normals at the corners.
        uvs: ``(n, 3, 2)`` texture coordinates.
        material_of: ``(n,)`` index into ``materials``.
    """

    corners: Floats
    normals: Floats
    uvs: Floats
    material_of: Ints
    materials: tuple[Material, ...] = field(default=())

    def __len__(self) -> int:
        """Return the number of triangles."""
        return len(self.corners)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest corner of the axis-aligned box, each ``(3,)``."""
        points = self.corners.reshape(-1, 3)
        return points.min(0), points.max(0)

    @property
    def outline(self) -> Floats:
        """Points ``(k, 3)`` with nearly the bounds of what counts: large meshes give a corner a triangle."""
        veil = self.veil
        corners = self.corners[~veil] if veil.any() else self.corners
        return corners.reshape(-1, 3) if len(self) < MANY_TRIANGLES else corners[:, 0]

    @property
    def has_core(self) -> bool:
        """Whether a fair share of the surface is solid; a glass, a puddle or a cloud of smoke has none."""
        clear = np.array([material.opacity <= SOLID for material in self.materials])[self.material_of]
        if not clear.any():
            return True
        edges = self.corners[:, 1:] - self.corners[:, :1]
        normal = np.cross(edges[:, 0], edges[:, 1])
        area = np.sqrt((normal * normal).sum(1))
        return bool(area[~clear].sum() >= CORE_SHARE * area.sum())

    @property
    def veil(self) -> Bools:
        """``(n,)``: steam, flames and smoke about a solid thing; they are no part of what it covers."""
        soft = np.array([material.is_soft for material in self.materials], np.bool_)
        if not soft.any() or not self.has_core:
            return np.zeros(len(self), np.bool_)
        return soft[self.material_of]

    def moved(
        self,
        x: float = 0.0,
        y: float = 0.0,
        z: float = 0.0,
        *,
        yaw: float = 0.0,
        pitch: float = 0.0,
        tilt: float = 0.0,
        scale: float | tuple[float, float, float] = 1.0,
    ) -> "Mesh":
        """Return the mesh scaled, turned about Y (tilt), X (pitch), Z (yaw) in that order, then shifted."""
        scales = (scale, scale, scale) if isinstance(scale, int | float) else scale
        turn = rotation(yaw, pitch, tilt)
        linear = turn * np.asarray(scales, np.float64)[None, :]
        corners = _apply(linear, self.corners) + np.array([x, y, z], np.float32)
        normal_map = turn / np.asarray(scales, np.float64)[None, :]
        normals = _apply(normal_map, self.normals)
        if len(set(scales)) > 1 or scales[0] != 1.0:
            normals = unit(normals.reshape(-1, 3)).reshape(-1, 3, 3)
        return replace(self, corners=corners, normals=normals)

    def recoloured(self, colours: dict[str, Material]) -> "Mesh":
        """Return the mesh with materials replaced by (lower-case) name."""
        return replace(self, materials=tuple(colours.get(old.name.lower(), old) for old in self.materials))


def rotation(yaw: float, pitch: float, tilt: float) -> npt.NDArray[np.float64]:
    """Return the matrix that turns about Y by ``tilt``, X by ``pitch``, then Z by ``yaw`` (radians)."""
    cz, sz, cx, sx, cy, sy = (
        np.cos(yaw),
        np.sin(yaw),
        np.cos(pitch),
        np.sin(pitch),
        np.cos(tilt),
        np.sin(tilt),
    )
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1.0]])
    about_x = np.array([[1.0, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1.0, 0], [-sy, 0, cy]])
    return cast(npt.NDArray[np.float64], np.einsum("ij,jk,kl->il", about_z, about_x, about_y))


def _apply(matrix: npt.NDArray[np.float64], points: Floats) -> Floats:
    """Apply a 3x3 matrix to ``(n, 3, 3)`` row vectors without BLAS (so that threads change no bit)."""
    m = matrix.astype(np.float32)
    px, py, pz = points[..., 0], points[..., 1], points[..., 2]
    out = np.empty_like(points)
    for axis in range(3):
        out[..., axis] = px * m[axis, 0] + py * m[axis, 1] + pz * m[axis, 2]
    return out


def merge(meshes: Sequence[Mesh]) -> Mesh:
    """Return one mesh that holds all triangles and all materials."""
    filled = [mesh for mesh in meshes if len(mesh)]
    start = 0
    indices: list[Ints] = []
    materials: list[Material] = []
    for mesh in filled:
        indices.append(mesh.material_of + start)
        start += len(mesh.materials)
        materials.extend(mesh.materials)
    return Mesh(
        corners=np.concatenate([mesh.corners for mesh in filled]),
        normals=np.concatenate([mesh.normals for mesh in filled]),
        uvs=np.concatenate([mesh.uvs for mesh in filled]),
        material_of=np.concatenate(indices),
        materials=tuple(materials),
    )
