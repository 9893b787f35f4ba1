"""Cutting meshes along planes, so that a change of material has a straight edge, and painting on them."""

from dataclasses import replace

import numpy as np

from vlmlab.core.scenes.render.mesh import Bools, Floats, Material, Mesh

TOUCHES = np.float32(1e-6)


def cut(mesh: Mesh, *, axis: int, at: float) -> Mesh:
    """Split every triangle that crosses a plane, so that each one lies on one side of it.

    Args:
        mesh: what to cut; the surface itself stays as it is.
        axis: 0, 1 or 2: the plane is where this coordinate has the value ``at``.
        at: metres.
    """
    height = mesh.corners[:, :, axis] - np.float32(at)
    crossing = (height.min(1) < -TOUCHES) & (height.max(1) > TOUCHES)
    rows = np.nonzero(crossing)[0]
    if not len(rows):
        return mesh
    height = height[rows]
    is_above = height > 0
    lone = np.where(is_above.sum(1) == 1, is_above.argmax(1), is_above.argmin(1))
    order = (lone[:, None] + np.arange(3)) % 3
    height = np.take_along_axis(height, order, 1)
    packed = np.concatenate([mesh.corners, mesh.normals, mesh.uvs], -1)
    a, b, c = np.moveaxis(np.take_along_axis(packed[rows], order[:, :, None], 1), 1, 0)
    p = a + (b - a) * (height[:, :1] / (height[:, :1] - height[:, 1:2]))
    q = a + (c - a) * (height[:, :1] / (height[:, :1] - height[:, 2:3]))
    pieces = [np.stack(one, 1) for one in ((a, p, q), (p, b, c), (p, c, q))]
    whole: Floats = np.concatenate([packed[~crossing], *pieces]).astype(np.float32)
    material_of = np.concatenate([mesh.material_of[~crossing], *[mesh.material_of[rows]] * 3])
    return Mesh(whole[..., :3], whole[..., 3:6], whole[..., 6:], material_of, mesh.materials)


def covered(mesh: Mesh, chosen: Bools, material: Material) -> Mesh:
    """Return the mesh with another material on the chosen triangles."""
    material_of = np.where(chosen, len(mesh.materials), mesh.material_of)
    return replace(mesh, material_of=material_of, materials=(*mesh.materials, material))


def stencilled(
    mesh: Mesh,
    chosen: Bools,
    material: Material,
    *,
    axis: int,
    across: tuple[float, float],
    up: tuple[float, float],
) -> Mesh:
    """Return the mesh with a textured material thrown straight onto the chosen triangles.

    Args:
        mesh: cut along the edges of the panel before.
        chosen: ``(n,)`` triangles to paint.
        material: its texture fills the panel once.
        axis: 0 or 1, the coordinate that runs along the lettering.
        across: where the lettering begins and ends along that axis, from the reader's left to right.
        up: lower and upper edge, metres.
    """
    uvs = mesh.uvs.copy()
    points = mesh.corners[chosen]
    uvs[chosen, :, 0] = (points[:, :, axis] - across[0]) / (across[1] - across[0])
    uvs[chosen, :, 1] = (points[:, :, 2] - up[0]) / (up[1] - up[0])
    return covered(replace(mesh, uvs=uvs), chosen, material)
