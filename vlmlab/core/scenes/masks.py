"""Masks as compressed COCO run-length strings, which every tool that reads COCO files understands."""

import numpy as np
import numpy.typing as npt


def encode_mask(mask: npt.NDArray[np.bool_]) -> str:
    """Return an ``(h, w)`` mask as a compressed COCO run-length string."""
    # Imported here: the encoder is only needed where a picture has just been drawn.
    from pycocotools import mask as coco

    rows = np.asfortranarray(mask.astype(np.uint8))
    counts: bytes = coco.encode(rows)["counts"]
    return counts.decode("ascii")


def decode_mask(counts: str, *, width: int, height: int) -> npt.NDArray[np.bool_]:
    """Return the ``(height, width)`` mask of a compressed COCO run-length string.

    Raises:
        ValueError: the string is not a mask of this size.
    """
    from pycocotools import mask as coco

    if not counts:  # the decoder would answer with whatever lies in memory
        raise ValueError("counts: expected a run-length string, got an empty one")
    try:
        decoded = coco.decode({"size": [height, width], "counts": counts.encode("ascii")})
    except (ValueError, UnicodeEncodeError, RuntimeError) as error:
        raise ValueError(f"counts: not a run-length mask of {width}x{height} pixels") from error
    return np.asarray(decoded, dtype=np.bool_)
