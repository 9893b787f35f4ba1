"""Numbers of a stranger's JSON."""

import pytest

from vlmlab.core.suts.reply_fields import count, output_count, total


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (0, 0), (12, 12), (12.0, 12), (100_000_000, 100_000_000), (100_000_001, None), (2**53, None),
        (-1, None), (12.5, None), (True, None), ("12", None), (None, None), (float("inf"), None),
        ([1], None),
    ],
)  # fmt: skip
def test_a_count_is_a_whole_number_that_a_column_takes(value, read):
    assert count(value) == read


def test_a_total_is_the_sum_of_what_is_known():
    assert (total(1, None, 2), total(None, None), total(0, None)) == (3, None, 0)


@pytest.mark.parametrize(
    ("sent", "said", "together", "received"),
    [(10, 5, 15, 5), (10, 5, 40, 30), (10, None, 40, 30), (10, 5, None, 5), (None, 5, 40, 5), (10, 5, 3, 5),
     (None, None, None, None), (10, None, 10, 0)],
)  # fmt: skip
def test_what_came_back_includes_thinking_that_stands_in_the_total_only(sent, said, together, received):
    assert output_count(input_tokens=sent, said=said, total_tokens=together) == received
