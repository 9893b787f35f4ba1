"""Large JSON files entry by entry: the entries are those of the whole text, however its pieces arrive."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.json_stream import top_entries

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


class Dripping(io.RawIOBase):
    """A stream that gives a few bytes at a time, however many are asked for."""

    def __init__(self, content: bytes, size: int) -> None:
        self._content, self._size, self.n_read = content, size, 0

    def read(self, size: int = -1) -> bytes:
        piece = self._content[self.n_read : self.n_read + min(self._size, size)]
        self.n_read += len(piece)
        return piece


def entries(stream, *, max_bytes=10**9, max_characters=10**7):
    return list(top_entries(stream, max_bytes=max_bytes, max_characters=max_characters))


@given(
    st.dictionaries(st.text(max_size=5), st.lists(values, max_size=4) | values, max_size=4),
    st.integers(1, 40),
    st.sampled_from([None, 0, 2]),
    st.booleans(),
)
def test_entries_are_those_of_the_whole_text_however_it_arrives(content, size, indent, is_ascii):
    text = json.dumps(content, indent=indent, ensure_ascii=is_ascii).encode()
    wanted = []
    for key, value in content.items():
        if isinstance(value, list):
            wanted.append((key, 0, None))
            wanted += [(key, number, one) for number, one in enumerate(value, start=1)]

    assert entries(Dripping(text, size)) == wanted


@given(st.integers(1, 60), st.integers(1, 30))
def test_a_text_that_is_cut_off_is_never_taken_for_a_whole_one(cut, size):
    text = b'{"a": [1, {"b": "x\\"}"}], "c": {"d": [12.5]}, "e": [true]}'

    with pytest.raises(FaultError):
        entries(Dripping(text[:-cut], size))


def test_a_number_at_the_edge_of_a_piece_is_read_to_its_end():
    assert entries(Dripping(b'{"a": [12345, 6.75e2, -8]}', 9))[1:] == [
        ("a", 1, 12345),
        ("a", 2, 675.0),
        ("a", 3, -8),
    ]


def test_only_what_was_asked_for_is_read():
    row = json.dumps({"bbox": [1, 2, 3, 4], "text": "x" * 1000})
    stream = Dripping(('{"images": [' + ",".join([row] * 5000) + "]}").encode(), 1 << 16)

    found = top_entries(stream, max_bytes=10**9, max_characters=10**6)
    for _ in range(3):
        next(found)

    assert stream.n_read <= 1 << 16


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        "{",
        '{"a"}',
        '{"a":}',
        "{1: 2}",
        '{"a": 1,}',
        '{"a": [1,]}',
        '{"a": [,]}',
        "{} {}",
        "nul",
    ],
)
def test_what_is_no_object_is_refused(text):
    with pytest.raises(FaultError):
        entries(io.BytesIO(text.encode()))


def test_bytes_beyond_the_limit_are_refused_before_they_are_parsed():
    with pytest.raises(FaultError, match="holds more than"):
        entries(io.BytesIO(b'{"a": [1, 2, 3]}'), max_bytes=10)
