"""Parts of a stranger's JSON: a wrong type reads as absent, and thinking is counted once."""

import pytest

from vlmlab.core.suts.reply_fields import count, member, objects, output_count, text, total


def test_a_path_that_breaks_off_leads_to_nothing():
    body = {"error": {"code": 7}, "list": [1]}

    assert member(body, "error", "code") == 7
    assert [member(body, *path) for path in (("error", "code", "x"), ("list", "0"), ("no",))] == [None] * 3


def test_only_objects_of_a_list_are_taken():
    assert objects([{"a": 1}, "b", None, [{}]]) == [{"a": 1}]
    assert objects({"a": 1}) == []


def test_only_text_is_text():
    assert [text(value) for value in ("a", None, 3, ["a"])] == ["a", "", "", ""]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (12, 12), (12.0, 12), (0, 0), (12.5, None), (-1, None), (True, None), ("12", None), (None, None),
        (float("inf"), None), (100_000_000, 100_000_000), (100_000_001, None),
    ],
)  # fmt: skip
def test_a_count_is_a_whole_number_that_a_call_can_have(value, expected):
    assert count(value) == expected


def test_a_total_leaves_out_what_is_unknown():
    assert (total(1, None, 2), total(None), total()) == (3, None, None)


@pytest.mark.parametrize(
    ("sent", "said", "both", "expected"),
    [
        (300, 5, 305, 5),
        (300, 5, 365, 65),  # 60 tokens of thinking stand in the total only
        (300, 5, None, 5),
        (None, 5, 365, 5),
        (300, None, 365, 65),
        (300, 5, 200, 5),
        (None, None, None, None),
    ],
)
def test_thinking_that_stands_in_the_total_only_is_counted(sent, said, both, expected):
    assert output_count(input_tokens=sent, said=said, total_tokens=both) == expected
