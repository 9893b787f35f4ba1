"""What a provider sent becomes a picture of a run: read under limits, brought to size, and its price."""

import numpy as np
from PIL import Image, ImageOps

from vlmlab.core.images import ImageLimits, decode_png, encode_png, read_image
from vlmlab.core.scenes.render.image_api_params import ImageApiParams
from vlmlab.core.scenes.render.image_providers import MOST_PICTURE_BYTES, MadePicture
from vlmlab.core.suts.prices import cost_of

PICTURE_LIMITS = ImageLimits(max_bytes=MOST_PICTURE_BYTES, max_pixels=20_000_000)


def cost_of_picture(params: ImageApiParams, made: MadePicture) -> float:
    """Return the US dollars of a picture: its price, else its tokens' where they are reported, else 0."""
    if params.price_usd_per_picture is not None:
        return params.price_usd_per_picture
    return cost_of(params, input_tokens=made.input_tokens, output_tokens=made.output_tokens)


def fitted_png(content: bytes, *, width: int, height: int) -> bytes:
    """Return a stranger's picture as canonical PNG of a size: scaled to cover it, its middle kept.

    Raises:
        ImageError: it is no picture, damaged, or too large.
    """
    canonical = read_image(content, PICTURE_LIMITS)
    if (canonical.width, canonical.height) == (width, height):
        return canonical.png
    fitted = ImageOps.fit(
        Image.fromarray(decode_png(canonical.png)), (width, height), Image.Resampling.LANCZOS
    )
    return encode_png(np.asarray(fitted, dtype=np.uint8))
