"""A stored key goes to the server that it was entered for and to no other, whoever changes what."""

import os
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command

from searches.enums import Queue
from searches.models import ApiKey, AuditEntry, SutRecord
from searches.services.keys import create_key, replace_key
from searches.services.suts import edit_sut, load_sut, register_sut, unload_sut
from tests.doubles import paint_png
from tests.factories import make_user
from tests.peers.openai_chat import openai_peer
from tests.searches.api.asking import Program
from tests.searches.pages.people import browser_of
from tests.searches.pages.test_sut_form import sent
from vlmlab.core.errors import ConfigError, SutError
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.kinds import SUT_KINDS, parse_params
from vlmlab.core.suts.origins import GOOGLE, origin_of, origin_of_address
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db
SECRET = "sk-0123456789-abcdWXYZ"
HERE, THERE = "https://api.openai.com/v1", "https://evil.example.org/v1"
NEW = "/suts/new/?kind=openai_chat"


def make_key(address: str = HERE, *, name: str = "Team") -> ApiKey:
    return create_key(name=name, kind="openai_chat", secret=SECRET, by=None, address=address)


def params(address: str = HERE, **values) -> dict:
    return {"model": "m-1", "base_url": address} | values


def make_remote(key: ApiKey | None, address: str = HERE) -> SutRecord:
    return register_sut(
        slug="far", name="Far", kind="openai_chat", params=params(address), by=make_user(), api_key=key
    )


@pytest.fixture
def peer(settings):
    with openai_peer() as server:
        settings.ENDPOINT_ALLOW = [f"127.0.0.1/32:{server.port}"]
        yield server
        unload_sut()


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com"),
        ("HTTPS://API.OpenAI.com:443/other/", "https://api.openai.com"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000"),
        ("https://api.openai.com:8443", "https://api.openai.com:8443"),
        ("http://api.openai.com/v1", "http://api.openai.com"),
        ("https://[2606:4700::1]/v1", "https://[2606:4700::1]"),
    ],
)
def test_scheme_host_and_port_say_where_a_key_goes(address, origin):
    assert origin_of_address("openai_chat", address) == origin


def test_every_kind_that_takes_a_key_says_where_it_goes():
    values = {"model": "m-1"}
    found = {
        name: origin_of(name, parse_params(name, values)) for name in SUT_KINDS if SUT_KINDS[name].key_words
    }

    assert found == {
        "openai_chat": "https://api.openai.com",
        "gemini": "https://generativelanguage.googleapis.com",
        "anthropic": "https://api.anthropic.com",
        "bedrock": "https://*.amazonaws.com",
    }


def test_registering_with_a_stored_key_for_another_server_is_refused():
    with pytest.raises(ConfigError) as caught:
        make_remote(make_key(), THERE)

    assert caught.value.field == "api_key"
    assert "only for https://api.openai.com, not for https://evil.example.org" in caught.value.message
    assert "Enter the key again" in (caught.value.hint or "")
    assert SutRecord.objects.count() == 0


def test_editing_the_address_under_a_stored_key_is_refused_at_the_address():
    key = make_key()
    sut = make_remote(key)

    with pytest.raises(ConfigError) as caught:
        edit_sut(sut, name="Far", params=params(THERE), by=None, description="", queue=Queue.API, api_key=key)

    assert caught.value.field == "base_url"
    assert SutRecord.objects.get().params["base_url"] == HERE


def test_another_path_of_the_same_server_keeps_its_key():
    key = make_key()
    sut = make_remote(key)

    edit_sut(
        sut,
        name="Far",
        params=params("https://api.openai.com/v2"),
        by=None,
        description="",
        queue=Queue.API,
        api_key=key,
    )

    assert SutRecord.objects.get().api_key == key


def test_a_replaced_key_stays_with_its_server():
    key = make_key()

    replace_key(key, secret=SECRET[::-1], by=None)

    assert ApiKey.objects.get().origin == "https://api.openai.com"


def test_an_address_that_was_changed_in_the_database_is_not_sent_the_key(peer):
    sut = make_remote(make_key(f"{peer.url}/v1"), f"{peer.url}/v1")
    load_sut(sut).generate([SutRequest(paint_png((1, 2, 3), width=32, height=32), "Hello?")])
    [honest] = peer.requests
    unload_sut()
    ApiKey.objects.update(origin="https://api.openai.com")

    with pytest.raises(ConfigError, match=r"only for https://api\.openai\.com"):
        load_sut(SutRecord.objects.get())

    assert honest.headers["authorization"] == f"Bearer {SECRET}"
    assert peer.requests == [honest]


def test_parameters_that_were_changed_in_the_database_do_not_carry_the_key_elsewhere(peer):
    make_remote(make_key())
    SutRecord.objects.update(
        params=parse_params("openai_chat", params(f"{peer.url}/v1")).model_dump(mode="json")
    )

    with pytest.raises(ConfigError, match=r"only for https://api\.openai\.com"):
        load_sut(SutRecord.objects.get())

    assert peer.requests == []


def test_a_server_on_this_machine_that_nobody_allowed_is_not_connected_to(peer, settings):
    make_remote(None)
    address = parse_params("openai_chat", params(f"{peer.url}/v1")).model_dump(mode="json")
    SutRecord.objects.update(params=address)
    settings.ENDPOINT_ALLOW = []

    with pytest.raises(SutError, match="VLMLAB_ENDPOINT_ALLOW"):
        load_sut(SutRecord.objects.get())

    assert peer.requests == []


def test_the_page_of_keys_asks_for_the_address_and_shows_it():
    browser = browser_of(Role.RESEARCHER)
    values = {"name": "Team", "kind": "openai_chat", "secret": SECRET}

    missing = browser.post("/keys/new/", values | {"base_url": ""})
    wrong = browser.post("/keys/new/", values | {"base_url": "https://a b/"})
    stored = browser.post("/keys/new/", values | {"base_url": THERE})

    assert "Write the address" in missing.context["form"].errors["base_url"][0]
    assert "not an address" in wrong.context["form"].errors["base_url"][0]
    assert (missing.status_code, wrong.status_code, stored.status_code) == (422, 422, 302)
    assert ApiKey.objects.get().origin == "https://evil.example.org"
    page = browser.get("/keys/").content.decode()
    assert 'only for <span class="id">https://evil.example.org</span>' in page


def test_the_page_that_replaces_a_key_says_where_it_stays():
    key = make_key()

    page = browser_of(Role.ADMIN).get(f"/keys/{key.pk}/replace/").content.decode()

    assert 'It stays for <span class="id">https://api.openai.com</span> only' in page
    assert 'name="base_url"' not in page


def test_the_address_typed_with_a_kind_that_has_one_of_its_own_does_not_matter():
    browser_of(Role.RESEARCHER).post(
        "/keys/new/", {"name": "T", "kind": "gemini", "secret": SECRET, "base_url": THERE}
    )

    assert ApiKey.objects.get().origin == GOOGLE


def test_the_form_refuses_a_stored_key_for_another_address_and_takes_a_new_one():
    key = make_key()
    browser = browser_of(Role.RESEARCHER)

    refused = browser.post(NEW, sent("openai_chat", base_url=THERE, api_key=str(key.pk)))
    taken = browser.post(NEW, sent("openai_chat", base_url=THERE, secret=SECRET[::-1], key_name="Other"))

    assert "Enter the key again" in refused.context["form"].errors["api_key"][0]
    assert (refused.status_code, taken.status_code) == (422, 302)
    sut = SutRecord.objects.get()
    assert (sut.api_key.name, sut.api_key.origin) == ("Other", "https://evil.example.org")


def test_the_form_refuses_to_move_a_system_away_from_its_key():
    key = make_key()
    make_remote(key)

    page = browser_of(Role.RESEARCHER).post(
        "/suts/far/edit/", sent("openai_chat", name="Far", base_url=THERE, api_key=str(key.pk))
    )

    assert "only for https://api.openai.com" in page.context["form"].errors["base_url"][0]
    assert SutRecord.objects.get().params["base_url"] == HERE


def test_a_program_cannot_move_a_key_either():
    key = make_key()
    make_remote(key)
    program = Program()

    program.patch("/suts/far", {"params": {"base_url": THERE}})
    moved = (program.status, program.last.json()["field"])
    program.post("/suts", {"slug": "b", "kind": "openai_chat", "params": params(THERE), "api_key": "Team"})
    chosen = (program.status, program.last.json()["field"])
    fresh = program.post(
        "/suts", {"slug": "c", "kind": "openai_chat", "params": params(THERE), "secret": SECRET[::-1]}
    )

    assert (moved, chosen) == ((422, "base_url"), (422, "api_key"))
    assert (program.status, fresh["api_key"]["origin"]) == (201, "https://evil.example.org")
    assert SutRecord.objects.get(slug="far").params["base_url"] == HERE


def test_a_shell_cannot_choose_a_key_for_another_server():
    make_key()
    words = [
        "register",
        "far",
        "--kind",
        "openai_chat",
        "--param",
        "model=m-1",
        "--param",
        f"base_url={THERE}",
    ]

    with pytest.raises(CommandError, match=r"only for https://api\.openai\.com"):
        call_command("sut", *words, "--key-name", "Team")
    with patch.dict(os.environ, {"LAB_NEW_KEY": SECRET[::-1]}):
        call_command("sut", *words, "--key-name", "Other", "--api-key-env", "LAB_NEW_KEY")

    assert SutRecord.objects.get().api_key.origin == "https://evil.example.org"


def test_a_key_for_an_address_that_is_none_is_not_stored():
    with pytest.raises(SutError) as caught:
        make_key("ftp://example.org")

    assert (caught.value.field, ApiKey.objects.count()) == ("base_url", 0)


def test_the_history_says_where_a_key_goes():
    make_key()

    assert AuditEntry.objects.get().after == {
        "name": "Team",
        "kind": "openai_chat",
        "origin": "https://api.openai.com",
    }
