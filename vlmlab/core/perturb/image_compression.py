"""What storing a picture does to it: JPEG's quantiser and coarse pixels."""

import io
from functools import cache

import numpy as np
import numpy.typing as npt
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile

from vlmlab.core.perturb.image_operator import Pixels, Quantity, pixels_per_unit, size_of
from vlmlab.core.perturb.image_pixelwise import PixelOperator


@cache
def _standard_tables() -> npt.NDArray[np.float64]:
    """Return the quantiser's tables of ITU-T T.81, annex K, which encoders use unchanged at quality 50.

    Returns:
        ``(2, 64)``: brightness and colours.
    """
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "JPEG", quality=50)
    with Image.open(buffer, formats=("JPEG",)) as image:
        tables: dict[int, list[int]] = getattr(image, "quantization", {})
    return np.array([tables[number] for number in sorted(tables)], dtype=np.float64)


def jpeg_compression(image: Pixels, quantiser: float, _rng: np.random.Generator) -> Pixels:
    """Store a picture as JPEG with the standard tables times ``quantiser``, and read it again.

    Quality q of the usual encoders is 50 / q below 50 and 2 - q / 50 above; colours have half resolution.
    """
    scaled = np.rint(_standard_tables() * quantiser).clip(1, 255).astype(np.int64).tolist()
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", qtables=scaled, subsampling="4:2:0")
    buffer.seek(0)
    with JpegImageFile(buffer) as stored:  # ours: nothing about it is in doubt
        return np.frombuffer(bytearray(stored.tobytes()), dtype=np.uint8).reshape(image.shape)


def pixelate(image: Pixels, block: float, _rng: np.random.Generator) -> Pixels:
    """Average blocks of ``block`` reference pixels a side."""
    height, width = image.shape[:2]
    side = 1.0 + (block - 1.0) * pixels_per_unit(size_of(image))
    coarse = max(1, round(width / side)), max(1, round(height / side))
    blocks = Image.fromarray(image).resize(coarse, Image.Resampling.BOX)
    return np.array(blocks.resize((width, height), Image.Resampling.NEAREST))


COMPRESSION_OPERATORS = (
    PixelOperator(
        "pixelate",
        "compression",
        Quantity("block", "side of a block in reference pixels", 6.0, weakest=1.0),
        "Coarse pixels, as of a picture that was scaled down and up again.",
        pixelate,
    ),
    PixelOperator(
        "jpeg_compression",
        "compression",
        Quantity("quantiser", "factor on the standard tables; quality q is 50 / q", 8.0, power=2.0),
        "JPEG at low quality: blocks, ringing and pale colours.",
        jpeg_compression,
    ),
)
