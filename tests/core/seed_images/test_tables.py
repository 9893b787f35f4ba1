"""Tables as they are found: byte-order marks, semicolons, quotes, line breaks, both of Udacity's layouts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.seed_images.sources import imported, photograph, told, truth
from vlmlab.core.seed_images.settings import ImportLimits
from vlmlab.core.seed_images.tables import first_line, separator_of

HEAD = "file,label,x_min,y_min,x_max,y_max\n"


def one(table: str | bytes, *, name: str = "boxes.csv", pictures=("a.png", "b.png"), **more):
    files = {picture: photograph(10 * number) for number, picture in enumerate(pictures, start=1)}
    return imported({**files, name: table if isinstance(table, bytes) else table.encode()}, **more)


def test_a_row_is_a_thing_and_rows_of_a_picture_need_not_stand_together():
    pictures, report = one(HEAD + "a.png,dog,1,2,30,40\nb.png,cat,5,5,9,9\na.png,cat,50,2,60,40\n")

    assert [(one.file, truth(one)) for one in pictures] == [
        ("a.png", [("dog", (1, 2, 30, 40)), ("cat", (50, 2, 60, 40))]),
        ("b.png", [("cat", (5, 5, 9, 9))]),
    ]
    assert told(report) == []


@pytest.mark.parametrize(
    "table",
    [
        "\ufeff" + HEAD + "a.png,dog,1.5,2,30,40\n",
        HEAD.replace(",", ";") + "a.png;dog;1,5;2;30;40\n",
        HEAD.replace(",", "\t") + "a.png\tdog\t1.5\t2\t30\t40\r\n",
        '"file","label","x_min","y_min","x_max","y_max"\r\n"a.png","dog","1.5","2","30","40"\r\n',
        "File Name,Class,XMin,YMin,XMax,YMax\n a.png , dog , 1.5 , 2 , 30 , 40 \n\n\n",
        "label,file,x,y,w,h\ndog,a.png,1.5,2,28.5,38\n",
        "filename,width,height,class,xmin,ymin,xmax,ymax\na.png,80,60,dog,1.5,2,30,40\n",
        "image_id,x_min,y_min,width,height,category\na,1.5,2,28.5,38,dog\n",
    ],
)
def test_the_same_box_is_read_from_tables_of_many_tools(table):
    pictures, report = one(table, pictures=("a.png",))

    assert ([truth(one) for one in pictures], told(report)) == ([[("dog", (1.5, 2, 30, 40))]], [])


def test_utf_16_of_spreadsheets_is_read():
    pictures, report = one((HEAD + "a.png,собака,1,2,30,40\n").encode("utf-16"), pictures=("a.png",))

    assert (pictures[0].asked_labels, told(report)) == (("собака",), [])


def test_quotes_separators_and_line_breaks_within_cells_are_part_of_the_label():
    table = HEAD + 'a.png,"a ""big"", old\ndog",1,2,30,40\nb.png,cat,1,2,30\n'

    pictures, report = one(table)

    assert pictures[0].asked_labels == ('a "big", old dog',)
    assert told(report)[0] == ("thing", "box", "boxes.csv", "row 3")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (HEAD + 'a.png,"dog,1,2,30,40\nb.png,cat,1,2,30,40\n', "no table from row 2 on"),
        (HEAD + 'a.png,"dog"s,1,2,30,40\n', "no table from row 2 on"),
        (HEAD.encode() + b"a.png,caf\xe9,1,2,30,40\n", "not written in UTF-8"),
        (HEAD + "a.png,d\0g,1,2,30,40\n", "holds a NUL"),
        ("", "is empty"),
        ("just,some,words\n1,2,3\n", "no columns that describe pictures"),
        (HEAD + "a.png," + "x" * 200_000 + ",1,2,30,40\n", "no table from row 2 on: field larger"),
    ],
)
def test_a_table_that_breaks_off_is_refused_as_a_whole(table, words):
    pictures, report = one(table, format="table")

    assert pictures == []
    assert told(report)[0] == ("file", "file", "boxes.csv", "")
    assert words in report.refusals[0].reason


def test_a_line_without_end_is_refused_before_it_fills_the_memory():
    limits = ImportLimits(max_row_characters=10_000)

    _, report = one(HEAD + "x" * 100_000, format="table", limits=limits)

    assert "a line of more than 10,000 characters" in report.refusals[0].reason


@pytest.mark.parametrize(
    ("row", "kind", "words"),
    [
        ("a.png,dog,1,2,,40", "box", "“” for x_max"),
        ("a.png,dog,,,,", "box", "names “dog” without a box"),
        ("a.png,dog,30,2,1,40", "box", "corners are swapped"),
        ("a.png,dog,1,2,300,40", "outside", "reaches beyond"),
        ("a.png,dog,0.1,0.2,0.3,0.4", "no_area", "less than a pixel"),
        ("a.png,dog,=1+1,2,30,40", "box", "“=1+1” for x_min"),
    ],
)
def test_a_wrong_row_is_refused_with_its_number_and_its_label_is_not_asked_for(row, kind, words):
    pictures, report = one(HEAD + "a.png,cat,1,2,30,40\n" + row + "\n", pictures=("a.png",))

    assert told(report) == [("thing", kind, "boxes.csv", "row 3")]
    assert words in report.refusals[0].reason
    assert (pictures[0].asked_labels, pictures[0].unsure_labels) == (("cat",), ("dog",))


def test_rows_without_a_picture_or_a_label_are_refused():
    pictures, report = one(
        HEAD + "gone.png,dog,1,2,30,40\n,dog,1,2,30,40\na.png,,1,2,30,40\nb.png,cat,1,2,9,9\n"
    )

    assert [picture.file for picture in pictures] == ["b.png"]
    assert told(report) == [
        ("thing", "missing_picture", "boxes.csv", "row 2"),
        ("thing", "row", "boxes.csv", "row 3"),
        ("thing", "label", "boxes.csv", "row 4"),
        ("picture", "hole", "a.png", ""),
    ]


def test_a_row_without_a_box_names_the_kind_of_scene_of_a_picture():
    head = "file,stratum,label,x_min,y_min,x_max,y_max\n"
    table = head + "a.png,street,,,,,\na.png,,dog,1,2,30,40\nb.png,,cat,1,2,9,9\n"

    pictures, report = one(table, stratum="elsewhere")

    assert [(one.file, one.stratum) for one in pictures] == [("a.png", "street"), ("b.png", "elsewhere")]
    assert report.strata == {"street": 1, "elsewhere": 1}


def test_rows_that_disagree_about_their_picture_cost_it():
    table = (
        "file,stratum,label,x_min,y_min,x_max,y_max\na.png,street,dog,1,2,3,4\na.png,kitchen,dog,5,6,7,8\n"
    )

    pictures, report = one(table, pictures=("a.png",))

    assert pictures == []
    assert [(one.scope, one.kind) for one in report.refusals] == [("thing", "stratum"), ("picture", "hole")]


def test_a_size_that_a_row_claims_is_checked():
    table = (
        "file,label,x,y,w,h,image_width,image_height\na.png,dog,1,2,9,9,80,60\nb.png,dog,1,2,9,9,800,600\n"
    )

    pictures, report = one(table)

    assert [picture.file for picture in pictures] == ["a.png"]
    assert told(report) == [("picture", "size", "b.png", "")]


@pytest.mark.parametrize(
    ("width", "height", "words"), [("80", "", "only one side"), ("8.5", "60", "no number of pixels")]
)
def test_a_size_that_is_none_costs_the_picture(width, height, words):
    table = f"file,label,x,y,w,h,image_width,image_height\na.png,dog,1,2,9,9,{width},{height}\n"

    pictures, report = one(table, pictures=("a.png",))

    assert pictures == []
    assert words in report.refusals[0].reason


def test_a_picture_that_two_tables_describe_is_taken_from_the_first():
    files = {"a.png": photograph(), "one.csv": (HEAD + "a.png,dog,1,2,9,9\n").encode()}

    pictures, report = imported({**files, "two.csv": (HEAD + "a.png,cat,1,2,9,9\n").encode()})

    assert pictures[0].asked_labels == ("dog",)
    assert told(report) == [("picture", "named_twice", "two.csv", "row 2")]


def test_things_can_be_left_out_and_a_width_below_0_is_refused():
    table = "file,label,x,y,w,h\na.png,dog,1,2,9,9\na.png,sky,1,2,9,9\na.png,cat,1,2,-9,9\n"

    pictures, report = one(table, pictures=("a.png",), labels={"SKY": "-"})

    assert (pictures[0].asked_labels, pictures[0].unsure_labels) == (("dog",), ("cat",))
    assert told(report) == [("thing", "box", "boxes.csv", "row 4")]
    assert report.remarks == {"A thing of the class “sky” was left out, as the settings say.": 1}


def test_a_chosen_table_is_read_alone_and_one_that_is_not_there_is_said():
    pictures, _ = one(
        HEAD + "a.png,dog,1,2,30,40\n", name="notes/b.txt", annotation_file="notes/b.txt", format="table"
    )

    assert len(pictures) == 1


# Udacity

CROWDAI = (
    "785,533,905,644,1479498371963069978.jpg,Car,http://crowdai.com/images/Wwj-gorOCisE7uxA/visualize\n"
    "89,551,291,680,1479498371963069978.jpg,Truck,http://crowdai.com/images/Wwj-gorOCisE7uxA/visualize\n"
    "268,546,383,546,1479498371963069978.jpg,Pedestrian,http://crowdai.com/images/Wwj-gorOCisE7uxA/visualize\n"
)
TRUE_HEAD = "xmin,ymin,xmax,ymax,Frame,Label,Preview URL\n"
CROSSED_HEAD = "xmin,xmax,ymin,ymax,Frame,Label,Preview URL\n"
FRAME = "object-detection-crowdai/1479498371963069978.jpg"


def udacity(table: str, *, frame: str = FRAME, **more):
    files = {
        frame: photograph(size=(1920, 1200), form="JPEG"),
        f"{frame.rpartition('/')[0]}/labels.csv": table.encode(),
    }
    return imported(files, **more)


@pytest.mark.parametrize("head", [TRUE_HEAD, CROSSED_HEAD])
def test_crowdai_boxes_are_the_same_under_the_true_and_the_crossed_head(head):
    pictures, report = udacity(head + CROWDAI)

    assert truth(pictures[0]) == [("Car", (785, 533, 905, 644)), ("Truck", (89, 551, 291, 680))]
    assert pictures[0].unsure_labels == ("Pedestrian",)
    assert told(report) == [("thing", "no_area", "object-detection-crowdai/labels.csv", "row 4")]
    assert [text[:60] for text in report.remarks] == (
        ["The head of object-detection-crowdai/labels.csv crosses two c"[:60]] if head == CROSSED_HEAD else []
    )


def test_a_crossed_head_is_decided_by_all_rows_where_nothing_else_tells():
    rows = "785,533,905,644,1479498371963069978.jpg,Car\n89,551,291,680,1479498371963069978.jpg,Truck\n"
    crossed = CROSSED_HEAD.replace(",Preview URL", "")

    as_ordered, _ = udacity(crossed + rows)
    as_told, _ = udacity(crossed + rows.splitlines()[1])

    assert truth(as_ordered[0]) == [("Car", (785, 533, 905, 644)), ("Truck", (89, 551, 291, 680))]
    assert truth(as_told[0]) == [("Truck", (89, 291, 551, 680))]


def test_a_crossed_head_that_tells_the_truth_is_believed():
    table = "frame,xmin,xmax,ymin,ymax,class_id\n1479498371963069978.jpg,237,251,143,155,1\n"

    pictures, report = udacity(table, labels={"1": "car"})

    assert truth(pictures[0]) == [("car", (237, 143, 251, 155))]
    assert report.remarks == {}


AUTTI = (
    '1478019952686311006.jpg 950 574 1004 620 0 "car"\n'
    '1478019952686311006.jpg 1748 482 1818 744 1 "pedestrian"\n'
    '1478019952686311006.jpg 888 498 910 532 0 "trafficLight" "Red"\n'
    '1478019952686311006.jpg 10 10 10 30 0 "biker"\n'
)


@pytest.mark.parametrize("separator", [" ", ","])
def test_autti_rows_have_no_head_blanks_between_and_a_colour_for_traffic_lights(separator):
    frame = "object-dataset/1478019952686311006.jpg"

    pictures, report = udacity(AUTTI.replace(" ", separator), frame=frame)

    assert truth(pictures[0]) == [
        ("car", (950, 574, 1004, 620)),
        ("pedestrian", (1748, 482, 1818, 744)),
        ("traffic light", (888, 498, 910, 532)),
    ]
    assert [one.flags for one in pictures[0].things] == [(), ("occluded",), ("red",)]
    assert told(report) == [("thing", "no_area", "object-dataset/labels.csv", "row 4")]


def test_both_layouts_in_one_source_are_read_and_car_is_one_label():
    files = {
        FRAME: photograph(size=(1920, 1200), form="JPEG"),
        "object-detection-crowdai/labels.csv": (CROSSED_HEAD + CROWDAI).encode(),
        "object-dataset/1478019952686311006.jpg": photograph(20, size=(1920, 1200), form="JPEG"),
        "object-dataset/labels.csv": AUTTI.encode(),
    }

    pictures, _ = imported(files)

    assert [picture.file for picture in pictures] == ["object-dataset/1478019952686311006.jpg", FRAME]
    assert [picture.things[0].label for picture in pictures] == ["car", "car"]


def test_an_autti_row_that_is_cut_off_refuses_the_table():
    _, report = udacity(
        AUTTI + "1478019952686311006.jpg 950 574\n", frame="object-dataset/1478019952686311006.jpg"
    )

    assert told(report)[0] == ("file", "file", "object-dataset/labels.csv", "")
    assert "only 3 cells in row 5" in report.refusals[0].reason


# The bytes


@pytest.mark.parametrize(
    ("line", "separator"),
    [("a,b,c", ","), ("a;b;c", ";"), ("a\tb", "\t"), ('"a,b";c', ";"), ("a", ","), ("a|b|c", "|")],
)
def test_the_separator_is_what_stands_most_often_outside_of_quotes(line, separator):
    assert separator_of(line) == separator


def test_the_first_line_is_found_behind_empty_ones_and_in_utf_16():
    assert first_line(b"\n\r\n a,b\nc") == " a,b"
    assert first_line("a;b\n".encode("utf-16")) == "a;b"


@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(0, 30), st.integers(2, 40), st.integers(2, 30)),
        min_size=1,
        max_size=6,
        unique=True,
    ),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_boxes_come_back_from_any_separator_and_line_end(boxes, separator, line_end):
    head = HEAD.strip().replace(",", separator)
    rows = [
        separator.join(["a.png", f"thing {n}", *map(str, (x, y, x + w, y + h))])
        for n, (x, y, w, h) in enumerate(boxes)
    ]

    pictures, report = one(line_end.join([head, *rows]), pictures=("a.png",))

    assert told(report) == []
    assert [box for _, box in truth(pictures[0])] == [(x, y, x + w, y + h) for x, y, w, h in boxes]
