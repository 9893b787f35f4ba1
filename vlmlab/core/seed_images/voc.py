"""Reads Pascal VOC files, and ILSVRC-DET files, which are VOC with synset ids and pixels counted from 0."""

from collections.abc import Callable, Iterator

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.files import read_bounded
from vlmlab.core.seed_images.numbers import number_in, size_in
from vlmlab.core.seed_images.pictures import Corners, NotedPicture, NotedThing
from vlmlab.core.seed_images.reading import Reading
from vlmlab.core.seed_images.report import Place
from vlmlab.core.seed_images.synsets import SynsetNames
from vlmlab.core.seed_images.table_columns import is_set
from vlmlab.core.seed_images.xml_tree import Element, read_xml

PARTIAL_FOLDER = "ILSVRC2013_train"
LabelOf = Callable[[str], str | None]


def read_voc(reading: Reading) -> Iterator[NotedPicture]:
    """Give the pictures that VOC files describe; both ends of a box are pixels of it, counted from 1."""
    first = 1 if reading.settings.first_pixel == "auto" else int(reading.settings.first_pixel)
    yield from _read(reading, first_pixel=first, label_of=reading.labels.label_of)


def read_ilsvrc(reading: Reading) -> Iterator[NotedPicture]:
    """Give the pictures that ILSVRC-DET files describe; both ends of a box are pixels, counted from 0."""
    first = int(reading.settings.first_pixel) if reading.settings.first_pixel != "auto" else 0
    synsets = SynsetNames(reading)
    if any(f"/{PARTIAL_FOLDER}/" in f"/{name}" for name in reading.names):
        reading.report.remark(
            "Pictures of ILSVRC2013_train show boxes of one class only; things of other classes may be there "
            "without a box."
        )
    yield from _read(reading, first_pixel=first, label_of=synsets.label_of)


def _read(reading: Reading, *, first_pixel: int, label_of: LabelOf) -> Iterator[NotedPicture]:
    for name in reading.files_named(".xml"):
        picture: NotedPicture | None = None
        try:
            root = read_xml(read_bounded(reading.files, name, max_bytes=reading.limits.max_small_bytes))
            if root.name.casefold() != "annotation":
                raise FaultError("format", "is no VOC file: it does not begin with <annotation>")
            path = _picture_of(reading, name, root)
            reading.claim(path, by=name)
            picture = _noted(path, root, name=name)
        except FaultError as fault:
            reading.report.refuse("file", Place(name), fault)
            continue
        for number, element in enumerate(root.all("object"), start=1):
            place = Place(name, f"object {number}")
            _take(reading, picture, element, place=place, first_pixel=first_pixel, label_of=label_of)
        yield picture


def _noted(path: str, root: Element, *, name: str) -> NotedPicture:
    size = root.first("size") or Element("size")
    claimed = size_in(size.text_of("width"), size.text_of("height"))
    stratum = root.text_of("scene_type") or root.text_of("stratum") or ""
    return NotedPicture(path, Place(name), size=claimed, stratum=stratum)


def _picture_of(reading: Reading, name: str, root: Element) -> str:
    """Return the picture that a file describes: the one that is called like it, else the one it names.

    The name inside is the weaker sign: it stays when files are renamed or copied, lacks its ending in
    ILSVRC, and is a path of another computer where some tools wrote it.
    """
    stem = name.rpartition("/")[2].rpartition(".")[0]
    told = root.text_of("filename") or ""
    faults: list[FaultError] = []
    for wanted in filter(None, (stem, told, root.text_of("path"))):
        try:
            path = reading.finder.find(wanted, beside=name)
        except FaultError as fault:
            faults.append(fault)
            continue
        if wanted == stem and told and not _is_same_name(told, stem):
            reading.report.remark("A file names another picture inside than the one that is called like it.")
        return path
    raise next((fault for fault in faults if fault.kind == "ambiguous_picture"), faults[-1])


def _is_same_name(told: str, stem: str) -> bool:
    last = told.replace("\\", "/").rpartition("/")[2].casefold()
    return stem.casefold() in (last, last.rpartition(".")[0])


def _take(
    reading: Reading,
    picture: NotedPicture,
    element: Element,
    *,
    place: Place,
    first_pixel: int,
    label_of: LabelOf,
) -> None:
    label: str | None = None
    name = element.text_of("name") or ""
    try:
        label = label_of(name)
        if label is None:
            reading.left_out(name)
            return
        box = _box_of(element, first_pixel=first_pixel)
    except FaultError as fault:
        if fault.kind == "class_name":
            reading.refuse_class(picture, place, fault)
        else:
            reading.refuse_thing(picture, place, fault, label=label)
        return
    if min(box) < 0 and first_pixel:
        reading.report.remark(
            "A box begins at pixel 0, although VOC counts from 1: set First pixel if the tool counts from 0."
        )
    words = [word for word in ("occluded", "truncated") if is_set(element.text_of(word) or "")]
    is_difficult = is_set(element.text_of("difficult") or "")
    flags = tuple(sorted([*words, *(["difficult"] if is_difficult else [])]))
    reading.note(picture, NotedThing(place, label, box, flags=flags, is_sure=not is_difficult))


def _box_of(element: Element, *, first_pixel: int) -> Corners:
    """Return the corners as edges of pixels; boxes of parts, such as heads, lie deeper and are not meant."""
    box = element.first("bndbox")
    if box is None:
        raise FaultError("box", "has no bndbox")
    x_min, y_min, x_max, y_max = (
        number_in(box.text_of(side), what=side) for side in ("xmin", "ymin", "xmax", "ymax")
    )
    if x_max < x_min or y_max < y_min:
        raise FaultError(
            "box", f"has the box {x_min:g}, {y_min:g}, {x_max:g}, {y_max:g}, whose corners are swapped"
        )
    if x_max == x_min or y_max == y_min:  # what tools write for a thing without a box, most of all 0, 0, 0, 0
        raise FaultError("no_area", f"has the box {x_min:g}, {y_min:g}, {x_max:g}, {y_max:g}, which is empty")
    return x_min - first_pixel, y_min - first_pixel, x_max - first_pixel + 1, y_max - first_pixel + 1
