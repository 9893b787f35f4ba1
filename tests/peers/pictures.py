"""Pictures that a drawing peer sends: they follow from the prompt, so that tests can tell them apart."""

import hashlib
import io
import struct
import zlib

from PIL import Image


def drawn(prompt: str, size: tuple[int, int], *, kind: str = "PNG") -> bytes:
    """Return a picture file of one colour that follows from a prompt."""
    red, green, blue = hashlib.sha256(prompt.encode()).digest()[:3]
    stream = io.BytesIO()
    Image.new("RGB", size, (red, green, blue)).save(stream, kind)
    return stream.getvalue()


def halves(size: tuple[int, int]) -> bytes:
    """Return a PNG whose left half is red and whose right half is blue."""
    picture = Image.new("RGB", size, (255, 0, 0))
    picture.paste((0, 0, 255), (size[0] // 2, 0, size[0], size[1]))
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


def bomb(side: int = 40_000) -> bytes:
    """Return a PNG of a few bytes that claims to be ``side`` x ``side`` pixels."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(1000)))
        + chunk(b"IEND", b"")
    )
