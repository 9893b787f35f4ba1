"""Scenes from photographs: a picture of the pool that shows a set, brought to the size of a run."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

from vlmlab.core.errors import GenerationError
from vlmlab.core.images import decode_png, encode_png, sha256_of
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.masks import decode_mask, encode_mask
from vlmlab.core.scenes.pool_coverage import Match, fits_set
from vlmlab.core.scenes.pools import PicturePool, PoolAnnotation, PoolPicture
from vlmlab.core.scenes.render.image_pool_params import IMAGE_POOL, Fit, ImagePoolParams
from vlmlab.core.scenes.scene import Annotation, Camera, GeneratedScene, SceneDescription
from vlmlab.core.seeding import derive_seed

VERSION = "1"
BAR_GREY = 128
SHOWN_SHARE = 0.5  # of a box must be in the frame, or the thing does not count as shown
ONLY: dict[Match, str] = {
    "contains": "",
    "same_answer": " without something else that changes the question or the answer",
    "exact": " and nothing else of the domain",
}
"""What a picture lacks besides the set, by what was asked for."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Frame:
    """How a picture lies in the frame of a run.

    Attributes:
        scale_x, scale_y: pixels of the frame for one pixel of the picture.
        left, top: where its upper left corner lies in the frame; negative where it is cut.
        inner: width and height of the scaled picture.
        outer: width and height of the frame.
    """

    scale_x: float
    scale_y: float
    left: int
    top: int
    inner: tuple[int, int]
    outer: tuple[int, int]

    def placed(self, box: Box) -> Box:
        """Return a box of the picture in pixels of the frame; it may reach beyond."""
        x_min, y_min, x_max, y_max = box
        return (
            x_min * self.scale_x + self.left,
            y_min * self.scale_y + self.top,
            x_max * self.scale_x + self.left,
            y_max * self.scale_y + self.top,
        )

    def clipped(self, box: Box) -> Box:
        """Return the part of a box that lies in the frame."""
        width, height = float(self.outer[0]), float(self.outer[1])
        x_min, y_min, x_max, y_max = box
        return (
            min(max(x_min, 0.0), width),
            min(max(y_min, 0.0), height),
            min(max(x_max, 0.0), width),
            min(max(y_max, 0.0), height),
        )

    @property
    def pasted(self) -> tuple[int, int, int, int]:
        """Where the part of the picture that is seen lies in the frame; whole pixels."""
        (width, height), (inner_width, inner_height) = self.outer, self.inner
        return (
            max(self.left, 0),
            max(self.top, 0),
            min(self.left + inner_width, width),
            min(self.top + inner_height, height),
        )

    @property
    def kept(self) -> Box:
        """The part of the picture that is seen, in its own pixels; never beyond its edges by a rounding."""
        x_min, y_min, x_max, y_max = self.pasted
        width, height = self.inner[0] / self.scale_x, self.inner[1] / self.scale_y
        return (
            (x_min - self.left) / self.scale_x,
            (y_min - self.top) / self.scale_y,
            min((x_max - self.left) / self.scale_x, round(width)),
            min((y_max - self.top) / self.scale_y, round(height)),
        )

    def shown_share(self, box: Box) -> float:
        """Return which share of a box of the picture lies in the frame, in [0, 1]."""
        placed = self.placed(box)
        whole = _area(placed)
        return _area(self.clipped(placed)) / whole if whole else 0.0


def frame_for(size: tuple[int, int], *, width: int, height: int, fit: Fit) -> Frame:
    """Return how a picture of ``size`` (width, height) lies in a frame of ``width`` x ``height`` pixels."""
    ratios = width / size[0], height / size[1]
    scale = min(ratios) if fit == "contain" else max(ratios)
    inner_width, inner_height = max(1, round(size[0] * scale)), max(1, round(size[1] * scale))
    return Frame(
        scale_x=inner_width / size[0],
        scale_y=inner_height / size[1],
        left=(width - inner_width) // 2,
        top=(height - inner_height) // 2,
        inner=(inner_width, inner_height),
        outer=(width, height),
    )


class ImagePoolSource:
    """A ``SceneSource`` of photographs.

    The picture of a sample is the one whose digest together with the scene seed comes first. So it depends
    on nothing but pool, set and seed, and stays the same when pictures that do not fit the set are added.
    Two samples of a set may get the same picture, more often the fewer there are; provenance says of how
    many it is one.

    Args:
        pool: the pictures.
        domain: whose sets are asked for.
        params: which pictures fit, and how they are brought to size.
        width, height: of the scenes in pixels.
    """

    def __init__(
        self, pool: PicturePool, domain: Domain, params: ImagePoolParams, *, width: int, height: int
    ) -> None:
        self._pool, self._domain, self._params = pool, domain, params
        self._size = width, height
        self._shown = [(picture, self._concepts_in_frame(picture)) for picture in pool.pictures]

    @property
    def identity(self) -> str:
        """Back end, version, pool, size and how pictures are chosen and fitted as one line."""
        width, height = self._size
        return (
            f"{IMAGE_POOL} {VERSION} pool={self._pool.digest} domain={self._domain.ref} "
            f"size={width}x{height} match={self._params.match} fit={self._params.fit}"
        )

    def generate(self, concepts: Key, *, seed: int) -> GeneratedScene:
        """Return a picture of the pool that shows the canonical set.

        Raises:
            GenerationError: no picture shows it, or its file is gone.
        """
        fitting = self._fitting(concepts)
        if not fitting:
            raise GenerationError(self._nothing_shows(concepts), hint="Use fewer concepts at once.")
        picture = min(fitting, key=lambda one: derive_seed(seed, "picture", one.sha256))
        frame = self._frame(picture)
        png = encode_png(_framed(decode_png(self._pool.read(picture.sha256)), frame))
        things = [
            _annotated(thing, picture, frame, number=number, concepts=concepts)
            for number, thing in enumerate(picture.annotations)
        ]
        seen = [one for one in things if one.annotation.visible_pixels > 0]
        return GeneratedScene(
            description=self._description(picture, concepts, seed=seed),
            image_png=png,
            image_sha256=sha256_of(png),
            annotations=tuple(one.annotation for one in seen),
            provenance=self._provenance(picture, len(fitting)),
            masks={one.annotation.object_id: one.mask for one in seen if one.mask},
        )

    def _fitting(self, wanted: Key) -> list[PoolPicture]:
        match = self._params.match
        return [
            picture for picture, shown in self._shown if fits_set(self._domain, shown, wanted, match=match)
        ]

    def _nothing_shows(self, concepts: Key) -> str:
        labels = ", ".join(self._domain.concept(concept).label for concept in concepts)
        return f"No picture of the pool shows {labels}{ONLY[self._params.match]}."

    def _frame(self, picture: PoolPicture) -> Frame:
        width, height = self._size
        return frame_for((picture.width, picture.height), width=width, height=height, fit=self._params.fit)

    def _concepts_in_frame(self, picture: PoolPicture) -> Key:
        """Return the concepts of a picture without those all of whose boxes are cut off."""
        frame = self._frame(picture)
        shares: dict[str, float] = {}
        for thing in picture.annotations:
            shares[thing.concept] = max(shares.get(thing.concept, 0.0), frame.shown_share(thing.box))
        return tuple(
            concept
            for concept in picture.concepts
            if concept in self._domain.index and shares.get(concept, 1.0) >= SHOWN_SHARE
        )

    def _description(self, picture: PoolPicture, concepts: Key, *, seed: int) -> SceneDescription:
        return SceneDescription(
            domain=self._domain.slug,
            concepts=concepts,
            seed=seed,
            attempt=0,
            camera=Camera((0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
            environment={},
            world={
                "backend": IMAGE_POOL,
                "pool": self._pool.slug,
                "picture": picture.sha256,
                "file": picture.name,
            },
            objects=(),
        )

    def _provenance(self, picture: PoolPicture, number: int) -> dict[str, str]:
        width, height = self._size
        return {
            "backend": IMAGE_POOL,
            "version": VERSION,
            "pool": self._pool.slug,
            "pool_digest": self._pool.digest,
            "picture": picture.sha256,
            "file": picture.name,
            "chosen": f"1 of {number} picture{'' if number == 1 else 's'}",
            "size": f"{width}x{height}",
            "fit": self._params.fit,
        }


@dataclass(frozen=True)
class _Thing:
    annotation: Annotation
    mask: str


def _annotated(
    thing: PoolAnnotation, picture: PoolPicture, frame: Frame, *, number: int, concepts: Key
) -> _Thing:
    placed = frame.placed(thing.box)
    box = frame.clipped(placed)
    share = frame.shown_share(thing.box)
    pixels, mask = round(_area(box)), ""
    if thing.mask:
        whole = decode_mask(thing.mask, width=picture.width, height=picture.height)
        framed = _framed_mask(whole, frame)
        pixels, mask = int(framed.sum()), encode_mask(framed)
    return _Thing(
        Annotation(
            object_id=f"thing-{number}",
            kind=thing.label,
            concept=thing.concept,
            is_required=thing.concept in concepts,
            visible_box=box if pixels else None,
            amodal_box=box,
            visible_pixels=pixels,
            visible_fraction=share,
        ),
        mask,
    )


def _framed(pixels: npt.NDArray[np.uint8], frame: Frame) -> npt.NDArray[np.uint8]:
    sheet = Image.new("RGB", frame.outer, (BAR_GREY,) * 3)
    return _pasted(Image.fromarray(pixels), sheet, frame, Image.Resampling.LANCZOS)


def _framed_mask(mask: npt.NDArray[np.bool_], frame: Frame) -> npt.NDArray[np.bool_]:
    picture, sheet = Image.fromarray(mask.astype(np.uint8) * 255), Image.new("L", frame.outer, 0)
    return _pasted(picture, sheet, frame, Image.Resampling.NEAREST) > 0


def _pasted(
    picture: Image.Image, sheet: Image.Image, frame: Frame, resampling: Image.Resampling
) -> npt.NDArray[np.uint8]:
    """Return a sheet with what is seen of a picture; the rest, huge for a strip, is never scaled."""
    x_min, y_min, x_max, y_max = frame.pasted
    scaled = picture.resize((x_max - x_min, y_max - y_min), resampling, box=frame.kept)
    sheet.paste(scaled, (x_min, y_min))
    return np.asarray(sheet, dtype=np.uint8)


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])
