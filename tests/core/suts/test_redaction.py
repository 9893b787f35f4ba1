"""No spelling of a key survives in a stranger's words."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.suts.redaction import REMOVED, Redactor

KEY = "sk-proj-Ab/9+xY0123456789=="


def url_safe(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


SPELLINGS = {
    "as it is": KEY,
    "in a URL": quote(KEY, safe=""),
    "in base64": base64.b64encode(KEY.encode()).decode(),
    "in base64 of a header": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "in base64 with a name": base64.b64encode(f"user:{KEY}!".encode()).decode(),
    "in base64 for URLs": url_safe(f"x{KEY}"),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_key_is_found_in_every_spelling(spelling):
    redactor = Redactor([KEY])
    head = spelling[4:16]

    shown = redactor.words(f"Wrong key {spelling} given")
    echoed = redactor.answer({"a": [spelling, {spelling: 1}], "n": 3})

    assert head not in shown
    assert REMOVED in shown
    assert head not in json.dumps(echoed)
    assert echoed["n"] == 3


@pytest.mark.parametrize(
    "said",
    [
        "Incorrect API key provided: sk-proj-Ab/9****************89==.",
        "Key sk-proj-Ab/9+xY01\n23456789== is not valid",
        "Key 's' 'k' '-' 'p' 'r' 'o' 'j' '-' 'A' 'b' '/' '9' '+' 'x' 'Y' '0123456789=='",
        "Key …xY0123456789== is not valid",
    ],
)
def test_parts_of_a_key_are_removed_from_errors(said):
    shown = Redactor([KEY]).words(said)

    assert REMOVED in shown
    assert not any(KEY[start : start + 8] in shown for start in range(len(KEY) - 7))


def test_an_answer_that_is_escaped_comes_without_the_key():
    escaped = json.loads('{"content": "' + "".join(f"\\u{ord(sign):04x}" for sign in KEY) + '"}')

    assert Redactor([KEY]).answer(escaped) == {"content": REMOVED}


def test_words_that_only_resemble_a_short_key_stay_in_an_answer():
    assert Redactor(["EMPTY"]).answer({"content": "EMPTY room, token abc"}) == {
        "content": "EMPTY room, token abc"
    }
    assert Redactor(["EMPTY"]).words("EMPTY is no key") == f"{REMOVED} is no key"
    assert Redactor([""]).words("No key was sent") == "No key was sent"


def test_an_answer_that_is_nested_too_deep_is_none():
    body: list = []
    for _ in range(5000):
        body = [body]

    assert Redactor([KEY]).answer(body) is None


def test_the_redactor_itself_shows_nothing():
    assert KEY not in repr(Redactor([KEY]))


@given(
    st.text(alphabet="abcXYZ019-_/+=", min_size=16, max_size=60), st.text(max_size=30), st.text(max_size=30)
)
def test_no_key_survives_between_any_words(key, before, after):
    redactor = Redactor([key])

    assert key not in redactor.words(f"{before} {key} {after}")
    assert key not in str(redactor.answer({"a": f"{before}{key}{after}"})).replace(REMOVED, "")
