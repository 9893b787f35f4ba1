"""ZIP archives that are sent while they are written: nothing is held in memory but the piece in hand."""

import io
import zipfile
from collections.abc import Iterable, Iterator

OLDEST = (1980, 1, 1, 0, 0, 0)  # no clock: the same content gives the same bytes
PIECE_BYTES = 64 * 1024


class _Outbox(io.RawIOBase):
    """A file that can only be written, and is emptied now and then."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]  # whatever zipfile hands over is a buffer
        self._pieces.append(piece)
        return len(piece)

    def take(self) -> bytes:
        """Return what was written since the last time."""
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def zip_pieces(members: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """Return an archive piece by piece.

    Args:
        members: name and content of each file; names that end with ``.png`` are stored as they are, others
            are compressed.
    """
    outbox = _Outbox()
    with zipfile.ZipFile(outbox, "w", allowZip64=True) as archive:
        for name, content in members:
            entry = zipfile.ZipInfo(name, OLDEST)
            entry.compress_type = zipfile.ZIP_STORED if name.endswith(".png") else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w") as file:
                for piece in content:
                    file.write(piece)
                    if taken := outbox.take():
                        yield taken
            if taken := outbox.take():
                yield taken
    yield outbox.take()


def text_bytes(pieces: Iterable[str]) -> Iterator[bytes]:
    """Return pieces of text as UTF-8, joined to pieces that are worth sending."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece.encode())
        size += len(waiting[-1])
        if size >= PIECE_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)
