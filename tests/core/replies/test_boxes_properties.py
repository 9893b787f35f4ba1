"""Properties of the box reader: round trips in every syntax, invariance, and any text at all."""

import json
from itertools import permutations
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlmlab.core.conventions import BoxConvention
from vlmlab.core.replies.boxes import parse_boxes
from vlmlab.core.replies.calibration import CANDIDATE_CONVENTIONS

SIZE = (800, 600)
SEEN = (784, 588)
LABELS = st.text(st.characters(categories=("L", "N", "Zs", "P", "S")), min_size=1, max_size=12).filter(
    lambda text: text.strip() == text and "<" not in text
)
PLAIN_LABELS = st.sampled_from(["cat", "red car", "猫", "traffic light", "dog", "No 7"])
SHARES = st.tuples(st.integers(2, 40), st.integers(2, 40), st.integers(50, 98), st.integers(50, 98)).map(
    lambda box: tuple(value / 100 for value in box)
)


def _numbers(share, convention):
    x_scale, y_scale = (convention.scale,) * 2 if convention.scale else SEEN
    digits = 3 if convention.scale in (1, 100) else 0
    x0, y0, x1, y1 = (
        round(value * scale - convention.bin_offset, digits)
        for value, scale in zip(share, (x_scale, y_scale) * 2, strict=True)
    )
    numbers = (y0, x0, y1, x1) if convention.order == "yxyx" else (x0, y0, x1, y1)
    return [int(number) if not digits else number for number in numbers]


def _pairs(n):
    return f"({n[0]},{n[1]}),({n[2]},{n[3]})"


def _named(n, label, convention):
    x0, y0, x1, y1 = (n[1], n[0], n[3], n[2]) if convention.order == "yxyx" else n
    return {"label": label, "x_min": x0, "y_min": y0, "x_max": x1, "y_max": y1}


def _render(syntax, items, convention):
    """Return a reply that holds (label, numbers) pairs in one of the known syntaxes."""
    join = {
        "json": lambda: json.dumps([{"bbox_2d": n, "label": label} for label, n in items]),
        "json_named": lambda: json.dumps([_named(n, label, convention) for label, n in items]),
        "qwen_markup": lambda: "".join(
            f"<|object_ref_start|>{label}<|object_ref_end|><|box_start|>{_pairs(n)}<|box_end|>"
            for label, n in items
        ),
        "ref_box": lambda: ", ".join(f"<ref>{label}</ref><box>[{n}]</box>" for label, n in items),
        "ref_det": lambda: "".join(f"<|ref|>{label}<|/ref|><|det|>[{n}]<|/det|>" for label, n in items),
        "begin_of_box": lambda: (
            "<|begin_of_box|>"
            + json.dumps([{"label": label, "bbox_2d": n} for label, n in items])
            + "<|end_of_box|>"
        ),
        "loc": lambda: "".join(f"{label}{''.join(f'<loc_{v}>' for v in n)}" for label, n in items),
        "loc4": lambda: " ; ".join(f"{''.join(f'<loc{v:04d}>' for v in n)} {label}" for label, n in items),
        "double_bracket": lambda: ". ".join(f"{label}[{n}]" for label, n in items),
        "bbox_tag": lambda: json.dumps(
            [{"category": label, "bbox": f"<bbox>{' '.join(map(str, n))}</bbox>"} for label, n in items]
        ),
        "list": lambda: json.dumps([n for _, n in items]),
    }
    return join[syntax]()


SYNTAXES = BoxConvention.model_fields["syntax"].annotation.__args__


def _expected(share):
    return tuple(value * side for value, side in zip(share, SIZE * 2, strict=True))


def _tolerance(convention):
    step = 0.5 if convention.scale not in (1, 100) else 0.0005
    return max(SIZE) * step / (convention.scale or min(SEEN)) + 1e-6


def _parse(text, convention=CANDIDATE_CONVENTIONS["0-1000 xyxy"], **other):
    return parse_boxes(text, convention=convention, image_size=SIZE, seen_size=SEEN, **other)


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(
    st.sampled_from(list(CANDIDATE_CONVENTIONS)),
    st.lists(st.tuples(PLAIN_LABELS, SHARES), min_size=1, max_size=4, unique_by=lambda item: item[1]),
)
@settings(max_examples=15, deadline=None)
def test_parse_boxes_reads_back_what_was_written(syntax, name, items):
    convention = CANDIDATE_CONVENTIONS[name]
    is_token = syntax in ("loc", "loc4")
    if is_token and convention.scale in (1, 100):
        convention = convention.model_copy(update={"scale": 500.0})
    written = [(label, _numbers(share, convention)) for label, share in items]

    reading = _parse(_render(syntax, written, convention), convention)

    assert reading.status == "boxes"
    assert [item.box for item in reading.items] == [
        pytest.approx(_expected(share), abs=_tolerance(convention)) for _, share in items
    ]
    if syntax != "list":
        assert [item.label for item in reading.items] == [label for label, _ in items]


@given(st.lists(st.tuples(LABELS, SHARES), min_size=1, max_size=5, unique_by=lambda item: item[1]))
@settings(max_examples=60, deadline=None)
def test_parse_boxes_agrees_with_a_plain_json_reader_on_plain_json(items):
    convention = CANDIDATE_CONVENTIONS["0-1000 xyxy"]
    text = _render("json", [(label, _numbers(share, convention)) for label, share in items], convention)

    reading = _parse(text, convention)

    slow = [(one["label"], one["bbox_2d"]) for one in json.loads(text)]
    assert [(item.label, item.box) for item in reading.items] == [
        (label, pytest.approx(tuple(v / 1000 * side for v, side in zip(n, SIZE * 2, strict=True))))
        for label, n in slow
    ]


WRAPPINGS = {
    "fence": "```json\n{}\n```",
    "closing fence": "{}\n```",
    "prose": "Sure, here it is:\n{}\nTell me if you need more.",
    "thinking": "<think>Maybe [1, 2, 3, 4] or [5, 6, 7, 8]?</think>\n{}",
    "closing thinking tag": "It is near [1, 2, 3, 4].</think>{}",
    "answer": "<answer>{}</answer>",
    "tokens": "<s>{}<|im_end|><|endoftext|>",
    "byte order mark": "\ufeff{}",
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("syntax", SYNTAXES)
def test_parse_boxes_reads_the_same_inside_of_a_wrapping(wrapping, syntax):
    convention = CANDIDATE_CONVENTIONS["0-1000 xyxy"]
    bare = _render(syntax, [("cat", [100, 200, 300, 400]), ("dog", [110, 210, 310, 410])], convention)

    reading = _parse(WRAPPINGS[wrapping].replace("{}", bare))

    assert reading == _parse(bare)
    assert len(reading.items) == 2


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_parse_boxes_keeps_the_order_of_items(syntax):
    convention = CANDIDATE_CONVENTIONS["0-1000 xyxy"]
    items = [("cat", [100, 200, 300, 400]), ("dog", [110, 210, 310, 410]), ("cow", [120, 220, 320, 420])]
    straight = _parse(_render(syntax, items, convention)).items

    for order in permutations(range(3)):
        reading = _parse(_render(syntax, [items[index] for index in order], convention))

        assert reading.items == tuple(straight[index] for index in order)


@given(SHARES, st.integers(50, 4000), st.integers(50, 4000))
@settings(max_examples=50, deadline=None)
def test_relative_boxes_cover_the_same_share_of_every_picture(share, width, height):
    text = json.dumps({"bbox_2d": [round(value * 1000) for value in share]})

    reading = parse_boxes(text, convention=BoxConvention(), image_size=(width, height))

    shares = [value / side for value, side in zip(reading.items[0].box, (width, height) * 2, strict=True)]
    assert shares == pytest.approx(share)


PIECES = r"""
[ ] { } ( ) , : ; " ' ` ``` ```json \ \" < > <box> </box> <ref> </ref> <|box_start|> <|box_end|>
<|det|> <|/det|> <|begin_of_box|> <|end_of_box|> <loc_12> <loc0012> <loc_1 <point <seg001> <think>
</think> <answer> </answer> </s> <|im_end|> "bbox_2d" "label" "box" "x1" "y1" "x2" "y2" "width"
"points" "format" "xywh" null true NaN None nan Infinity 1 0 -1 0.5 007 1e9
99999999999999999999999999 [1,2,3,4] [100,200,300,400] [0,0,0,0] (1,2) (100,200),(300,400)
{"bbox_2d":[100,200,300,400]} {"bbox_2d":[100,200,300,400],"label":"a"} cat wait // # \boxed{
x=1,y=2 no none None. 无
"""
_FRAGMENTS = st.sampled_from([*PIECES.split(), "\n", " ", "\ufeff", "\u200b", "\0", "\ud800", "é"])
MIXTURES = st.lists(_FRAGMENTS, max_size=40).map("".join) | st.lists(_FRAGMENTS, max_size=40).map(" ".join)
FINISH = st.sampled_from(["stop", "length", "refusal", "safety", "other"])
CONVENTIONS = st.sampled_from(list(CANDIDATE_CONVENTIONS.values()))


def _check(reading):
    width, height = SIZE
    assert (reading.status == "boxes") == bool(reading.items)
    assert not reading.salvage or reading.status == "malformed"
    for item in (*reading.items, *reading.salvage):
        x0, y0, x1, y1 = item.box
        assert 0 <= x0 < x1 <= width
        assert 0 <= y0 < y1 <= height
        assert item.label is None or (item.label.strip() and "\0" not in item.label)
    assert len(set(reading.items)) == len(reading.items)


@given(MIXTURES, CONVENTIONS, FINISH)
@settings(max_examples=150, deadline=None)
def test_parse_boxes_gives_a_sound_reading_of_fragments_in_any_order(text, convention, finish_reason):
    reading = _parse(text, convention, finish_reason=finish_reason)

    _check(reading)
    assert reading == _parse(text, convention, finish_reason=finish_reason)


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_parse_boxes_gives_a_sound_reading_of_any_text(text):
    _check(_parse(text))


@given(
    st.lists(st.tuples(PLAIN_LABELS, SHARES), min_size=1, max_size=4, unique_by=lambda item: item[1]),
    st.sampled_from(SYNTAXES),
    st.data(),
)
@settings(max_examples=100, deadline=None)
def test_a_reply_that_was_cut_never_shows_a_box_that_was_not_there(items, syntax, data):
    convention = CANDIDATE_CONVENTIONS["0-1000 xyxy"]
    text = _render(syntax, [(label, _numbers(share, convention)) for label, share in items], convention)
    whole = {item.box for item in _parse(text).items}
    cut = text[: data.draw(st.integers(0, len(text) - 1))]

    reading = _parse(cut, finish_reason="length")

    assert {item.box for item in (*reading.items, *reading.salvage)} <= whole
    assert reading.status == "malformed"


@given(
    st.lists(st.tuples(PLAIN_LABELS, SHARES), min_size=1, max_size=3, unique_by=lambda item: item[1]),
    st.sampled_from(SYNTAXES),
    st.sampled_from(list(" \n,:;[](){}<>|\"'`/\\x")),
    st.sampled_from(["insert", "delete", "replace"]),
    st.data(),
)
@settings(max_examples=150, deadline=None)
def test_one_wrong_character_never_makes_another_box(items, syntax, character, change, data):
    convention = CANDIDATE_CONVENTIONS["0-1000 xyxy"]
    text = _render(syntax, [(label, _numbers(share, convention)) for label, share in items], convention)
    whole = {item.box for item in _parse(text).items}
    place = data.draw(st.sampled_from([at for at, one in enumerate(text) if not one.isdigit()]))
    rest = text[place:] if change == "insert" else text[place + 1 :]

    reading = _parse(text[:place] + ("" if change == "delete" else character) + rest)

    assert {item.box for item in (*reading.items, *reading.salvage)} <= whole


HOSTILE = (
    *(
        "[",
        "{",
        "(",
        '"',
        "'",
        "```",
        "<box>",
        "<ref>",
        "</think>",
        "<answer>",
        "<|",
        "\\",
        "[1,",
        '{"a":',
        "[1 ```",
    ),
    *(
        "[1,2,3,4] ",
        "(1,2),",
        '{"bbox_2d":[1,2,3,4]},',
        "<box>[",
        "<loc_1> x ",
        '["a"b "',
        '{"a":"b" ',
        "9",
        "[1px",
    ),
    *("\\boxed{", "[1;", "<ref>a</ref><box>", "//", "[//\n", "x=1,", " ", "<point "),
)


def _seconds(text):
    start = process_time()
    _parse(text)
    return process_time() - start


@pytest.mark.parametrize("unit", HOSTILE)
def test_parse_boxes_takes_time_in_proportion_to_the_text(unit):
    texts = [(unit * size)[:size] for size in (2_500, 40_000)]

    short, long = (min(_seconds(text) for _ in range(3)) for text in texts)

    # Sixteen times the text; a reader that looks back would need 256 times as long.
    assert long < 64 * short + 0.2


@pytest.mark.parametrize("unit", HOSTILE)
def test_parse_boxes_gives_up_on_a_reply_of_a_million_characters(unit):
    reading = _parse((unit * 1_000_000)[:1_000_000])

    assert reading.status == "malformed"
    assert reading.items == reading.salvage == ()
