"""Readings of replies that should hold boxes: the collected cases, and each rule by hand."""

import json
from pathlib import Path

import pytest

from tests.core.replies.box_reading import BOX, boxes_of, read
from vlmlab.core.replies.boxes import BoxItem, parse_boxes

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases" / "reply_cases.jsonl").read_text("utf-8").splitlines()
]
SETTLED = [case for case in CASES if not case["contested"]]
CONTESTED = [case for case in CASES if case["contested"]]


def _read_case(case):
    return parse_boxes(
        case["raw"],
        convention=case["convention"],
        image_size=tuple(case["image_size"]),
        seen_size=case["seen_size"] and tuple(case["seen_size"]),
        finish_reason=case["finish_reason"],
    )


def _agrees(items, expected, case):
    assert [item.box for item in items] == [pytest.approx(box["box"], abs=case["tol_px"]) for box in expected]
    if case["check_labels"]:
        assert [item.label for item in items] == [box["label"] for box in expected]


@pytest.mark.parametrize("case", SETTLED, ids=[case["id"] for case in SETTLED])
def test_parse_boxes_reads_the_collected_case(case):
    reading = _read_case(case)

    status = case["expected"] if isinstance(case["expected"], str) else "boxes"
    assert (reading.status, reading.reason) == (status, case["expected_reason"])
    assert list(reading.flags) == case["expected_flags"]
    _agrees(reading.items, case["expected"] if status == "boxes" else [], case)
    _agrees(reading.salvage, case["salvage"] or [], case)


def test_parse_boxes_reads_contested_cases_as_was_decided_here():
    readings = {case["id"]: _read_case(case) for case in CONTESTED}

    assert {name: (reading.status, reading.reason) for name, reading in readings.items()} == {
        "qwen3-vl-20": ("malformed", "no_structured_output"),
        "glm-v-05": ("boxes", "valid_boxes"),
    }


@pytest.mark.parametrize("finish_reason", ["refusal", "safety"])
def test_parse_boxes_does_not_count_a_reply_that_the_provider_stopped(finish_reason):
    reading = read("[[100, 200, 300, 400]]", finish_reason=finish_reason)

    assert (reading.status, reading.reason) == ("malformed", finish_reason)
    assert reading.salvage == (BoxItem(None, BOX),)


def test_parse_boxes_does_not_choose_between_a_draft_and_its_correction():
    reading = read("[[100, 200, 300, 400]]\nWait, that is wrong:\n[[110, 200, 300, 400]]")

    assert (reading.status, reading.reason) == ("malformed", "revised_answer")


def test_parse_boxes_counts_a_repeated_box_once():
    reading = read('[{"bbox": [100,200,300,400], "label": "a"}, {"bbox": [100,200,300,400], "label": "a"}]')

    assert (boxes_of(reading), reading.flags) == ([("a", BOX)], ("duplicates",))


def test_parse_boxes_flags_what_it_could_not_use_beside_what_it_could():
    reading = read('[{"bbox": [100, 200, 300, 400]}, {"bbox": [100, 200, 300]}]')

    assert (boxes_of(reading), reading.flags) == ([(None, BOX)], ("partial",))


def test_parse_boxes_sorts_corners_and_clips_edges_and_says_so():
    reading = read("[[300, 400, 100, 200], [900, 900, 1050, 1100], [-100, 10, 20, 30]]")

    assert [item.flags for item in reading.items] == [("sorted",), ("clipped",), ("clipped",)]
    assert [item.box for item in reading.items] == [BOX, (900, 900, 1000, 1000), (0, 10, 20, 30)]
    assert reading.flags == ("sorted", "clipped")


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("[100, 200, 300, 400]", (200, 100, 400, 300)),
        ("(100,200),(300,400)", (200, 100, 400, 300)),
        ('{"bbox_2d": [100, 200, 300, 400]}', (200, 100, 400, 300)),
        ('{"top_left": [100, 200], "bottom_right": [300, 400]}', (200, 100, 400, 300)),
        ('{"x1": 100, "y1": 200, "x2": 300, "y2": 400}', BOX),
        ('{"top_left": {"x": 100, "y": 200}, "bottom_right": {"x": 300, "y": 400}}', BOX),
        ("As [ymin, xmin, ymax, xmax]: [100, 200, 300, 400]", (200, 100, 400, 300)),
    ],
)
def test_the_declared_order_holds_for_numbers_without_names(text, box):
    assert [item.box for item in read(text, order="yxyx").items] == [box]


def test_parse_boxes_maps_pixels_of_the_seen_picture_to_the_original():
    convention = {"space": "seen_pixels", "scale": None, "order": "xyxy"}

    reading = parse_boxes(
        "[10, 20, 100, 200]", convention=convention, image_size=(800, 600), seen_size=(400, 200)
    )
    without = parse_boxes("[10, 20, 100, 200]", convention=convention, image_size=(800, 600))

    assert reading.items[0].box == (20, 60, 200, 600)
    assert without.items[0].box == (10, 20, 100, 200)


def test_parse_boxes_takes_a_stored_convention_in_its_shortest_form():
    pixels = parse_boxes(
        "[10, 20, 100, 200]",
        convention={"space": "seen_pixels", "syntax": "of another version"},
        image_size=[800, 600],
        seen_size=[400, 300],
    )
    shares = parse_boxes("[100, 200, 300, 400]", convention={"order": "yxyx"}, image_size=(1000, 1000))

    assert pixels.items[0].box == (20, 40, 200, 400)
    assert shares.items[0].box == (200, 100, 400, 300)


def test_parse_boxes_adds_half_a_bin_before_it_scales():
    reading = parse_boxes(
        "cat<loc_0><loc_99><loc_499><loc_999>",
        convention={"space": "relative", "scale": 1000, "order": "xyxy", "bin_offset": 0.5},
        image_size=(2000, 1000),
    )

    assert reading.items[0].box == (1.0, 99.5, 999.0, 999.5)


@pytest.mark.parametrize(("name", "sizes"), [("image_size", {"image_size": (0, 5)}), ("seen_size", {})])
def test_parse_boxes_refuses_sizes_that_are_none(name, sizes):
    with pytest.raises(ValueError, match=f"{name} must be a positive width and height"):
        parse_boxes(
            "[]",
            convention={"space": "relative", "scale": 1},
            **({"image_size": (5, 5), "seen_size": (-1, 5)} | sizes),
        )


JSON = '[{"bbox_2d": [100, 200, 300, 400]}]'
LATER_TURN = f"\n<|im_start|>user\nAnd dogs?<|im_end|>\n<|im_start|>assistant\n{JSON}"


@pytest.mark.parametrize(
    "text",
    [
        f"[]<|im_end|>{LATER_TURN}",
        f"None<eos>{JSON}",
        f"None</s> {JSON}",
        f"[]{LATER_TURN}",
        f"[]<end_of_turn>\n<start_of_turn>user\n{JSON}",
        f"<|im_start|>assistant\nNone<|im_end|>{JSON}",
        f"<|channel|>analysis<|message|>{JSON}<|end|><|start|>assistant<|channel|>final<|message|>None",
        f"<|channel>thought\n{JSON}<channel|>None<turn|>",
    ],
)
def test_parse_boxes_reads_no_turn_that_the_system_invented_and_no_thinking(text):
    assert read(text).status == "empty"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("For example, a box is written as [0, 0, 10, 10]. Nothing is there.", "invalid_box"),
        ("None. For example, a box would look like [0, 0, 10, 10].", "invalid_box"),
        ("There is no car. The region [100, 200, 300, 400] holds a truck.", "contradiction"),
        ("None. [100, 200, 300, 400]", "contradiction"),
        ('{"found": false, "bbox": [100, 200, 300, 400]}', "invalid_box"),
        ('[{"label": "car", "exists": "no", "bbox": [100, 200, 300, 400]}]', "invalid_box"),
        ('{"found": true, "bbox": [100, 200, 300, 400]}', "valid_boxes"),
        ('{"found": false, "bbox": [0, 0, 0, 0]}', "well_formed_empty"),
        ("Draft: [[1, 2, 30, 40]]\nFinal answer: [[100, 200, 300, 400]]", "revised_answer"),
        (f"[[1, 2, 30, 40]]\nOn reflection:\n```json\n{JSON}\n```", "valid_boxes"),
        (f'{{"bbox": [1, 2, 30, 40]}}\nOn reflection:\n```json\n{JSON}\n```', "revised_answer"),
        ("<|channel|>analysis<|message|>[100, 200, 300, 400]", "unfinished_thinking"),
    ],
)
def test_parse_boxes_takes_no_example_draft_or_denied_box_for_the_answer(text, reason):
    assert read(text).reason == reason


def test_parse_boxes_reads_a_box_that_the_final_answer_repeats():
    reading = read("The cat is at [100, 200, 300, 400]. Final answer: [100, 200, 300, 400]")

    assert boxes_of(reading) == [(None, BOX)]


def test_parse_boxes_leaves_an_example_out_beside_the_answer_and_says_so():
    reading = read('For example: {"bbox": [0, 0, 10, 10]}\nHere it is: {"bbox": [100, 200, 300, 400]}')

    assert (boxes_of(reading), reading.flags) == ([(None, BOX)], ("partial",))


def test_parse_boxes_reads_what_follows_the_region_that_a_tool_looked_at():
    zoom = '<tool_call>{"name": "zoom", "arguments": {"bbox_2d": [1, 2, 30, 40]}}</tool_call>'

    assert boxes_of(read(f"{zoom}\n{JSON}")) == [(None, BOX)]


def test_parse_boxes_takes_a_person_for_a_person_and_not_for_a_turn():
    assert [item.box for item in read("Car: [100, 200, 300, 400]\nHuman: [110, 200, 300, 400]").items] == [
        BOX,
        (110.0, 200.0, 300.0, 400.0),
    ]
