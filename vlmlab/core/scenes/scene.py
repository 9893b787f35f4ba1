"""The renderer-neutral scene description and what a back end gives back."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Number = float | int
Parameter = str | float | int | bool | None


@dataclass(frozen=True)
class SceneObject:
    """One thing in a scene.

    Attributes:
        id: unique in the scene.
        kind: key of the back end's builder table; all a back end must know.
        position: x, y, z in metres, Z up, ego looks along +Y.
        yaw: radians, counter-clockwise seen from above.
        parameters: what the builder reads (``appearance_seed``, ``colour``, ...).
        concept: the concept it realises, "" for a distractor.
        is_required: whether the presence check insists on it.
    """

    id: str
    kind: str
    position: tuple[float, float, float]
    yaw: float = 0.0
    parameters: dict[str, Parameter] = field(default_factory=dict)
    concept: str = ""
    is_required: bool = False


@dataclass(frozen=True)
class Camera:
    """A pinhole camera; position and look-at in metres, ``fov`` horizontal in degrees, roll in radians."""

    position: tuple[float, float, float]
    look_at: tuple[float, float, float]
    fov: float = 56.0
    roll: float = 0.0


@dataclass(frozen=True)
class SceneDescription:
    """Everything a back end needs to draw one scene; a pure function of (concepts, seed, attempt).

    Attributes:
        domain: slug of the domain.
        concepts: canonical ids in catalogue order.
        seed: the scene seed; ``attempt`` counts rejected layouts before this one.
        environment: light, weather and fog parameters.
        world: parameters of the static background (town, junction distance, wetness, ...).
    """

    domain: str
    concepts: tuple[str, ...]
    seed: int
    attempt: int
    camera: Camera
    environment: dict[str, Parameter | tuple[float, ...]]
    world: dict[str, Parameter | tuple[float, ...]]
    objects: tuple[SceneObject, ...]

    def to_json(self) -> str:
        """Return canonical JSON: sorted keys, no spaces; equal descriptions give equal text."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """SHA-256 hex of the canonical JSON."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


@dataclass(frozen=True)
class Annotation:
    """Ground truth of one object in the picture.

    Attributes:
        object_id: id of the scene object.
        kind: its kind.
        concept: the concept it realises, "" for a distractor.
        visible_box: x_min, y_min, x_max, y_max in pixels of what can be seen; None when hidden.
        amodal_box: the same for the whole object, clipped to the frame.
        visible_pixels: number of pixels that show it.
        visible_fraction: visible pixels / pixels it would cover with nothing in front, in [0, 1].
    """

    object_id: str
    kind: str
    concept: str
    is_required: bool
    visible_box: tuple[float, float, float, float] | None
    amodal_box: tuple[float, float, float, float]
    visible_pixels: int
    visible_fraction: float


@dataclass(frozen=True)
class RenderedScene:
    """A picture with its truth.

    Attributes:
        image: ``(height, width, 3)`` uint8 sRGB.
        annotations: one for each object that is in the frame.
        masks: object id -> ``(height, width)`` bool, only for required objects.
        provenance: back end, version, asset digest, size, quality.
    """

    image: npt.NDArray[np.uint8]
    annotations: tuple[Annotation, ...]
    masks: dict[str, npt.NDArray[np.bool_]]
    provenance: dict[str, str]


@dataclass(frozen=True)
class GeneratedScene:
    """A scene that passed the presence check, as PNG, with its description.

    Attributes:
        masks: object id -> compressed COCO run-length string of the required objects' visible pixels, as
            ``masks.encode_mask`` makes it; empty where the back end knows no masks.
        cost_usd: what making it cost; 0 for a scene that came from a cache.
    """

    description: SceneDescription
    image_png: bytes
    image_sha256: str
    annotations: tuple[Annotation, ...]
    provenance: dict[str, str]
    masks: dict[str, str] = field(default_factory=dict)
    cost_usd: float = 0.0


class SceneSource(Protocol):
    """Makes pictures of concept sets: a back end together with its presence check and cache."""

    @property
    def identity(self) -> str:
        """Back end, version, asset digest, size and quality as one stable line."""
        ...

    def generate(self, concepts: tuple[str, ...], *, seed: int) -> GeneratedScene:
        """Return a scene of the set that shows every required concept.

        Raises:
            GenerationError: no attempt showed every required concept, or the back end failed.
        """
        ...


@runtime_checkable
class DrawsAhead(Protocol):
    """A scene source whose scenes may be drawn by another process before they are needed."""

    def is_kept(self, concepts: tuple[str, ...], *, seed: int) -> bool:
        """Return whether the scene lies in the cache already; cheap, and never draws."""
        ...

    def generate(self, concepts: tuple[str, ...], *, seed: int) -> GeneratedScene:
        """Return the scene, and keep it."""
        ...


@runtime_checkable
class KeepsPaid(Protocol):
    """A scene source that costs money and keeps what was paid for; nobody draws ahead with it."""

    def is_paid(self, concepts: tuple[str, ...], *, seed: int) -> bool:
        """Return whether the scene was paid for before, so that it costs nothing now."""
        ...
