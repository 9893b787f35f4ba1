"""Which picture a row means: by its path, by the end of it, by its name in other letters, or none at all."""

import pytest

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.finding import PictureFinder

NAMES = (
    "a/x.png",
    "b/x.png",
    "b/notes.txt",
    "b/deep/y.v2.JPG",
    "Größe/é.png",  # é as one sign
    "train/images/z.jpg",
    "val/images/z.jpg",
)
FINDER = PictureFinder(NAMES)


@pytest.mark.parametrize(
    ("name", "beside", "found"),
    [
        ("a/x.png", "notes.csv", "a/x.png"),
        ("x.png", "b/notes.csv", "b/x.png"),
        ("./x.png", "b/notes.csv", "b/x.png"),
        ("../a/x.png", "b/notes.csv", "a/x.png"),
        ("C:\\data\\b\\x.png", "notes.csv", "b/x.png"),
        ("/mnt/data/a/x.png", "b/notes.csv", "a/x.png"),
        ("y.v2", "notes.csv", "b/deep/y.v2.JPG"),
        ("Y.V2.jpg", "notes.csv", "b/deep/y.v2.JPG"),
        ("y.v2.png", "notes.csv", "b/deep/y.v2.JPG"),
        ("größe/e\u0301.png", "notes.csv", "Größe/é.png"),
        ("z", "val/labels/z.txt", "val/images/z.jpg"),
        ("z.jpg", "train/labels/z.txt", "train/images/z.jpg"),
        ("val/images/z.jpg", "train/labels/z.txt", "val/images/z.jpg"),
    ],
)
def test_a_picture_is_found_as_rows_write_it(name, beside, found):
    assert FINDER.find(name, beside=beside) == found


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("x.png", "ambiguous_picture"),
        ("z.jpg", "ambiguous_picture"),
        ("w.png", "missing_picture"),
        ("notes.txt", "missing_picture"),
        ("x", "ambiguous_picture"),
        ("", "row"),
        ("..", "row"),
        ("/", "row"),
        ("../../../etc/passwd", "missing_picture"),
    ],
)
def test_what_is_not_there_or_could_be_two_is_refused(name, kind):
    with pytest.raises(FaultError) as error:
        FINDER.find(name, beside="notes.csv")

    assert error.value.kind == kind


def test_only_pictures_are_known():
    assert FINDER.pictures == tuple(name for name in NAMES if not name.endswith(".txt"))
    assert (FINDER.has("y.v2"), FINDER.has("z.jpg"), FINDER.has("notes")) == (True, True, False)
