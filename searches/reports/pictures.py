"""Pictures inside a report: each once at most, up to a size that is said."""

from dataclasses import dataclass, field

from searches.reports.document import Picture, data_address
from searches.services.blobs import blob_path
from vlmlab.web.numbers import write_bytes, write_many

MOST_BYTES = 16_000_000
"""Pictures of a report as they lie on the disk; a third more inside the file."""


@dataclass
class PictureBox:
    """Takes pictures until it is full, and counts those that are left out.

    Attributes:
        most_bytes: what it takes.
        taken, size: pictures inside and their bytes.
        full, missing: pictures left out because it was full, or because no file of them is kept.
    """

    most_bytes: int = MOST_BYTES
    taken: int = 0
    size: int = 0
    full: int = 0
    missing: int = 0
    _seen: dict[str, str] = field(default_factory=dict)

    def take(self, sha256: str, *, words: str, caption: str, tone: str = "") -> Picture:
        """Return a stored picture with its caption; without the picture where there is no room or no file."""
        return Picture(self._address(sha256), words, caption, tone)

    @property
    def sentence(self) -> str:
        """How many pictures are inside, how large, and what was left out."""
        inside = f"{write_many(self.taken, 'picture')} inside, {write_bytes(self.size)}."
        left = []
        if self.full:
            left.append(
                f"{write_many(self.full, 'picture')} left out, because a report takes at most "
                f"{write_bytes(self.most_bytes)} of them."
            )
        if self.missing:
            left.append(f"{write_many(self.missing, 'picture')} not kept by the lab any more.")
        return " ".join([inside, *left])

    def _address(self, sha256: str) -> str:
        if sha256 in self._seen:
            return self._seen[sha256]
        path = blob_path(sha256) if sha256 else None
        if path is None or not path.is_file():
            self.missing += 1
            return ""
        self._seen[sha256] = self._put(path.read_bytes())
        return self._seen[sha256]

    def _put(self, png: bytes) -> str:
        if self.size + len(png) > self.most_bytes:
            self.full += 1
            return ""
        self.taken += 1
        self.size += len(png)
        return data_address(png, "image/png")
