"""The canonical picture: one 8-bit sRGB frame as PNG, read from untrusted bytes under limits."""

import hashlib
import io
import struct
import warnings
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms, ImageOps

from vlmlab.core.errors import ImageError

ALLOWED_FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF")
_PNG_COMPRESSION = 6
FAST_COMPRESSION = 1
"""A third of the time for a tenth more bytes: for pictures that are sent more often than kept."""

_WHITE = (255, 255, 255)
# What Pillow raises for damaged files, besides its own UnidentifiedImageError (an OSError).
_DAMAGE = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    struct.error,
    zlib.error,
)


@dataclass(frozen=True)
class ImageLimits:
    """What an uploaded picture may cost.

    Attributes:
        max_bytes: largest file in bytes.
        max_pixels: largest width times height, checked before any pixel is decoded.
    """

    max_bytes: int = 20_000_000
    max_pixels: int = 16_000_000


DEFAULT_LIMITS = ImageLimits()


@dataclass(frozen=True)
class CanonicalImage:
    """A picture as every system under test and every person sees it.

    Attributes:
        png: 8-bit RGB PNG without metadata.
        width: pixels.
        height: pixels.
        sha256: hex digest of ``png``.
    """

    png: bytes
    width: int
    height: int
    sha256: str


def sha256_of(data: bytes) -> str:
    """Return the SHA-256 hex digest of bytes."""
    return hashlib.sha256(data).hexdigest()


def encode_png(pixels: npt.NDArray[np.uint8], *, compression: int = _PNG_COMPRESSION) -> bytes:
    """Return PNG bytes of an RGB array; the same array and compression give the same bytes.

    Args:
        pixels: ``(height, width, 3)`` uint8, sRGB.
        compression: 0 to 9; pictures whose digest is their name have the default.

    Raises:
        ValueError: another shape or dtype, or no pixel.
    """
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or pixels.size == 0:
        raise ValueError(f"pixels must be (height, width, 3) uint8, got {pixels.shape} {pixels.dtype}")
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, "PNG", compress_level=compression)
    return buffer.getvalue()


def decode_png(png: bytes) -> npt.NDArray[np.uint8]:
    """Return the pixels ``(height, width, 3)`` uint8 of a canonical PNG.

    Raises:
        ImageError: the bytes are not a readable picture.
    """
    try:
        with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
            return np.asarray(image.convert("RGB"), dtype=np.uint8)
    except (*_DAMAGE, Image.DecompressionBombError) as error:
        raise ImageError("A stored picture cannot be decoded.", hint="Restore it from a backup.") from error


def png_size(png: bytes) -> tuple[int, int]:
    """Return width and height in pixels as a PNG's header gives them; no pixel is decoded.

    Raises:
        ImageError: the bytes are no PNG.
    """
    if len(png) < 24 or not png.startswith(b"\x89PNG\r\n\x1a\n"):
        raise ImageError("A stored picture is no PNG.", hint="Restore it from a backup.")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def read_image(data: bytes, limits: ImageLimits = DEFAULT_LIMITS) -> CanonicalImage:
    """Check an uploaded file and return it as the canonical picture.

    EXIF orientation is applied, transparency is flattened on white, an embedded colour profile is
    converted to sRGB, 16-bit samples keep their upper byte.

    Args:
        data: the bytes of a PNG, JPEG, WebP, BMP or GIF file with one frame.
        limits: bounds checked before decoding.

    Raises:
        ImageError: format, size, frames or damage, with what to do.
    """
    if not data:
        raise ImageError("The image file is empty.", hint="Choose a PNG, JPEG or WebP file.")
    if len(data) > limits.max_bytes:
        raise ImageError(
            f"The image file has {len(data) / 1e6:.1f} MB; "
            f"at most {limits.max_bytes / 1e6:.0f} MB are allowed.",
            hint="Save it smaller or as JPEG.",
        )
    _check_pixels(*_webp_size(data), limits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image = _open(data, limits)
        pixels = _pixels_of(image)
    png = encode_png(pixels)
    return CanonicalImage(png, pixels.shape[1], pixels.shape[0], sha256_of(png))


def _check_pixels(width: int, height: int, limits: ImageLimits) -> None:
    if width * height > limits.max_pixels:
        raise ImageError(
            f"The image has {width} x {height} pixels; "
            f"at most {limits.max_pixels / 1e6:.0f} million are allowed.",
            hint="Scale it down and try again.",
        )


def _webp_size(data: bytes) -> tuple[int, int]:
    """Return the canvas size of an extended or lossless WebP, else (0, 0).

    Pillow reserves memory for the canvas while it opens such a file, so the check comes first.
    """
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP" or len(data) < 30:
        return 0, 0
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return 0, 0


def _open(data: bytes, limits: ImageLimits) -> Image.Image:
    """Open without decoding, check size and frames, then decode."""
    refused = ImageError(
        "The file is not a readable image, or it is damaged.",
        hint="Open it in an image program and save it again as PNG or JPEG.",
    )
    try:
        image = Image.open(io.BytesIO(data), formats=ALLOWED_FORMATS)
    except Image.DecompressionBombError:
        raise ImageError(
            f"The image has far more than {limits.max_pixels / 1e6:.0f} million pixels.",
            hint="Scale it down and try again.",
        ) from None
    except _DAMAGE as error:
        raise refused from error
    _check_pixels(image.width, image.height, limits)
    try:
        # A multi-picture JPEG (phones append previews) counts as one frame: its first.
        is_animated = bool(getattr(image, "is_animated", False)) and image.format != "MPO"
        if not is_animated:
            image.load()
    except (*_DAMAGE, Image.DecompressionBombError) as error:
        raise refused from error
    if is_animated:
        raise ImageError(
            "The image has several frames.", hint="Save the frame that you want as a single PNG or JPEG."
        )
    _check_pixels(image.width, image.height, limits)
    return image


def _pixels_of(image: Image.Image) -> npt.NDArray[np.uint8]:
    """Return upright opaque sRGB pixels of a decoded picture."""
    profile = image.info.get("icc_profile")
    try:
        image = ImageOps.exif_transpose(image)
    except _DAMAGE:
        image.info.pop("exif", None)  # damaged metadata only loses the orientation
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        samples = np.asarray(image).astype(np.float64)
        scale = 256.0 if samples.max(initial=0.0) > 255.0 or image.mode.startswith("I;16") else 1.0
        grey = np.clip(samples / scale, 0, 255).astype(np.uint8)
        return np.repeat(grey[:, :, None], 3, axis=2)
    has_alpha = image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info
    alpha = image.convert("RGBA").getchannel("A") if has_alpha else None
    colours = _to_srgb(image.convert("RGBA").convert("RGB") if has_alpha else image, profile)
    if alpha is not None:
        backdrop = Image.new("RGB", image.size, _WHITE)
        backdrop.paste(colours, mask=alpha)
        colours = backdrop
    return np.asarray(colours, dtype=np.uint8)


def _to_srgb(image: Image.Image, profile: object) -> Image.Image:
    """Convert by the embedded profile when it fits the picture; otherwise take the values as sRGB."""
    if isinstance(profile, bytes) and profile and image.mode in ("RGB", "CMYK", "L"):
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            target = ImageCms.createProfile("sRGB")
            converted = ImageCms.profileToProfile(image, source, target, outputMode="RGB")
        except (ImageCms.PyCMSError, *_DAMAGE):
            converted = None
        if converted is not None:
            return converted
    return image.convert("RGB")
