"""The tolerant scanner of JSON and Python literals: what it accepts, what it calls broken, what it saves."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlmlab.core.replies.box_scan import MAX_DEPTH, Group, scan_value


def _plain(node):
    """Return a scanned value as Python's own; objects as lists of pairs."""
    if not isinstance(node, Group):
        return node
    values = [_plain(value) for value in node.values]
    return list(zip(node.keys, values, strict=True)) if node.is_object else values


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(-1e6, 1e6)
    | st.text(max_size=8).filter(lambda text: "\0" not in text),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=4)
    ),
    max_leaves=12,
)


def _pairs(value):
    if isinstance(value, dict):
        return [(key, _pairs(one)) for key, one in value.items()]
    return [_pairs(one) for one in value] if isinstance(value, list) else value


@given(st.lists(JSON_VALUES, max_size=4), st.sampled_from([None, 2]))
@settings(max_examples=100, deadline=None)
def test_scan_value_reads_json_as_the_json_module_does(value, indent):
    for text in (json.dumps(value, indent=indent), json.dumps(value, ensure_ascii=False)):
        scan = scan_value(text, 0)

        assert (scan.is_broken, scan.is_cut, scan.end) == (False, False, len(text))
        assert _plain(scan.root) == _pairs(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{'a': None, 'b': (1, 2,), 'c': True,}", [("a", None), ("b", [1, 2]), ("c", True)]),
        ("[007, .5, 1., +3, -0.5e1]", [7, 0.5, 1, 3, -5]),
        ('{"a": 1, "a": 2}', [("a", 1), ("a", 2)]),
        ('[{"a": 1} {"b": 2}]', [[("a", 1)], [("b", 2)]]),
        ("[[1, 2; 3, 4]]", [[[1, 2], [3, 4]]]),
        (r"""['it\'s', "a\"b", "\u00e9\n"]""", ["it's", 'a"b', "é\n"]),
    ],
)
def test_scan_value_accepts_what_models_write_instead_of_json(text, expected):
    scan = scan_value(text, 0)

    assert (scan.is_broken, scan.is_cut) == (False, False)
    assert _plain(scan.root) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1 2]", [1, 2]),
        ('{"a" 1}', [("a", 1)]),
        ('{"a": 1 "b": 2}', [("a", 1), ("b", 2)]),
        ("{a: 1}", [("a", 1)]),
        ('{"a": "x "y" z", "b": 1}', [("a", 'x "y" z'), ("b", 1)]),
        ("[1, # two\n 3]", [1, 3]),
        ('{"a": [1, 2}', [("a", [1, 2])]),
    ],
)
def test_scan_value_calls_broken_what_it_had_to_repair(text, expected):
    scan = scan_value(text, 0)

    assert (scan.is_broken, scan.is_cut) == (True, False)
    assert _plain(scan.root) == expected


@pytest.mark.parametrize("text", ["[1, x, 2]", "[1,, 2]", "[1.2.3, 4]", "[1px]", "[1 'a']"])
def test_scan_value_does_not_trust_a_list_with_something_unreadable_in_it(text):
    assert scan_value(text, 0).root.is_whole is False


@pytest.mark.parametrize(("text", "end"), [('[{"a": 1', 8), ('["a', 3), ("[1,\n```\nmore]", 4)])
def test_scan_value_says_where_a_value_was_cut(text, end):
    scan = scan_value(text, 0)

    assert (scan.is_cut, scan.end) == (True, end)


def test_scan_value_stops_below_the_deepest_level():
    allowed, deeper = MAX_DEPTH, MAX_DEPTH + 1

    assert scan_value("[" * allowed + "]" * allowed, 0).is_broken is False
    assert scan_value("[" * deeper + "]" * deeper, 0).is_broken is True
    assert scan_value("[" * deeper, 0).is_cut is True
