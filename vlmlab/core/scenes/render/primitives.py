"""Simple solids: quads, boxes, lathes, tubes."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.render.mesh import Floats, Material, Mesh, merge


def triangles(
    vertices: npt.ArrayLike,
    faces: npt.ArrayLike,
    material: Material,
    *,
    uvs: npt.ArrayLike | None = None,
    normals: npt.ArrayLike | None = None,
) -> Mesh:
    """Return a mesh from ``(v, 3)`` vertices and ``(n, 3)`` indices; flat normals when none are given."""
    index = np.asarray(faces, np.int64)
    corners = np.asarray(vertices, np.float32)[index]
    if normals is None:
        flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        flat /= np.maximum(np.sqrt((flat * flat).sum(1, keepdims=True)), 1e-12)
        corner_normals: Floats = np.repeat(flat[:, None], 3, 1).astype(np.float32)
    else:
        corner_normals = np.asarray(normals, np.float32)[index]
    corner_uvs = (
        np.zeros((len(index), 3, 2), np.float32) if uvs is None else np.asarray(uvs, np.float32)[index]
    )
    return Mesh(corners, corner_normals, corner_uvs, np.zeros(len(index), np.int64), (material,))


def quad(
    centre: Sequence[float],
    half_u: Sequence[float],
    half_v: Sequence[float],
    material: Material,
    *,
    repeat_u: float = 1.0,
    repeat_v: float = 1.0,
) -> Mesh:
    """Return a parallelogram of two half-edges; the texture repeats ``repeat_u`` x ``repeat_v`` times."""
    c, u, v = (np.asarray(part, np.float64) for part in (centre, half_u, half_v))
    corners = np.array([c - u - v, c + u - v, c + u + v, c - u - v, c + u + v, c - u + v], np.float32)
    normal = np.array(
        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]], np.float64
    )
    normal /= max(float(np.sqrt((normal * normal).sum())), 1e-12)
    corner_uvs = [[0, 0], [repeat_u, 0], [repeat_u, repeat_v], [0, 0], [repeat_u, repeat_v], [0, repeat_v]]
    return Mesh(
        corners.reshape(2, 3, 3),
        np.broadcast_to(normal.astype(np.float32), (2, 3, 3)).copy(),
        np.array(corner_uvs, np.float32).reshape(2, 3, 2),
        np.zeros(2, np.int64),
        (material,),
    )


UNIT_BOX_FACES = ((0, 1, 2), (1, 0, 2), (2, 0, 1))


def box(
    size: Sequence[float],
    material: Material,
    *,
    centre: Sequence[float] = (0, 0, 0),
    texture_metres: float = 0.0,
) -> Mesh:
    """Return a box; ``texture_metres`` is the length of one texture repeat, 0 = one repeat a face."""
    half = np.asarray(size, np.float64) / 2
    corners, normals, uvs = np.zeros((6, 4, 3)), np.zeros((6, 3)), np.zeros((6, 4, 2))
    signs_u, signs_v = np.array([-1, 1, 1, -1]), np.array([-1, -1, 1, 1])
    for number, (axis, first, second) in enumerate(UNIT_BOX_FACES * 2):
        sign = -1 if number < 3 else 1
        corners[number, :, axis] = sign * half[axis]
        corners[number, :, first] = signs_u * half[first] * (sign if axis != 1 else -sign)
        corners[number, :, second] = signs_v * half[second]
        normals[number, axis] = sign
        repeats = (
            (2 * half[first] / texture_metres, 2 * half[second] / texture_metres)
            if texture_metres
            else (1, 1)
        )
        uvs[number, :, 0] = (signs_u > 0) * repeats[0]
        uvs[number, :, 1] = (signs_v > 0) * repeats[1]
    corners += np.asarray(centre, np.float64)
    order = [0, 1, 2, 0, 2, 3]
    return Mesh(
        corners[:, order].reshape(12, 3, 3).astype(np.float32),
        np.repeat(normals, 6, 0).reshape(12, 3, 3).astype(np.float32),
        uvs[:, order].reshape(12, 3, 2).astype(np.float32),
        np.zeros(12, np.int64),
        (material,),
    )


def _strip_faces(rings: int, around: int) -> npt.NDArray[np.int64]:
    """Return the two triangles of each cell of a ``rings`` x ``around + 1`` grid of vertices."""
    i, j = np.mgrid[0 : rings - 1, 0:around]
    a, b = i * (around + 1) + j, (i + 1) * (around + 1) + j
    first = np.stack([a, a + 1, b + 1], -1).reshape(-1, 3)
    return np.concatenate([first, np.stack([a, b + 1, b], -1).reshape(-1, 3)])


def lathe(profile: npt.ArrayLike, material: Material, *, around: int = 32) -> Mesh:
    """Turn a profile of (radius, height) points about Z."""
    points = np.asarray(profile, np.float64)
    angle = np.linspace(0, 2 * np.pi, around + 1)
    cos, sin = np.cos(angle), np.sin(angle)
    height = np.repeat(points[:, None, 1], around + 1, 1)
    vertices = np.stack([points[:, None, 0] * cos, points[:, None, 0] * sin, height], -1)
    slope = np.gradient(points, axis=0)
    length = np.maximum(np.hypot(slope[:, 0], slope[:, 1]), 1e-9)
    out, up = slope[:, 1] / length, -slope[:, 0] / length
    normals = np.stack([out[:, None] * cos, out[:, None] * sin, np.repeat(up[:, None], around + 1, 1)], -1)
    rows, columns = np.linspace(0, 1, len(points))[:, None], (angle / (2 * np.pi))[None]
    uvs = np.stack(np.broadcast_arrays(columns, rows), -1)
    faces = _strip_faces(len(points), around)
    return triangles(
        vertices.reshape(-1, 3), faces, material, uvs=uvs.reshape(-1, 2), normals=normals.reshape(-1, 3)
    )


def cylinder(radius: float, height: float, material: Material, *, around: int = 24) -> Mesh:
    """Return a closed cylinder that stands on z = 0."""
    side = lathe([[radius, 0], [radius, height]], material, around=around)
    top = lathe([[1e-4, height], [radius, height]], material, around=around)
    return merge([side, top, lathe([[radius, 0], [1e-4, 0]], material, around=around)])


def sphere(radius: float, material: Material, *, around: int = 24) -> Mesh:
    """Return a sphere about the origin."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, around // 2 + 1)
    return lathe(
        np.stack([np.cos(angle) * radius + 1e-5, np.sin(angle) * radius], -1), material, around=around
    )


def tube(points: npt.ArrayLike, radius: float, material: Material, *, around: int = 8) -> Mesh:
    """Return an open tube along ``(k, 3)`` points."""
    path = np.asarray(points, np.float64)
    along = np.gradient(path, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    side = np.cross(along, np.array([0.0123, 0.0456, 1.0]))
    side /= np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-6)
    other = np.cross(along, side)
    angle = np.linspace(0, 2 * np.pi, around + 1)
    ring = np.cos(angle)[None, :, None] * side[:, None] + np.sin(angle)[None, :, None] * other[:, None]
    vertices = path[:, None] + radius * ring
    return triangles(
        vertices.reshape(-1, 3), _strip_faces(len(path), around), material, normals=ring.reshape(-1, 3)
    )


def torus(major: float, minor: float, material: Material, *, around: int = 20, stretch: float = 1.0) -> Mesh:
    """Return a ring in the XY plane, stretched along X (a chain link)."""
    angle = np.linspace(0, 2 * np.pi, around + 1)
    path = np.stack([major * np.cos(angle) * stretch, major * np.sin(angle), 0 * angle], -1)
    return tube(path, minor, material, around=6)
