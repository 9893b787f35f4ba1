"""VOC and ILSVRC-DET files as they are found: pixels from 1 and from 0, parts, synset ids, wrong names."""

import pytest

from tests.core.seed_images.sources import imported, photograph, red_box, thing, told, truth, voc
from vlmlab.core.seed_images.synsets import SYNSET_ID, detection_names

PICTURE = "JPEGImages/000005.jpg"
NOTES = "Annotations/000005.xml"


def one(
    objects: str, *, filename: str = "000005.jpg", notes: str = NOTES, files=None, size=(80, 60), **settings
):
    pictures = files or {PICTURE: photograph(form="JPEG")}
    return imported({**pictures, notes: voc(filename, objects, size=size)}, **settings)


def test_a_voc_box_covers_the_pixels_it_names_counted_from_1():
    files = {PICTURE: photograph(marked=(20, 10, 50, 31), form="PNG")}

    pictures, report = one(thing("dog", (21, 11, 50, 31)), files=files)

    assert truth(pictures[0]) == [("dog", (20, 10, 50, 31))]
    assert red_box(pictures[0]) == (20, 10, 50, 31)
    assert told(report) == []


def test_the_largest_voc_box_is_the_whole_picture():
    pictures, _ = one(thing("dog", (1, 1, 80, 60)))

    assert truth(pictures[0]) == [("dog", (0, 0, 80, 60))]


def test_pixels_from_0_are_read_as_the_settings_say_and_a_box_at_0_is_remarked():
    as_voc, report = one(thing("dog", (0, 0, 49, 30)))
    as_told, silent = one(thing("dog", (0, 0, 49, 30)), first_pixel="0")

    assert truth(as_voc[0]) == [("dog", (0, 0, 49, 30))]
    assert list(report.remarks) == [
        "A box begins at pixel 0, although VOC counts from 1: set First pixel if the tool counts from 0."
    ]
    assert truth(as_told[0]) == [("dog", (0, 0, 50, 31))]
    assert silent.remarks == {}


def test_fractions_of_pixels_as_in_voc_2011_are_kept():
    pictures, _ = one(thing("dog", ("45.70000076293945", "10.5", "60.3", "31")))

    assert truth(pictures[0]) == [("dog", (44.7, 9.5, 60.3, 31))]


def test_boxes_of_parts_are_not_things():
    sides = "<xmin>5</xmin><ymin>5</ymin><xmax>9</xmax><ymax>9</ymax>"
    head = f"<part><name>head</name><bndbox>{sides}</bndbox></part>"

    pictures, _ = one(thing("person", (4, 4, 40, 50), more=head))

    assert truth(pictures[0]) == [("person", (3, 3, 40, 50))]


def test_a_difficult_thing_keeps_its_label_from_being_asked_for_unless_the_settings_want_it():
    objects = thing("dog", (1, 1, 20, 20), more="<difficult>1</difficult>") + thing(
        "cat", (30, 1, 50, 20), more="<truncated>1</truncated><occluded>1</occluded><difficult>0</difficult>"
    )

    careful, _ = one(objects)
    bold, _ = one(objects, ask_difficult=True)

    assert [one.flags for one in careful[0].things] == [("difficult",), ("occluded", "truncated")]
    assert (careful[0].asked_labels, bold[0].asked_labels) == (("cat",), ("cat", "dog"))


@pytest.mark.parametrize("size", [None, (0, 0)])
def test_a_file_that_leaves_the_size_open_is_read(size):
    pictures, report = one(thing("dog", (1, 1, 20, 20)), size=size)

    assert (len(pictures), told(report)) == (1, [])


def test_a_file_for_another_size_is_refused():
    _, report = one(thing("dog", (1, 1, 20, 20)), size=(60, 80))

    assert told(report) == [("picture", "size", PICTURE, "")]


@pytest.mark.parametrize(
    "filename",
    ["000005", "000005.png", "C:\\Users\\me\\000005.jpg", "%s", "", "000005.JPG", "/tmp/x/000005.jpg"],
)
def test_the_picture_is_found_whatever_the_file_calls_it(filename):
    pictures, report = one(thing("dog", (1, 1, 20, 20)), filename=filename)

    assert ([picture.file for picture in pictures], told(report)) == ([PICTURE], [])


def test_a_file_that_was_copied_belongs_to_the_picture_it_is_called_like():
    files = {"a.png": photograph(10), "b.png": photograph(20)}

    pictures, report = imported(
        {
            **files,
            "a.xml": voc("a.png", thing("dog", (1, 1, 20, 20))),
            "b.xml": voc("a.png", thing("cat", (1, 1, 9, 9))),
        }
    )

    assert [(one.file, one.asked_labels) for one in pictures] == [("a.png", ("dog",)), ("b.png", ("cat",))]
    assert report.remarks == {"A file names another picture inside than the one that is called like it.": 1}


def test_pictures_of_the_same_name_are_told_apart_by_their_folders():
    files = {"VOC2007/JPEGImages/000005.jpg": photograph(10), "VOC2012/JPEGImages/000005.jpg": photograph(20)}

    pictures, report = one(thing("dog", (1, 1, 20, 20)), notes="VOC2012/Annotations/000005.xml", files=files)

    assert [picture.file for picture in pictures] == ["VOC2012/JPEGImages/000005.jpg"]
    assert told(report) == [("picture", "not_named", "VOC2007/JPEGImages/000005.jpg", "")]


def test_a_name_that_fits_two_pictures_alike_is_refused():
    files = {"a/000005.jpg": photograph(10), "b/000005.jpg": photograph(20)}

    _, report = one(thing("dog", (1, 1, 20, 20)), files=files)

    assert told(report)[0] == ("file", "ambiguous_picture", NOTES, "")
    assert "could mean a/000005.jpg or b/000005.jpg" in report.refusals[0].reason


def test_names_that_differ_only_in_case_are_two_pictures():
    files = {"IMG.png": photograph(10), "img.png": photograph(20)}
    notes = {
        "IMG.xml": voc("IMG.png", thing("dog", (1, 1, 20, 20))),
        "img.xml": voc("img.png", thing("cat", (1, 1, 20, 20))),
    }

    pictures, report = imported({**files, **notes})

    assert [(one.file, one.asked_labels) for one in pictures] == [
        ("IMG.png", ("dog",)),
        ("img.png", ("cat",)),
    ]
    assert told(report) == []


@pytest.mark.parametrize(
    ("objects", "kind", "words"),
    [
        ("<object><name>dog</name></object>", "box", "no bndbox"),
        (thing("dog", (30, 10, 20, 20)), "box", "corners are swapped"),
        (thing("dog", (0, 0, 0, 0)), "no_area", "empty"),
        (thing("dog", (1, 1, 900, 20)), "outside", "reaches beyond"),
        (thing("dog", ("1_0", 1, 20, 20)), "box", "“1_0” for xmin"),
        (thing("dog", ("", 1, 20, 20)), "box", "“” for xmin"),
        (thing("dog", ("inf", 1, 20, 20)), "box", "“inf” for xmin"),
        (thing("dog", ("1e999", 1, 20, 20)), "box", "no finite number"),
    ],
)
def test_a_wrong_object_is_refused_with_its_number(objects, kind, words):
    pictures, report = one(thing("cat", (1, 1, 20, 20)) + objects)

    assert told(report) == [("thing", kind, NOTES, "object 2")]
    assert words in report.refusals[0].reason
    assert (pictures[0].asked_labels, pictures[0].unsure_labels) == (("cat",), ("dog",))


def test_things_can_be_left_out():
    pictures, report = one(thing("cat", (1, 1, 20, 20)) + thing("sky", (1, 1, 20, 20)), labels={"sky": "-"})

    assert (pictures[0].asked_labels, told(report)) == (("cat",), [])


def test_an_object_without_a_name_costs_the_picture():
    _, report = one(thing("cat", (1, 1, 20, 20)) + thing("", (1, 1, 20, 20)))

    assert told(report) == [("thing", "label", NOTES, "object 2"), ("picture", "hole", PICTURE, "")]


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>'
)
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (voc("&c;", thing("dog", (1, 1, 9, 9)), head=BOMB), "declares a document type"),
        (voc("&x;", thing("dog", (1, 1, 9, 9)), head=OUTSIDE), "declares a document type"),
        (
            voc("000005.jpg", "", head='<!DOCTYPE annotation SYSTEM "http://example.org/x.dtd">'),
            "document type",
        ),
        (b"<a>" * 100_000, "nested too deeply"),
        (b"<annotation>" + b"<object/>" * 60_000 + b"</annotation>", "too many elements"),
        (b"<annotation><filename>" + b"x" * 20_000 + b"</filename></annotation>", "a text of more than"),
        (b"<annotation>&undefined;</annotation>", "is no XML"),
        (b"<annotation>", "is no XML"),
        (b"", "is no XML"),
        (b"<html></html>", "does not begin with <annotation>"),
        (b'<?xml version="1.0" encoding="martian"?><annotation/>', "unknown encoding"),
        (b"\x89PNG\r\n\x1a\n", "is no XML"),
        (b'<?xml version="1.0" encoding="gbk"?><annotation>\xff\xff</annotation>', "not written in gbk"),
    ],
)
def test_hostile_and_broken_xml_is_refused_and_the_next_file_is_read(content, words):
    files = {"a.png": photograph(10), "b.png": photograph(20), "a.xml": content}

    pictures, report = imported({**files, "b.xml": voc("b.png", thing("dog", (1, 1, 9, 9)))}, format="voc")

    assert [picture.file for picture in pictures] == ["b.png"]
    assert report.refusals[0].file == "a.xml"
    assert words in report.refusals[0].reason


@pytest.mark.parametrize("encoding", ["gb2312", "utf-16", "utf-8-sig", "shift_jis"])
def test_labels_in_the_encodings_of_their_countries_are_read(encoding):
    head = '<?xml version="1.0" encoding="utf-8"?>' if encoding == "utf-8-sig" else ""
    if not head:
        head = f'<?xml version="1.0" encoding="{encoding}"?>'
    content = voc("a.png", thing("犬", (1, 1, 9, 9)), head=head).decode().encode(encoding)

    pictures, report = imported({"a.png": photograph(), "a.xml": content})

    assert (pictures[0].asked_labels, told(report)) == (("犬",), [])


# ILSVRC-DET


def ilsvrc(objects: str, *, filename: str = "ILSVRC2012_val_00000018", **more: bytes):
    return {
        "ILSVRC/Data/DET/val/ILSVRC2012_val_00000018.JPEG": photograph(form="JPEG"),
        "ILSVRC/Data/DET/train/ILSVRC2012_val_00000018.JPEG": photograph(30, form="JPEG"),
        "ILSVRC/Annotations/DET/val/ILSVRC2012_val_00000018.xml": voc(filename, objects),
        "ILSVRC/devkit/data/map_det.txt": b"n02084071 58 dog\nn02802426 13 ball, game ball\n",
        **more,
    }


def test_synset_ids_become_names_and_pixels_count_from_0():
    files = ilsvrc(thing("n02084071", (0, 0, 79, 59)) + thing("n02802426", (10, 10, 19, 19)))

    pictures, report = imported(files)

    assert [picture.file for picture in pictures] == ["ILSVRC/Data/DET/val/ILSVRC2012_val_00000018.JPEG"]
    assert truth(pictures[0]) == [("dog", (0, 0, 80, 60)), ("ball", (10, 10, 20, 20))]
    assert [one.kind for one in report.refusals] == ["not_named"]


def test_an_ilsvrc_box_that_ends_at_the_width_is_cut_there():
    pictures, _ = imported(ilsvrc(thing("n02084071", (0, 0, 80, 60))))

    assert truth(pictures[0]) == [("dog", (0, 0, 80, 60))]


def test_a_synset_that_nobody_names_is_refused_with_what_to_do_and_the_others_are_kept():
    files = ilsvrc(thing("n02084071", (0, 0, 9, 9)) + thing("n01440764", (10, 10, 19, 19)))

    pictures, report = imported(files)

    assert pictures[0].asked_labels == ("dog",)
    assert (report.refusals[0].kind, report.refusals[0].row) == ("class_name", "object 2")
    assert (
        report.refusals[0].hint
        == "Add a file that names it, such as synset_words.txt, or map the class to a label."
    )


def test_the_200_classes_have_names_of_their_own_and_a_file_of_the_source_comes_first():
    files = ilsvrc(thing("n02084071", (0, 0, 9, 9)) + thing("n04591157", (20, 20, 40, 40)))

    by_file, _ = imported({**files, "ILSVRC/devkit/data/map_det.txt": b"n02084071 58 hound\n"})
    del files["ILSVRC/devkit/data/map_det.txt"]
    by_itself, _ = imported(files)

    assert by_file[0].asked_labels == ("hound", "tie")
    assert by_itself[0].asked_labels == ("dog", "tie")


def test_the_shipped_names_are_200_and_all_different():
    names = detection_names()

    assert (len(names), len({name.casefold() for name in names.values()})) == (200, 200)
    assert all(SYNSET_ID.fullmatch(one) for one in names)
    assert [names[one] for one in ("n02691156", "n00007846", "n02391049")] == ["airplane", "person", "zebra"]


def test_a_synset_can_be_mapped_and_other_lists_of_names_are_read():
    files = ilsvrc(
        thing("n01503061", (0, 0, 9, 9)) + thing("n01440764", (20, 20, 40, 40)),
        **{"LOC_synset_mapping.txt": b"n01440764 tench, Tinca tinca\r\n"},
    )

    pictures, _ = imported(files, labels={"n01503061": "bird"})

    assert pictures[0].asked_labels == ("bird", "tench")


def test_pictures_of_the_first_training_set_are_remarked():
    files = {
        "ILSVRC2013_train/n02084071/n02084071_1.JPEG": photograph(form="JPEG"),
        "ILSVRC2013_train/n02084071/n02084071_1.xml": voc("n02084071_1", thing("n02084071", (0, 0, 9, 9))),
        "map_det.txt": b"n02084071 58 dog\n",
    }

    pictures, report = imported(files)

    assert (len(pictures), len(report.remarks)) == (1, 1)
    assert "boxes of one class only" in next(iter(report.remarks))
