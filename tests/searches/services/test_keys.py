"""Stored keys: sealed again under a new key of the environment, or left as they are."""

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.db import connection

from searches.models import ApiKey
from searches.services.keys import create_key, seal_again
from vlmlab.core.errors import ConfigError
from vlmlab.web.sealing import Sealed

pytestmark = pytest.mark.django_db
SECRET = "provider-secret-0123456789"
OLD, NEW, FOREIGN = (Fernet.generate_key().decode() for _ in range(3))


def tokens() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM searches_apikey ORDER BY id")
        return [row[0] for row in cursor.fetchall()]


def test_the_sealing_key_is_changed_without_losing_a_secret(settings, capsys):
    settings.FIELD_KEYS = [OLD]
    create_key(name="One", kind="gemini", secret=SECRET, by=None)
    create_key(name="Two", kind="anthropic", secret=SECRET[::-1], by=None)
    before = tokens()

    settings.FIELD_KEYS = [NEW, OLD]
    create_key(name="Three", kind="gemini", secret=SECRET.upper(), by=None)
    call_command("seal_keys_again")
    call_command("seal_keys_again")
    settings.FIELD_KEYS = [NEW]

    assert capsys.readouterr().out.splitlines() == [
        "2 keys sealed again with the newest key.",
        "Every stored key is sealed with the newest key already.",
    ]
    assert [key.secret.reveal() for key in ApiKey.objects.order_by("id")] == [
        SECRET,
        SECRET[::-1],
        SECRET.upper(),
    ]
    assert len({*before, *tokens()}) == 5


def test_a_key_that_nothing_opens_stops_the_change_and_nothing_is_changed(settings):
    settings.FIELD_KEYS = [OLD]
    create_key(name="One", kind="gemini", secret=SECRET, by=None)
    settings.FIELD_KEYS = [FOREIGN]
    create_key(name="Two", kind="gemini", secret=SECRET, by=None)
    before = tokens()

    settings.FIELD_KEYS = [NEW, OLD]
    with pytest.raises(CommandError) as caught:
        call_command("seal_keys_again")

    assert tokens() == before
    assert "VLMLAB_FIELD_KEYS" in str(caught.value)
    assert str(caught.value).endswith("Nothing was changed.")


def test_a_key_that_is_none_is_told_as_such(settings):
    settings.FIELD_KEYS = ["not a key"]

    with pytest.raises(ConfigError, match="holds something that is not a key"):
        create_key(name="One", kind="gemini", secret=SECRET, by=None)


def test_sealing_again_counts_nothing_where_nothing_is_stored():
    assert seal_again() == 0


def test_the_column_refuses_a_secret_that_is_not_sealed():
    with pytest.raises(TypeError, match="only a Sealed"):
        ApiKey.objects.create(name="x", kind="gemini", secret=SECRET)


def test_the_column_gives_back_what_was_sealed():
    ApiKey.objects.create(name="x", kind="gemini", secret=Sealed.of(SECRET))

    assert ApiKey.objects.get().secret.reveal() == SECRET
