"""Each form of writing boxes, or none, by hand: what is taken, what is left in doubt, what is saved."""

import pytest

from tests.core.replies.box_reading import BOX, OTHER, boxes_of, read
from vlmlab.core.replies.boxes import BoxItem

ONE_BOX = {
    # A label or none
    '{"bbox_2d": [100, 200, 300, 400], "label": "cat"}': "cat",
    '{"bbox_2d": [100, 200, 300, 400], "class_name": "cat", "sub_label": "x"}': "cat",
    '{"label": "a \\"quoted\\" [1, 2, 3, 4]", "bbox": [100, 200, 300, 400]}': 'a "quoted" [1, 2, 3, 4]',
    "{'label': \"driver's seat\", 'bbox': [100, 200, 300, 400]}": "driver's seat",
    '{"label": "\\ud83d\\ude00", "bbox": [100, 200, 300, 400]}': "😀",
    '{"label": "\\ud83d", "bbox": [100, 200, 300, 400]}': "\ufffd",
    '{"label": 3, "bbox": [100, 200, 300, 400]}': "3",
    '{"label": ["cat"], "bbox": [100, 200, 300, 400]}': None,
    '{"red rectangle": [100, 200, 300, 400]}': "red rectangle",
    '{"box1": [100, 200, 300, 400]}': None,
    '{"name": "detect", "arguments": {"bbox": [100, 200, 300, 400]}}': None,
    '{"answer": [100, 200, 300, 400]}': None,
    '{"cat": {"bbox_2d": [100, 200, 300, 400]}}': "cat",
    '{"objects": {"bbox_2d": [100, 200, 300, 400]}}': None,
    '{"label": "person", "parts": [{"bbox_2d": [100, 200, 300, 400]}]}': None,
    "{'<OD>': {'bboxes': [[100, 200, 300, 400]], 'labels': ['car']}}": "car",
    "car[[100, 200, 300, 400]]": "car",
    "A man and car[[100, 200, 300, 400]] here": "A man and car",
    "bounding box[[100, 200, 300, 400]]": None,
    "<ref>cat</ref> sits at <box>[[100, 200, 300, 400]]</box>": "cat",
    "<box>[[100, 200, 300, 400]]</box><ref>cat</ref>": "cat",
    "cat<loc_100><loc_200><loc_300><loc_400>": "cat",
    '{"bbox_2d": [100, 200, 300, 400], "label": "<answer>"}': "<answer>",
    "<loc0100><loc0200><loc0300><loc0400><seg001><seg017> cat": "cat",
    # Containers
    '[{"bbox_2d": [100, 200, 300, 400]}]\n```': None,
    '```json\n[{"bbox_2d": [100, 200, 300, 400]}]': None,
    '{"bbox_2d": [100, 200, 300, 400]}]': None,
    '[{"bbox_2d": [100, 200, 300, 400,],},]': None,
    '{"bbox_2d": (100, 200, 300, 400), "occluded": False, "id": None}': None,
    '{"bbox_2d": [0100, 0200, 0300, 0400]}': None,
    '{"a": {"b": [{"c": {"bbox_2d": [100, 200, 300, 400], "label": "cat"}}]}}': "cat",
    "\\boxed{[100, 200, 300, 400]}": None,
    "<|begin_of_box|>100, 200, 300, 400<|end_of_box|>": None,
    "| car | [100, 200, 300, 400] |": None,
    # Forms of four numbers
    '{"bbox_2d": [[100, 200], [300, 400]]}': None,
    '{"bbox_2d": [[[100, 200], [300, 400]]]}': None,
    '{"bbox_2d": [[100, 200, 300, 400]]}': None,
    '{"bbox_2d": ["100", "200", "300", "400"]}': None,
    '{"bbox_2d": "(100,200),(300,400)"}': None,
    '{"bbox_2d": "[100, 200, 300, 400]"}': None,
    '{"bbox": [{"x": 100, "y": 200}, {"x": 300, "y": 400}]}': None,
    '{"bbox": {"xmin": 100, "ymin": 200, "xmax": 300, "ymax": 400}}': None,
    '{"left": 100, "top": 200, "right": 300, "bottom": 400}': None,
    '{"x0": 100, "y0": 200, "x1": 300, "y1": 400}': None,
    '{"left": 100, "top": 200, "width": 200, "height": 200}': None,
    '{"top_left": [100, 200], "bottom_right": [300, 400]}': None,
    '{"coordinates": [100, 200, 300, 400]}': None,
    '{"bbox": [100, 200, 300, 400], "bbox_2d": [100, 200, 300, 400]}': None,
    '{"bbox": [100, 200, 300, 400], "location": "left side", "position": [5, 6]}': None,
    '{"bbox": [1e2, 2.0e2, 300.0, +400]}': None,
    "(100,200),(300,400)": None,
    "((100, 200), (300, 400))": None,
    "(100, 200, 300, 400)": None,
    "<BOX>(100,200),(300,400)</BOX>": None,
    # What is not read
    "The cat [1] is at [100, 200, 300, 400].": None,
    "[12:30] The cat (see 3) is at [100, 200, 300, 400].": None,
    "[Note: I'm sure] {x} [100, 200, 300, 400]": None,
    'First [1, 2, 3, 4], wait, then: {"bbox_2d": [100, 200, 300, 400]}': None,
    '{"image_size": [640, 480, 0, 0], "detections": [{"bbox_2d": [100, 200, 300, 400]}]}': None,
    '{"bbox_2d": [100, 200, 300, 400], "bbox_norm": [0.1, 0.2, 0.3, 0.4]}': None,
    '[]\n[{"bbox_2d": [100, 200, 300, 400]}]': None,
    '[{"bbox_2d": null, "label": "dog"}, {"bbox_2d": [100, 200, 300, 400]}]': None,
    '[{"bbox_2d": [0, 0, 0, 0]}, {"bbox_2d": [100, 200, 300, 400]}]': None,
    "</s><s>[100, 200, 300, 400]</s><pad>": None,
    "[100, 200, 300, 400]<|im_end|>\n<|endoftext|>": None,
}


@pytest.mark.parametrize("text", ONE_BOX)
def test_parse_boxes_reads_one_box(text):
    reading = read(text)

    assert (reading.status, reading.flags) == ("boxes", ())
    assert boxes_of(reading) == [(ONE_BOX[text], BOX)]


TWO_BOXES = {
    '{"label": "a", "bbox": [100,200,300,400]}, {"label": "b", "bbox": [110,200,300,400]}]': ("a", "b"),
    '[{"label": "a", "bbox": [100,200,300,400]} {"label": "b", "bbox": [110,200,300,400]}]': ("a", "b"),
    '{"label": "a", "bbox": [100,200,300,400]}\n{"label": "b", "bbox": [110,200,300,400]}': ("a", "b"),
    '{"label": "a", "bbox": [100,200,300,400], "label": "b", "bbox": [110,200,300,400]}': ("a", "b"),
    '{"bbox": [100,200,300,400], "label": "a", "bbox": [110,200,300,400], "label": "b"}': ("a", "b"),
    '{"label": "a", "bbox": [100,200,300,400], "bbox": [110,200,300,400]}': ("a", "a"),
    '{"bboxes": [[100,200,300,400],[110,200,300,400]], "labels": ["a", "b"]}': ("a", "b"),
    '{"bboxes": [[100,200,300,400],[110,200,300,400]], "labels": ["a"]}': (None, None),
    '{"cats": [[100,200,300,400],[110,200,300,400]], "dogs": []}': ("cats", "cats"),
    '{"label": "a", "boxes": ["100 200 300 400", "110 200 300 400"]}': ("a", "a"),
    '{"label": "a", "bbox": [100,200,300,400], "parts": [{"label": "b", "bbox": [110,200,300,400]}]}': (
        "a",
        "b",
    ),
    "[[100,200,300,400;110,200,300,400]]": (None, None),
    "[100,200,300,400], [110,200,300,400]": (None, None),
    "a[[100,200,300,400]] and b[[110,200,300,400]]": ("a", "b"),
    "<ref>a</ref><box>(100,200),(300,400)</box><box>(110,200),(300,400)</box>": ("a", "a"),
    "<ref>a</ref><box>(100,200),(300,400)</box> and <box>(110,200),(300,400)</box>": ("a", None),
    "<box>[[100,200,300,400]]</box><ref>a</ref><box>[[110,200,300,400]]</box><ref>b</ref>": ("a", "b"),
    "<loc0100><loc0200><loc0300><loc0400> a ; <loc0110><loc0200><loc0300><loc0400> b": ("a", "b"),
    "Cars:\n```json\n[[100,200,300,400]]\n```\nVans:\n```json\n[[110,200,300,400]]\n```": (None, None),
}


@pytest.mark.parametrize("text", TWO_BOXES)
def test_parse_boxes_reads_two_boxes(text):
    reading = read(text)

    first, second = TWO_BOXES[text]
    assert (reading.status, reading.flags) == ("boxes", ())
    assert boxes_of(reading) == [(first, BOX), (second, OTHER)]


EMPTY = {
    **dict.fromkeys(
        [
            "None",
            "none.",
            '"None"',
            "```json\nnull\n```",
            "**N/A**",
            "No objects found.",
            "无。",
            "Not visible",
        ],
        "sentinel",
    ),
    **dict.fromkeys(
        [
            *("[]", "{}", "[[]]", "[{}]", "[null]", "[]\n[]", '{"objects": null}', '{"detections": []}'),
            *('{"bbox_2d": []}', '{"label": "cat", "bbox_2d": "not visible"}', '{"bbox_2d": [0, 0, 0, 0]}'),
            *("[[0, 0, 0, 0]]", "<ref>cat</ref><box></box>", "<box>none</box>", "I see none: []"),
            *('{"found": false}', '{"count": 0, "result": "none"}', "<answer>[]</answer>"),
        ],
        "well_formed_empty",
    ),
}


@pytest.mark.parametrize("text", EMPTY)
def test_parse_boxes_reads_that_there_is_none(text):
    reading = read(text)

    assert (reading.status, reading.reason, reading.items) == ("empty", EMPTY[text], ())


MALFORMED = {
    "": "no_output",
    "</s><pad>": "no_output",
    "<think>[100, 200, 300, 400]</think>": "no_output",
    "<think>one</think>[100, 200, 300, 400]<think>two": "unfinished_thinking",
    "There is no cat in this picture.": "no_structured_output",
    "I cannot help with that.": "no_structured_output",
    "No": "no_structured_output",
    "100, 200, 300, 400": "no_structured_output",
    "x1=100, y1=200, x2=300, y2=400": "no_structured_output",
    '{"error": "cannot"}': "no_structured_output",
    '{"label": "cat"}': "no_structured_output",
    '{"color": [255, 0, 0, 255]}': "no_structured_output",
    "<|begin_of_box|>B<|end_of_box|>": "no_structured_output",
    # Not four finite numbers, or not corners
    '{"bbox_2d": [100, 200]}': "invalid_box",
    '{"bbox_2d": [100, 200, 300]}': "invalid_box",
    '{"bbox_2d": [100, 200, 300, 400, 45]}': "invalid_box",
    '{"bbox_2d": [1, 2, 3, 4, 5, 6, 7, 8]}': "invalid_box",
    '{"bbox_2d": [[100, 200], [300, 200], [300, 400], [100, 400]]}': "invalid_box",
    '{"bbox_2d": [1,024, 200, 300, 400]}': "invalid_box",
    '{"bbox_2d": [null, 200, 300, 400]}': "invalid_box",
    '{"bbox_2d": [true, 200, 300, 400]}': "invalid_box",
    '{"bbox_2d": [NaN, 200, 300, 400]}': "invalid_box",
    '{"bbox_2d": [1e999, 200, 300, 400]}': "invalid_box",
    f'{{"bbox_2d": [{"9" * 5000}, 200, 300, 400]}}': "invalid_box",
    '{"bbox_2d": ["10%", "20%", "30%", "40%"]}': "invalid_box",
    '{"bbox_2d": "x1=100, y1=200, x2=300, y2=400"}': "invalid_box",
    '{"bbox_2d": true}': "invalid_box",
    '{"x": 100, "y": 200, "width": 300, "height": 400}': "invalid_box",
    '{"bbox": {"x": 100, "y": 200, "w": 300, "h": 400}}': "invalid_box",
    '{"cx": 100, "cy": 200, "w": 300, "h": 400}': "invalid_box",
    '{"x1": 100, "y1": 200, "x2": 300}': "invalid_box",
    '{"x1": 1, "y1": 2, "x2": 300, "y2": 2, "x3": 300, "y3": 400, "x4": 1, "y4": 400}': "invalid_box",
    '{"label": "cat", "xywh": [100, 200, 300, 400]}': "invalid_box",
    '{"label": "cat", "rect": [100, 200, 300, 400]}': "invalid_box",
    '{"label": "cat", "weird": [100, 200, 300, 400]}': "invalid_box",
    '{"box_yxyx": [100, 200, 300, 400]}': "invalid_box",
    '{"format": "xywh", "boxes": [[100, 200, 300, 400]]}': "invalid_box",
    '{"bbox": [[100, 300], [200, 400]], "format": "[[xmin, xmax], [ymin, ymax]]"}': "invalid_box",
    "As [x, y, width, height]: [100, 200, 300, 400]": "invalid_box",
    "As [ymin, xmin, ymax, xmax]: [100, 200, 300, 400]": "invalid_box",
    '{"bbox": [100, 200, 300, 400], "box_2d": [110, 200, 300, 400]}': "invalid_box",
    '["cat", 100, 200, 300, 400]': "invalid_box",
    "[100, 200, 300]": "invalid_box",
    "(1,2),(3,4),(5,6),(7,8)": "invalid_box",
    "<box>cat</box>": "invalid_box",
    "<quad>(1,2),(3,4),(5,6),(7,8)</quad>": "invalid_box",
    "cat<loc_1><loc_2><loc_3>": "invalid_box",
    "cat<loc_1><loc_2><loc_3><loc_4><loc_5><loc_6><loc_7><loc_8>": "invalid_box",
    # Numbers of another frame
    '{"bbox_2d": [100, 200, 300, 1101]}': "out_of_range",
    '{"bbox_2d": [-101, 200, 300, 400]}': "out_of_range",
    '{"bbox_2d": [0.1, 0.2, 0.3, 0.4]}': "suspect_scale",
    '{"bbox_2d": [0, 0, 1, 1]}': "suspect_scale",
    '{"bbox_2d": [-50, -50, -10, -10]}': "degenerate",
    '{"bbox_2d": [100, 200, 100, 400]}': "degenerate",
    # Points
    "(100, 200)": "points_only",
    "from (100, 200) to (300, 400)": "points_only",
    "[100, 200]": "points_only",
    '{"x": 100, "y": 200}': "points_only",
    '{"points": [{"x": 0.5, "y": 0.3}]}': "points_only",
    '{"polygon": [[1, 2], [3, 4], [5, 6]]}': "points_only",
    '{"name": "click", "arguments": {"coordinate": [100, 200]}}': "points_only",
    "click(start_box='(197,525)')": "points_only",
    # Damage
    '{"bbox_2d": [100, 200, 300, 400]': "truncated",
    '[{"bbox_2d": [100, 200, 300, 400], "label": "cat}]': "truncated",
    '```json\n[{"bbox_2d": [100, 200, 300, 400]},\n```': "truncated",
    "<box>[[100, 200, 300, 400]]": "truncated",
    "<ref>cat": "truncated",
    "[" * 100: "truncated",
    "[" * 100 + "]" * 100: "structural_error",
    '{"bbox_2d": [100, 200, 300, 400}': "structural_error",
    '{"bbox_2d": [100,, 200, 300, 400]}': "structural_error",
    '{"bbox_2d": [100.200.300.400]}': "structural_error",
    '{"bbox_2d": [100px, 200px, 300px, 400px]}': "structural_error",
    '{"bbox_2d": [\uff11\uff10\uff10, 200, 300, 400]}': "structural_error",
    '{"bbox_2d": [\u2212100, 200, 300, 400]}': "structural_error",
    '"}, {"bbox_2d": [100, 200, 300, 400]}]': "structural_error",
    '{"bbox_2d": [1\u200b00, 200, 300, 400]}': "structural_error",
    "a" * 70_000: "too_long",
}


@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: text[:60])
def test_parse_boxes_takes_nothing_from_a_reply_in_doubt(text):
    reading = read(text)

    assert (reading.status, reading.reason, reading.items) == ("malformed", MALFORMED[text], ())


SALVAGED = {
    "[[100,200,300,400] [110,200,300,400]]": (None, None),
    "[{'label': 'driver's seat', 'bbox': [100,200,300,400]}, {'bbox': [110,200,300,400]}]": (
        "driver's seat",
        None,
    ),
    '[{"label": "5" pipe", "bbox": [100,200,300,400]}, {"bbox": [110,200,300,400]}]': ('5" pipe', None),
    '[{"bbox": [100,200,300,400]}, // or [1,2,3,4]\n {"bbox": [110,200,300,400]}]': (None, None),
    "[{bbox: [100,200,300,400], label: cat}, {bbox: [110,200,300,400]}]": ("cat", None),
    '{"bbox": [100,200,300,400]}, {"bbox": [110,200,300,400]}}': (None, None),
    '[{"bbox": [100,200,300,400]}, {"bbox": [110,200,300,400]}, ...]': (None, None),
    "<box>[[100,200,300,400],[110,200,300,400]</box>": (None, None),
    "[[100,200,300,400],[110,200,300,400]]</box>": (None, None),
    '"bbox": [100,200,300,400], "bbox": [110,200,300,400]}]': (None, None),
}


@pytest.mark.parametrize("text", SALVAGED)
def test_parse_boxes_keeps_complete_boxes_of_a_broken_reply_for_the_lenient_view(text):
    reading = read(text)

    first, second = SALVAGED[text]
    assert (reading.status, reading.reason) == ("malformed", "structural_error")
    assert reading.salvage == reading.lenient_items == (BoxItem(first, BOX), BoxItem(second, OTHER))


CUT = {
    '[{"bbox": [100,200,300,400]}]': "valid_boxes",
    '{"detections": [{"bbox": [100,200,300,400]}]}': "valid_boxes",
    '```json\n[{"bbox": [100,200,300,400]}]\n```\nThe cat sits': "valid_boxes",
    '{"bbox": [100,200,300,400]}': "truncated",
    '{"bbox": [100,200,300,400]}\n{"bbox": [110,200,300,400]}': "truncated",
    "cat[[100,200,300,400]]": "truncated",
    "[100,200,300,400]": "truncated",
    "<ref>cat</ref><box>(100,200),(300,400)</box>": "truncated",
    "cat<loc_100><loc_200><loc_300><loc_400>": "truncated",
    "None": "truncated",
    "[]": "truncated",
    '{"objects": []} Nothing of the kind is': "well_formed_empty",
}


@pytest.mark.parametrize("text", CUT)
def test_parse_boxes_trusts_a_reply_at_the_token_limit_only_where_nothing_can_follow(text):
    assert read(text, finish_reason="length").reason == CUT[text]
