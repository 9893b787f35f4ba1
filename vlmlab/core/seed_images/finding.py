"""Finds the picture that a row means among the files of a source; nothing outside of it can be reached."""

import unicodedata
from collections.abc import Iterable

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.files import PICTURE_ENDINGS
from vlmlab.core.seed_images.report import shown


class PictureFinder:
    """Knows the pictures of a source.

    Rows rarely name a picture as it lies there: they hold paths of another computer, the ending in other
    letters, another ending, or none.

    Args:
        names: paths of all files; those that are no pictures are left out.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.pictures = tuple(name for name in names if is_picture(name))
        self._exact = frozenset(self.pictures)
        self._by_last: dict[str, list[str]] = {}
        self._by_stem: dict[str, list[str]] = {}
        for name in self.pictures:
            last = _plain(name.rpartition("/")[2])
            self._by_last.setdefault(last, []).append(name)
            self._by_stem.setdefault(_stem(last), []).append(name)

    def find(self, name: str, *, beside: str) -> str:
        """Return the path of a picture.

        Args:
            name: as a row writes it.
            beside: path of the file that the row stands in; of several pictures of the same name the one
                with the most folders in common is meant.

        Raises:
            FaultError: there is none, or several could be meant.
        """
        parts = _parts(name)
        if not parts:
            raise FaultError("row", "names no picture")
        folder = beside.rpartition("/")[0]
        wanted = "/".join(parts)
        for path in (f"{folder}/{wanted}" if folder else wanted, wanted):
            if path in self._exact:
                return path
        last = _plain(parts[-1])
        # A name without an ending may hold dots itself, so all of it is tried as a stem first.
        for found in (self._by_last.get(last), self._by_stem.get(last), self._by_stem.get(_stem(last))):
            if found:
                return _nearest(found, parts, beside=folder)
        raise FaultError("missing_picture", f"names the picture “{shown(name)[:100]}”, which is not there")

    def has(self, stem: str) -> bool:
        """Return whether some picture is called so, with or without its ending."""
        plain = _plain(stem)
        return plain in self._by_stem or plain in self._by_last


def is_picture(name: str) -> bool:
    """Return whether a path ends like a picture."""
    return name.lower().endswith(PICTURE_ENDINGS)


def _nearest(found: list[str], parts: list[str], *, beside: str) -> str:
    if len(found) == 1:
        return found[0]
    folders = set(beside.split("/"))
    scores = [(_common_tail(path, parts), len(folders & set(path.split("/")[:-1]))) for path in found]
    best = max(scores)
    if scores.count(best) > 1:
        first, second = [path for path, score in zip(found, scores, strict=True) if score == best][:2]
        raise FaultError("ambiguous_picture", f"could mean {shown(first)[:100]} or {shown(second)[:100]}")
    return found[scores.index(best)]


def _common_tail(path: str, parts: list[str]) -> int:
    """Return twice the number of equal folders at the end, one more where the last parts are equal."""
    own, count = path.split("/"), 0
    for mine, theirs in zip(reversed(own[:-1]), reversed(parts[:-1]), strict=False):
        if mine != theirs:
            break
        count += 1
    return 2 * count + (own[-1] == parts[-1])


def _parts(name: str) -> list[str]:
    """Return the parts of a foreign path below the last one that leads upwards."""
    plain = unicodedata.normalize("NFC", name.strip().replace("\\", "/"))
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if ".." in parts:
        parts = parts[len(parts) - parts[::-1].index("..") :]
    return parts[1:] if len(parts) > 1 and parts[0].endswith(":") else parts


def _plain(last: str) -> str:
    return unicodedata.normalize("NFC", last).casefold()


def _stem(last: str) -> str:
    return last.rpartition(".")[0] if last.endswith(PICTURE_ENDINGS) else last
