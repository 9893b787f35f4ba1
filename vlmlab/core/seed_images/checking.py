"""Opens the pictures of an import and checks what is noted of them; what is sound becomes a seed picture."""

from collections.abc import Mapping

from vlmlab.core.errors import ImageError
from vlmlab.core.images import CanonicalImage, read_image
from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.files import SourceFiles, read_bounded
from vlmlab.core.seed_images.pictures import NotedPicture, NotedThing, SeedPicture, SeedThing
from vlmlab.core.seed_images.report import ImportReport, Place, shown
from vlmlab.core.seed_images.settings import ImportLimits, ImportSettings
from vlmlab.core.seed_images.shapes import Canvas, hull_of_mask, is_mask_of
from vlmlab.core.seed_images.upright import SWAPS_SIDES, UNTURNED, stored_orientation


class PictureChecker:
    """Takes one noted picture after the other; pictures that are equal pixel by pixel are taken once.

    Args:
        files: of the source.
        settings: how boxes are to be read.
        limits: of one picture.
        report: is told what is refused.
        seen: digests of pictures that were taken before -> their paths.
    """

    def __init__(
        self,
        files: SourceFiles,
        settings: ImportSettings,
        *,
        limits: ImportLimits,
        report: ImportReport,
        seen: Mapping[str, str] | None = None,
    ) -> None:
        self._files, self._settings, self._limits, self._report = files, settings, limits, report
        self._seen: dict[str, str] = dict(seen or {})

    def check(self, noted: NotedPicture, *, stratum: str) -> SeedPicture | None:
        """Return a picture that a search can start from, or None where it is refused.

        Args:
            noted: what files tell of it.
            stratum: kind of scene.
        """
        try:
            picture = self._checked(noted, stratum)
        except FaultError as fault:
            self._report.refuse("picture", Place(noted.file), fault, picture=noted.file)
            return None
        self._seen[picture.image.sha256] = picture.file
        self._report.n_pictures += 1
        self._report.n_things += len(picture.things)
        self._report.strata[stratum] += 1
        return picture

    def _checked(self, noted: NotedPicture, stratum: str) -> SeedPicture:
        if noted.hole is not None:
            raise FaultError("hole", f"cannot be used, because {noted.hole}")
        data = read_bounded(self._files, noted.file, max_bytes=self._limits.image.max_bytes)
        try:
            image = read_image(data, self._limits.image)
        except ImageError as error:
            raise FaultError("picture", _end_of_sentence(error.message), hint=error.hint) from error
        if image.sha256 in self._seen:
            raise FaultError("same_picture", f"is the same picture as {shown(self._seen[image.sha256])}")
        if min(image.width, image.height) < self._settings.least_side:
            raise FaultError(
                "too_small",
                f"has {image.width} x {image.height} pixels, and the shorter side must have at least "
                f"{self._settings.least_side}",
            )
        canvas = self._canvas(noted, image, stored_orientation(data))
        things = self._things(noted, canvas)
        picture = SeedPicture(noted.file, stratum, image, things, tuple(sorted(noted.unsure_labels)))
        if not picture.asked_labels:
            told = ", ".join(picture.unsure_labels)
            unsure = f": not all boxes of {shown(told)} are certain" if told else ""
            raise FaultError("nothing_to_ask", f"shows nothing that can be asked for{unsure}")
        return picture

    def _canvas(self, noted: NotedPicture, image: CanonicalImage, orientation: int) -> Canvas:
        """Return the picture that the boxes were drawn on.

        Raises:
            FaultError: the claimed size is another one, or nobody knows whether boxes were turned.
        """
        upright = (image.width, image.height)
        stored = upright[::-1] if orientation in SWAPS_SIDES else upright
        if noted.size is not None and noted.size not in (upright, stored):
            width, height = noted.size
            raise FaultError(
                "size",
                f"has {image.width} x {image.height} pixels, but {shown(str(noted.place))} tells "
                f"{width} x {height}",
            )
        if orientation == UNTURNED:
            return Canvas(*upright, is_relative=noted.is_relative)
        frame = noted.frame if self._settings.boxes_lie_in == "auto" else self._settings.boxes_lie_in
        if frame == "by_size":
            if noted.size is None or stored == upright:
                raise FaultError(
                    "rotation",
                    f"is turned by its EXIF data (orientation {orientation}), and its size does not tell "
                    "whether its boxes were turned with it",
                )
            frame = "upright" if noted.size == upright else "stored"
        if frame == "upright":
            self._report.remark("A picture is turned by its EXIF data; its boxes lie in the upright one.")
            return Canvas(*upright, is_relative=noted.is_relative)
        self._report.remark("A picture was turned upright, and its boxes with it.")
        return Canvas(*stored, orientation=orientation, is_relative=noted.is_relative)

    def _things(self, noted: NotedPicture, canvas: Canvas) -> tuple[SeedThing, ...]:
        things: list[SeedThing] = []
        seen: set[tuple[object, ...]] = set()
        for one in noted.things:
            try:
                thing = self._thing(one, noted, canvas)
            except FaultError as fault:
                self._report.refuse("thing", one.place, fault, picture=noted.file)
                noted.unsure_labels.add(one.label)
                continue
            key = (thing.label, *(round(side, 3) for side in thing.box))
            if key in seen:
                self._report.remark("A thing stands twice with the same label and box; it is taken once.")
                continue
            seen.add(key)
            things.append(thing)
            if not one.is_sure and not self._settings.ask_difficult:
                noted.unsure_labels.add(one.label)
        return tuple(things)

    def _thing(self, one: NotedThing, noted: NotedPicture, canvas: Canvas) -> SeedThing:
        box = None if one.box is None else canvas.box(one.box)
        width, height = canvas.upright_size
        try:
            mask = canvas.mask(one.outline)
            if mask and box is not None and not is_mask_of(mask, box, size=(width, height)):
                raise FaultError("mask", "has a mask that lies elsewhere than its box")
        except FaultError as fault:
            if box is None:
                raise FaultError("box", f"has no box, and {fault.reason}") from fault
            self._report.refuse("mask", one.place, fault, picture=noted.file)
            mask = ""
        if box is None and not mask:
            raise FaultError("box", "has neither a box nor a mask")
        if box is None:
            box = hull_of_mask(mask, width=width, height=height)
        return SeedThing(one.label, box, mask, one.flags)


def _end_of_sentence(message: str) -> str:
    """Return a sentence about a picture as the end of one whose subject is its place."""
    plain = message.strip().rstrip(".")
    return f"is refused: {plain[:1].lower()}{plain[1:]}"
