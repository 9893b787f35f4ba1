"""Secrets at rest: opened only on purpose, and silent everywhere else."""

import copy
import json
import logging

import pytest
from cryptography.fernet import Fernet

from vlmlab.core.errors import ConfigError
from vlmlab.web.log_format import HIDDEN, RedactingFormatter
from vlmlab.web.sealing import Sealed, last_characters
from vlmlab.web.secrets_seen import note_secret, secrets_seen

SECRET = "very/secret+key=0123456789"


def line_of(message: object) -> str:
    record = logging.LogRecord("x", logging.INFO, "", 1, str(message), (), None)
    return RedactingFormatter("{message}", style="{").format(record)


def test_a_sealed_secret_opens_to_what_was_sealed_and_shows_itself_nowhere():
    sealed = Sealed.of(SECRET)

    shown = [str(sealed), repr(sealed), f"{sealed}", f"{sealed!r}", repr([sealed]), sealed.token]

    assert sealed.reveal() == SECRET
    assert [text for text in shown if SECRET in text] == []
    assert [text for text in shown[:-1] if sealed.token in text] == []


def test_a_secret_that_a_process_opens_is_kept_out_of_its_log(monkeypatch):
    sealed = Sealed.of(SECRET)
    monkeypatch.setattr("vlmlab.web.secrets_seen._seen", {})  # another process sealed it

    sealed.reveal()

    assert SECRET not in line_of(f"sent {SECRET}")
    assert HIDDEN in line_of(f"sent {SECRET}")


def test_two_seals_of_one_secret_differ_so_that_equal_keys_cannot_be_told():
    assert Sealed.of(SECRET).token != Sealed.of(SECRET).token


def test_a_damaged_seal_is_refused_with_what_to_do():
    sealed = Sealed.of(SECRET)
    damaged = Sealed(sealed.token[:-4] + "AAAA")

    with pytest.raises(ConfigError) as caught:
        damaged.reveal()

    assert caught.value.field == "VLMLAB_FIELD_KEYS"
    assert SECRET not in str(caught.value)


def test_a_secret_is_opened_by_any_key_and_sealed_again_by_the_first(settings):
    first, second = (Fernet.generate_key().decode() for _ in range(2))
    settings.FIELD_KEYS = [first]
    sealed = Sealed.of(SECRET)

    settings.FIELD_KEYS = [second, first]
    again = sealed.sealed_again()
    newest = (sealed.is_newest, again.is_newest)
    settings.FIELD_KEYS = [second]

    assert (newest, again.reveal()) == ((False, True), SECRET)
    with pytest.raises(ConfigError):
        sealed.reveal()


@pytest.mark.parametrize(
    ("secret", "shown"), [("", ""), ("short", ""), ("elevenchars", ""), ("twelve-chars", "hars")]
)
def test_of_a_short_secret_no_characters_are_shown(secret, shown):
    assert last_characters(secret) == shown


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        repr({"key": SECRET}),
        json.dumps(SECRET),
        "very%2Fsecret%2Bkey%3D0123456789",
        f"Bearer {SECRET}",
    ],
)
def test_once_a_secret_was_open_the_log_leaves_it_out_however_it_is_written(written):
    Sealed.of(SECRET)

    line = line_of(f"sent {written} away")

    assert ("0123456789" in line, HIDDEN in line) == (False, True)


def test_the_secret_half_of_a_pair_is_left_out_on_its_own():
    note_secret("AKIAEXAMPLE12345:abcdefghijklmnop")

    assert line_of("signed with abcdefghijklmnop") == f"signed with {HIDDEN}"


def test_short_words_are_no_secrets_for_the_log():
    before = copy.copy(secrets_seen())

    note_secret("EMPTY")

    assert secrets_seen() == before
