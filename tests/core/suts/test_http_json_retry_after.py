"""JSON over HTTP: how long a server asks to be left alone, in every spelling."""

import time

import pytest

from tests.core.suts.json_asking import failure_of
from tests.peers.server import (
    Answer,
    json_answer,
)
from vlmlab.core.suts.failures import retry_after_of


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "250", "retry_after": "7"}, 0.25),
        ({"retry_after": "Sun, 06 Nov 1994 08:49:47 GMT"}, 10.0),
        ({"retry_after": "Sun, 06 Nov 1994 08:49:27 GMT"}, 0.0),
        ({"retry_after": "-3"}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "1e9"}, None),
        ({"retry_after": "٣"}, None),
    ],
)
def test_retry_after_is_read_in_seconds_and_as_a_date(peer, headers, seconds):
    def behaviour(_asked):
        answer = json_answer({}, code=429)
        names = {name.replace("_", "-"): value.encode().decode("latin-1") for name, value in headers.items()}
        return Answer(429, answer.body, names)

    failure = failure_of(peer, behaviour, now=lambda: 784_111_777.0)

    assert failure.retry_after_s == seconds


@pytest.mark.parametrize(
    "said", ["Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 -0000", "Sun, 06 Nov 1994 08:49:37 GMT"]
)
def test_a_date_without_a_zone_is_gmt(said, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert retry_after_of({"retry-after": said}, now_s=784_111_777.0 - 60) == 60.0
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("0", 0.0),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("1e9", None),
        ("", None),
        ("soon", None),
        ("99999999999", None),
        ("999999999", 999_999_999.0),
        ("2.5", 2.5),
        ("٣", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 +9999", None),
    ],
)
def test_a_strange_retry_after_is_a_number_or_nothing(said, seconds):
    assert retry_after_of({"retry-after": said}, now_s=1_800_000_000.0) == seconds
