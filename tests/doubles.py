"""Doubles that are cheap and honest: a scene source that paints one flat colour for each set and seed."""

import hashlib
import io

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from vlmlab.core.scenes.scene import Annotation, Camera, GeneratedScene, SceneDescription


def paint_png(
    colour: tuple[int, int, int], *, width: int = 16, height: int = 12, concepts: tuple[str, ...] = ()
) -> bytes:
    """Return a flat picture as PNG bytes; a text chunk names the concepts for scripted systems."""
    out, words = io.BytesIO(), PngInfo()
    words.add_text("concepts", f"|{'|'.join(concepts)}|")
    Image.new("RGB", (width, height), colour).save(out, "PNG", pnginfo=words)
    return out.getvalue()


class FlatSceneSource:
    """A scene source whose picture is one colour derived from the concepts and the seed."""

    identity = "flat/1 16x12"

    def generate(self, concepts: tuple[str, ...], *, seed: int) -> GeneratedScene:
        digest = hashlib.sha256("|".join([*concepts, str(seed)]).encode()).digest()
        png = paint_png((digest[0], digest[1], digest[2]), concepts=concepts)
        description = SceneDescription(
            domain="driving",
            concepts=concepts,
            seed=seed,
            attempt=0,
            camera=Camera((0.0, 0.0, 1.5), (0.0, 10.0, 1.0)),
            environment={"light": 1.0},
            world={"town": "town_01"},
            objects=(),
        )
        annotations = tuple(
            Annotation(f"o{i}", concept, concept, True, (1.0, 1.0, 8.0, 8.0), (1.0, 1.0, 8.0, 8.0), 49, 1.0)
            for i, concept in enumerate(concepts)
        )
        return GeneratedScene(
            description,
            png,
            hashlib.sha256(png).hexdigest(),
            annotations,
            {"backend": "flat", "version": "1"},
        )


def make_flat_source(domain: str, *, width: int, height: int) -> FlatSceneSource:
    """Factory with the signature that the setting ``SCENE_SOURCE_FACTORY`` names."""
    return FlatSceneSource()
