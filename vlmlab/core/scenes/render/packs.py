"""Reading the mesh packs."""

import ast
import hashlib
from functools import lru_cache

import numpy as np

from vlmlab.core.scenes.render.credits import ASSETS
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, Texture, linear_rgb

METALS = ("chrome", "inox", "steel", "alumin", "metal1", "stainless", "sheetmetal")


@lru_cache(maxsize=1)
def asset_digest() -> str:
    """Return 16 hex digits over the bytes of all packs; part of every cache key."""
    total = hashlib.sha256()
    for path in sorted(ASSETS.glob("*.npz")):
        total.update(path.name.encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:16]


def _material(row: tuple[str, Colour, Colour, float, float, str | None], texture: Texture | None) -> Material:
    """Translate one Wavefront material row: name, Kd, Ks, Ns, d, texture key."""
    name, diffuse, specular, _, opacity, _ = row
    shine = float(np.mean(specular))
    clear = opacity < 0.95
    tint = np.minimum(linear_rgb(diffuse), 0.85)
    albedo = (1.0, 1.0, 1.0) if texture is not None else (float(tint[0]), float(tint[1]), float(tint[2]))
    if any(word in name.lower() for word in METALS):
        dark = (albedo[0] * 0.6, albedo[1] * 0.6, albedo[2] * 0.6)
        return Material(dark, texture, max(opacity, 0.1) if clear else 1.0, 0.45, 0.3, name=name)
    return Material(
        albedo,
        texture,
        opacity=max(opacity, 0.1) if clear else 1.0,
        reflectance=0.04 if shine > 0.2 or clear else 0.02,
        roughness=0.25 if shine > 0.3 or clear else 0.6,
        name=name,
    )


@lru_cache(maxsize=64)
def load_pack(name: str) -> Mesh:
    """Return one pack as a mesh, in metres, standing on z = 0, facing -Y."""
    with np.load(ASSETS / f"{name}.npz", allow_pickle=False) as pack:
        rows = ast.literal_eval(str(pack["meta"]))["mats"]
        materials = []
        for row in rows:
            texture = None
            if row[5]:
                picture = pack[row[5]].astype(np.float32) / 255
                colour = linear_rgb(picture[..., :3])
                if picture.shape[2] == 4:
                    colour = np.concatenate([colour, picture[..., 3:]], -1)
                texture = Texture.from_linear(colour)
            materials.append(_material(row, texture))
        normals = pack["N"].astype(np.float32) / np.float32(127)
        return Mesh(
            pack["P"].astype(np.float32), normals, pack["UV"].astype(np.float32),
            pack["M"].astype(np.int64), tuple(materials),
        )  # fmt: skip


def repainted(name: str, **colours: Colour) -> Mesh:
    """Return a pack with the named materials in plain colours (material names in lower case)."""
    mesh = load_pack(name)
    wanted = {
        old.name.lower(): old.painted(colours[old.name.lower()])
        for old in mesh.materials
        if old.name.lower() in colours
    }
    return mesh.recoloured(wanted)
