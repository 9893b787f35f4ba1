"""Numbers in addresses: read when they are whole and small enough, else none."""

import pytest

from vlmlab.web.asked import asked_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("17", 17), ("007", 7), (str(2**63 - 1), 2**63 - 1)])
def test_digits_are_a_number(text, number):
    assert asked_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "abc", "-1", "1.5", " 1", "²", "٣", "\x00", "1e3", str(2**63), "9" * 40, "9" * 5000]
)
def test_everything_else_is_none(text):
    assert asked_number(text) is None


def test_the_largest_number_can_be_set():
    assert [asked_number(text, largest=99) for text in ("99", "100")] == [99, None]
