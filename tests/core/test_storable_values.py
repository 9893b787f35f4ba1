"""What every database takes is told from what some refuse."""

import pytest

from vlmlab.core.storable_values import is_storable


@pytest.mark.parametrize(
    ("value", "is_fine"),
    [
        ("plain, é, 日本, 😀, \n\t", True),
        ("a\x00b", False),
        ("a\ud800b", False),
        ("\udfff", False),
        ({"a": [1, 2.5, None, True, {"b": ("c",)}]}, True),
        ({"a": [{"b": ("c\x00",)}]}, False),
        ({"a\ud800": 1}, False),
        (7, True),
    ],
)
def test_text_is_looked_at_wherever_it_stands(value, is_fine):
    assert is_storable(value) is is_fine


def test_depth_costs_no_recursion():
    value: object = "\x00"
    for _ in range(100_000):
        value = [value]

    assert not is_storable(value)
