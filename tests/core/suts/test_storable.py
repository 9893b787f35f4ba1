import pytest

from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.suts.base import SutReply
from vlmlab.core.suts.storable import MOST_CHARACTERS, storable_reply, storable_text


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("B", "B"),
        ("", ""),
        ("B\x00", "B\ufffd"),
        ("\ud83d B", "\ufffd B"),
        ("\udcff", "\ufffd"),
        ("fine \U0001f6a7 é\n\t", "fine \U0001f6a7 é\n\t"),
    ],
)
def test_what_no_database_takes_is_replaced(text, stored):
    assert storable_text(text) == stored


def test_an_ordinary_reply_is_the_very_same():
    reply = SutReply("B", latency_ms=3.0)

    assert storable_reply(reply) is reply


def test_an_error_is_made_storable_too():
    assert storable_reply(SutReply("", call_error="bad \x00 answer")).call_error == "bad \ufffd answer"


def test_a_megabyte_keeps_its_ends_and_says_what_is_missing():
    text = storable_text("a" * 500_000 + "b" * 500_000)

    assert len(text) < MOST_CHARACTERS + 100
    assert text.startswith("a" * 50_000)
    assert text.endswith("b" * 50_000)
    assert "900,000 characters left out" in text


def test_a_megabyte_of_letters_stays_no_answer():
    options = {"A": "go on", "B": "stop"}
    raw = "B " * 500_000

    assert (
        parse_choice(raw, options=options).status == parse_choice(storable_text(raw), options=options).status
    )


def test_an_answer_after_a_megabyte_of_thinking_is_still_read():
    raw = "<think>" + "hm " * 400_000 + "</think>B"

    assert parse_choice(storable_text(raw), options={"A": "go on", "B": "stop"}).letter == "B"


def test_a_name_that_no_column_takes_is_stored_with_a_mark():
    reply = storable_reply(SutReply("A", served_model="m\x00\ud800"))

    assert (reply.text, reply.served_model) == ("A", "m\ufffd\ufffd")
