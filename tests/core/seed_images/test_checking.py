"""Pictures of every kind that cameras and attackers make: turned, CMYK, 16 bits, torn, tiny, huge, twice."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from tests.core.seed_images.sources import coco, imported, photograph, red_box, saved, thing, told, truth, voc
from vlmlab.core.images import decode_png
from vlmlab.core.scenes.masks import decode_mask

HEAD = b"file,label,x_min,y_min,x_max,y_max\n"
MARKED = (50, 10, 75, 22)
UPRIGHT = {
    1: (50, 10, 75, 22),
    2: (5, 10, 30, 22),
    3: (5, 38, 30, 50),
    4: (50, 38, 75, 50),
    5: (10, 50, 22, 75),
    6: (38, 50, 50, 75),
    7: (38, 5, 50, 30),
    8: (10, 5, 22, 30),
}
"""Where the marked rectangle of an 80 x 60 picture lies once it is upright, by hand."""


def turned(turn: int) -> bytes:
    return photograph(size=(80, 60), marked=MARKED, turn=turn)


def one_coco(
    picture: bytes, box: tuple[int, ...], *, size: tuple[int, int] | None, segmentation=(), **settings
):
    image = {"id": 1, "file_name": "a.png"}
    if size is not None:
        image |= {"width": size[0], "height": size[1]}
    row = {
        "id": 1,
        "image_id": 1,
        "category_id": 1,
        "bbox": [box[0], box[1], box[2] - box[0], box[3] - box[1]],
        "segmentation": list(segmentation),
    }
    notes = coco([image], [row], [{"id": 1, "name": "dog"}])
    return imported({"a.png": picture, "notes.json": notes}, **settings)


def one(picture: bytes, *, name: str = "a.png", row: bytes = b"dog,1,1,30,30", **settings):
    return imported({name: picture, "boxes.csv": HEAD + name.encode() + b"," + row + b"\n"}, **settings)


# Pictures that EXIF data turn


@pytest.mark.parametrize("turn", [5, 6, 7, 8])
def test_boxes_and_masks_of_the_stored_size_are_turned_upright_with_the_picture(turn):
    x_min, y_min, x_max, y_max = MARKED
    outline = [[x_min, y_min, x_max, y_min, x_max, y_max, x_min, y_max]]

    pictures, report = one_coco(turned(turn), MARKED, size=(80, 60), segmentation=outline)

    assert told(report) == []
    assert (pictures[0].image.width, pictures[0].image.height) == (60, 80)
    assert truth(pictures[0]) == [("dog", UPRIGHT[turn])]
    assert red_box(pictures[0]) == UPRIGHT[turn]
    mask = decode_mask(pictures[0].things[0].mask, width=60, height=80)
    pixels = decode_png(pictures[0].image.png)
    assert (mask == ((pixels[:, :, 0] > 200) & (pixels[:, :, 1] < 60))).all()
    assert report.remarks == {"A picture was turned upright, and its boxes with it.": 1}


@pytest.mark.parametrize("turn", [5, 6, 7, 8])
def test_boxes_of_the_upright_size_stay_where_they_are(turn):
    pictures, report = one_coco(turned(turn), UPRIGHT[turn], size=(60, 80))

    assert (truth(pictures[0]), told(report)) == ([("dog", UPRIGHT[turn])], [])
    assert red_box(pictures[0]) == UPRIGHT[turn]


@pytest.mark.parametrize(
    ("turn", "size"), [(2, (80, 60)), (3, (80, 60)), (4, (80, 60)), (6, None), (3, None)]
)
def test_a_turn_that_the_size_does_not_tell_is_refused_with_what_to_do(turn, size):
    pictures, report = one_coco(turned(turn), MARKED, size=size)

    assert pictures == []
    assert told(report) == [("picture", "rotation", "a.png", "")]
    assert "Say in the settings" in report.refusals[0].hint


@pytest.mark.parametrize("turn", range(1, 9))
def test_the_settings_decide_where_the_size_does_not_tell(turn):
    stored, _ = one_coco(turned(turn), MARKED, size=None, boxes_lie_in="stored")
    upright, _ = one_coco(turned(turn), UPRIGHT[turn], size=None, boxes_lie_in="upright")

    assert truth(stored[0]) == truth(upright[0]) == [("dog", UPRIGHT[turn])]
    assert red_box(stored[0]) == UPRIGHT[turn]


def test_tables_and_yolo_files_mean_the_upright_picture():
    box = UPRIGHT[6]
    row = ",".join(map(str, ("dog", *box))).encode()
    line = f"0 {44 / 60} {62.5 / 80} {12 / 60} {25 / 80}".encode()

    table, _ = one(turned(6), row=row)
    yolo, _ = imported({"a.png": turned(6), "a.txt": line, "classes.txt": b"dog"})

    assert truth(table[0]) == truth(yolo[0]) == [("dog", box)]


def test_a_jpeg_of_a_phone_is_turned_like_a_png():
    picture = photograph(size=(80, 60), marked=MARKED, turn=6, form="JPEG")
    notes = voc("a.jpg", thing("dog", (51, 11, 75, 22)), size=(80, 60))

    pictures, report = imported({"a.jpg": picture, "a.xml": notes})

    assert (truth(pictures[0]), told(report)) == ([("dog", UPRIGHT[6])], [])


def test_damaged_exif_data_turn_nothing():
    out = io.BytesIO()
    Image.open(io.BytesIO(photograph(marked=MARKED))).convert("RGB").save(
        out, "JPEG", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff"
    )

    pictures, report = one(out.getvalue(), name="a.jpg")

    assert (len(pictures), told(report)) == (1, [])


# Kinds of pictures

GREY = np.full((60, 80), 100, np.uint8)


@pytest.mark.parametrize(
    ("picture", "colour"),
    [
        (saved(Image.fromarray(GREY), "PNG"), (100, 100, 100)),
        (saved(Image.fromarray(GREY.astype(np.uint16) * 256), "PNG"), (100, 100, 100)),
        (saved(Image.new("RGBA", (80, 60), (255, 0, 0, 0)), "PNG"), (255, 255, 255)),
        (saved(Image.new("LA", (80, 60), (0, 255)), "PNG"), (0, 0, 0)),
        (saved(Image.new("P", (80, 60), 0), "PNG"), (0, 0, 0)),
        (saved(Image.new("1", (80, 60), 1), "PNG"), (255, 255, 255)),
        (saved(Image.new("RGB", (80, 60), (10, 20, 30)), "WEBP", lossless=True), (10, 20, 30)),
        (saved(Image.new("CMYK", (80, 60), (0, 0, 0, 255)), "JPEG"), (0, 0, 0)),
    ],
    ids=["grey", "16 bits", "clear", "grey with alpha", "palette", "one bit", "webp", "cmyk"],
)
def test_every_kind_of_picture_becomes_rgb_of_8_bits(picture, colour):
    pictures, report = one(picture)

    pixels = decode_png(pictures[0].image.png)
    assert (pixels.shape, told(report)) == ((60, 80, 3), [])
    assert np.abs(pixels[30, 40].astype(int) - colour).max() <= 2


def test_a_jpeg_that_is_called_png_is_read():
    pictures, _ = one(photograph(form="JPEG"))

    assert len(pictures) == 1


def header_only_png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("picture", "kind", "words"),
    [
        (photograph(form="JPEG")[:-200], "picture", "damaged"),
        (photograph()[:60], "picture", "damaged"),
        (b"", "picture", "empty"),
        (b"GIF89a", "picture", "not a readable image"),
        (saved(Image.new("RGB", (80, 60)), "TIFF"), "picture", "not a readable image"),
        (b"\0\0\0\x18ftypheic", "picture", "not a readable image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "picture", "not a readable image"),
        (header_only_png(6000, 5000), "picture", "6000 x 5000 pixels; at most 16 million"),
        (header_only_png(60_000, 60_000), "picture", "far more than 16 million"),
        (photograph(size=(1, 1)), "too_small", "1 x 1 pixels"),
        (photograph(size=(500, 31)), "too_small", "500 x 31 pixels"),
        (b"x" * 20_000_001, "file", "more than 20 MB"),
    ],
    ids=[
        "torn jpeg",
        "torn png",
        "empty",
        "gif",
        "tiff",
        "heic",
        "svg",
        "30 mp",
        "bomb",
        "1x1",
        "flat",
        "heavy",
    ],
)
def test_a_picture_that_cannot_be_used_is_refused_with_its_file_and_what_to_do(picture, kind, words):
    pictures, report = one(picture)

    assert pictures == []
    assert told(report) == [("picture", kind, "a.png", "")]
    assert words in report.refusals[0].reason
    assert report.refusals[0].hint != ""


def test_an_animation_is_refused():
    frames = [Image.new("RGB", (80, 60), (shade, 0, 0)) for shade in (0, 200)]

    _, report = one(saved(frames[0], "GIF", save_all=True, append_images=frames[1:]), name="a.gif")

    assert "several frames" in report.refusals[0].reason


def test_the_same_picture_under_another_name_or_in_another_format_is_taken_once():
    picture = photograph()
    files = {
        "a.png": picture,
        "b.bmp": saved(Image.open(io.BytesIO(picture)), "BMP"),
        "c.png": photograph(61),
        "boxes.csv": HEAD + b"b.bmp,dog,1,1,30,30\na.png,dog,1,1,30,30\nc.png,dog,1,1,30,30\n",
    }

    pictures, report = imported(files)

    assert [one.file for one in pictures] == ["b.bmp", "c.png"]
    assert told(report) == [("picture", "same_picture", "a.png", "")]
    assert report.refusals[0].reason == "is the same picture as b.bmp"
