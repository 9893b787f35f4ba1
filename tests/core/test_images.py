"""The canonical picture, and files that must be refused before they cost memory."""

import io
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms

from vlmlab.core.errors import ImageError
from vlmlab.core.images import (
    FAST_COMPRESSION,
    ImageLimits,
    decode_png,
    encode_png,
    read_image,
    sha256_of,
)

GRADIENT = np.stack(
    [np.add.outer(np.arange(6), np.arange(8)) * 10, np.full((6, 8), 30), np.full((6, 8), 200)], axis=2
).astype(np.uint8)


def saved(image: Image.Image, form: str, **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def bomb_png(side: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    packer, parts = zlib.compressobj(9), []
    row = bytes(1 + side // 8)
    parts = [packer.compress(row) for _ in range(side)] + [packer.flush()]
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"".join(parts)) + chunk(b"IEND", b"")
    )


def test_encode_png_and_decode_png_keep_every_pixel():
    png = encode_png(GRADIENT)

    assert png == encode_png(GRADIENT.copy())
    assert (decode_png(png) == GRADIENT).all()


@pytest.mark.parametrize(
    "array", [np.zeros((2, 2)), np.zeros((2, 2, 4), np.uint8), np.zeros((0, 2, 3), np.uint8)]
)
def test_encode_png_refuses_other_arrays(array):
    with pytest.raises(ValueError, match="pixels must be"):
        encode_png(array)


def test_decode_png_says_that_a_stored_picture_is_damaged():
    with pytest.raises(ImageError, match="cannot be decoded"):
        decode_png(b"\x89PNG\r\n\x1a\nxx")


@pytest.mark.parametrize("form", ["PNG", "WEBP", "BMP", "GIF"])
def test_read_image_gives_the_same_canonical_picture_for_lossless_formats(form):
    image = Image.fromarray(GRADIENT)
    data = saved(image, form, lossless=True) if form == "WEBP" else saved(image, form)

    canonical = read_image(data)

    if form != "GIF":
        assert (decode_png(canonical.png) == GRADIENT).all()
    assert (canonical.width, canonical.height) == (8, 6)
    assert canonical.sha256 == sha256_of(canonical.png)


def test_read_image_returns_its_own_output_unchanged():
    png = read_image(saved(Image.fromarray(GRADIENT), "JPEG")).png

    assert read_image(png).png == png


def test_read_image_applies_exif_orientation_and_drops_metadata():
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "secret place"

    canonical = read_image(saved(Image.fromarray(GRADIENT), "PNG", exif=exif))

    assert (decode_png(canonical.png) == np.rot90(GRADIENT, -1)).all()
    assert b"secret place" not in canonical.png


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_read_image_flattens_transparency_on_white(mode):
    pixels = [(0, 0, 0, 0), (0, 0, 0, 255)] if mode == "RGBA" else [(0, 0), (0, 255)]
    image = Image.new(mode, (2, 1))
    image.putdata(pixels)

    assert decode_png(read_image(saved(image, "PNG")).png).tolist() == [[[255] * 3, [0] * 3]]


def test_read_image_flattens_a_transparent_palette_colour():
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 200, 0, 0])
    image.putdata([0, 1])

    pixels = decode_png(read_image(saved(image, "PNG", transparency=0)).png)

    assert pixels.tolist() == [[[255, 255, 255], [200, 0, 0]]]


def test_read_image_keeps_the_upper_byte_of_16_bit_samples():
    image = Image.fromarray(np.array([[0, 0x7FFF, 0x8000, 0xC0FF, 0xFFFF]], dtype=np.uint16))

    assert decode_png(read_image(saved(image, "PNG")).png)[0, :, 0].tolist() == [0, 0x7F, 0x80, 0xC0, 255]


def test_read_image_converts_an_embedded_profile_to_srgb():
    lab_like = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    plain = read_image(saved(Image.fromarray(GRADIENT), "PNG")).png

    same = read_image(saved(Image.fromarray(GRADIENT), "PNG", icc_profile=lab_like)).png

    assert np.abs(decode_png(same).astype(int) - decode_png(plain)).max() <= 1


def test_read_image_ignores_a_broken_profile():
    data = saved(Image.fromarray(GRADIENT), "PNG", icc_profile=b"not a profile")

    assert (decode_png(read_image(data).png) == GRADIENT).all()


def test_read_image_reads_cmyk_and_the_first_picture_of_a_phone_jpeg():
    cmyk = read_image(saved(Image.fromarray(GRADIENT).convert("CMYK"), "JPEG"))
    first = Image.fromarray(GRADIENT)
    phone = read_image(saved(first, "MPO", save_all=True, append_images=[first.resize((4, 3))]))

    assert (cmyk.width, phone.width) == (8, 8)


def animated(form: str) -> bytes:
    frames = [Image.new("RGB", (4, 4), (shade, 0, 0)) for shade in (0, 120, 250)]
    return saved(frames[0], form, save_all=True, append_images=frames[1:])


whole = saved(Image.effect_noise((64, 64), 80).convert("RGB"), "PNG")
REFUSED = {
    "empty": (b"", "empty"),
    "text": (b"hello, this is no picture", "not a readable image"),
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a readable image"),
    "tiff": (saved(Image.new("RGB", (4, 4)), "TIFF"), "not a readable image"),
    "truncated png": (whole[: len(whole) // 2], "damaged"),
    "truncated jpeg": (saved(Image.effect_noise((64, 64), 80), "JPEG")[:900], "damaged"),
    "animated gif": (animated("GIF"), "several frames"),
    "animated webp": (animated("WEBP"), "several frames"),
    "animated png": (animated("PNG"), "several frames"),
    "huge png": (bomb_png(12_000), "12000 x 12000 pixels"),
    "huge webp": (
        b"RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff" + bytes(20),
        "pixels",
    ),
    "huge gif": (b"GIF89a\xff\xff\xff\xff\x00\x00\x00" + bytes(40), "65535 x 65535|far more|damaged"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_read_image_refuses_with_what_and_what_to_do(name):
    data, message = REFUSED[name]

    with pytest.raises(ImageError, match=message) as caught:
        read_image(data)

    assert caught.value.hint.endswith(".")


def test_read_image_checks_the_file_size_first():
    with pytest.raises(ImageError, match=r"20\.0 MB; at most 20 MB"):
        read_image(b"\x89PNG" + bytes(20_000_000))


def test_read_image_takes_exactly_the_allowed_number_of_pixels():
    data = saved(Image.fromarray(GRADIENT), "PNG")

    assert read_image(data, ImageLimits(max_pixels=48)).width == 8
    with pytest.raises(ImageError, match="8 x 6 pixels"):
        read_image(data, ImageLimits(max_pixels=47))


def test_refused_bombs_cost_no_memory(tmp_path):
    (tmp_path / "bomb.png").write_bytes(bomb_png(12_000))
    script = (
        "import resource, sys, pathlib\n"
        "from vlmlab.core.images import read_image\n"
        "from vlmlab.core.errors import ImageError\n"
        "data = pathlib.Path(sys.argv[1]).read_bytes()\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    read_image(data)\nexcept ImageError:\n    pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )

    grown = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "bomb.png")], capture_output=True, text=True, check=True
    ).stdout

    scale = 1 if sys.platform == "darwin" else 1024
    assert int(grown) * scale < 50_000_000


SEEDS = [saved(Image.fromarray(GRADIENT), form) for form in ("PNG", "JPEG", "WEBP", "BMP", "GIF")]


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=6),
    st.integers(0, 900),
)
def test_read_image_of_damaged_bytes_is_a_picture_or_an_image_error(data, edits, length):
    damaged = bytearray(data[: max(1, length)])
    for position, value in edits:
        damaged[position % len(damaged)] = value

    try:
        result = read_image(bytes(damaged), ImageLimits(max_pixels=1_000_000))
    except ImageError:
        return

    assert decode_png(result.png).shape == (result.height, result.width, 3)


@pytest.mark.parametrize("name", ["extended", "lossless"])
def test_a_huge_webp_is_refused_before_anything_opens_it(name, monkeypatch):
    def opened(*values: object, **settings: object) -> None:
        raise AssertionError("opening it reserves memory for all its pixels")

    monkeypatch.setattr(Image, "open", opened)
    kinds = {
        "extended": b"VP8X\x0a\x00\x00\x00" + bytes(4) + b"\xff\x3f\x00\xff\x3f\x00",
        "lossless": b"VP8L\x0a\x00\x00\x00\x2f\xff\xff\xff\x0f",
    }

    with pytest.raises(ImageError, match="16384 x 16384 pixels"):
        read_image(b"RIFF\x16\x00\x00\x00WEBP" + kinds[name] + bytes(20))


def test_a_fast_png_has_the_same_pixels_in_other_bytes():
    pixels = np.tile(GRADIENT, (8, 8, 1))

    fast = encode_png(pixels, compression=FAST_COMPRESSION)

    assert fast != encode_png(pixels)
    assert np.array_equal(decode_png(fast), pixels)
