"""Annotated pictures to choose from: what an image pool is given."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PoolAnnotation:
    """One thing in a picture; ``box`` is x_min, y_min, x_max, y_max in pixels, ``mask`` as in ``masks``."""

    label: str
    concept: str
    box: tuple[float, float, float, float]
    mask: str = ""


@dataclass(frozen=True)
class PoolPicture:
    """One picture of a pool.

    Attributes:
        sha256: of the stored PNG.
        name: file name, for people.
        concepts: canonical ids of all that it shows, in catalogue order.
    """

    sha256: str
    name: str
    width: int
    height: int
    concepts: tuple[str, ...]
    annotations: tuple[PoolAnnotation, ...] = ()


@dataclass(frozen=True)
class PicturePool:
    """The pictures of a pool and how to read one.

    Attributes:
        slug: of the dataset.
        digest: changes whenever a picture or an annotation changes.
        pictures: in a fixed order.
        read: SHA-256 -> the PNG; raises ``GenerationError`` when it is gone.
    """

    slug: str
    digest: str
    pictures: Sequence[PoolPicture]
    read: Callable[[str], bytes]
