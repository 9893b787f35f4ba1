"""Headers that every page carries."""

import pytest

from tests.factories import make_user
from vlmlab.web.roles import Role

POLICY = (
    "base-uri 'self'; default-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "img-src 'self' data: blob:; object-src 'none'; "
    "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
)


@pytest.mark.django_db
@pytest.mark.parametrize("where", ["/login/", "/people/", "/no-such-page/"])
def test_every_page_carries_exactly_the_content_security_policy(where, client):
    client.force_login(make_user(Role.ADMIN))

    answer = client.get(where)

    assert "; ".join(sorted(answer["Content-Security-Policy"].split("; "))) == POLICY


@pytest.mark.django_db
def test_pages_may_not_be_framed_or_sniffed_and_keep_their_address_to_themselves(client):
    answer = client.get("/login/")

    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"


@pytest.mark.django_db
@pytest.mark.parametrize("where", ["/login/", "/people/", "/audit/", "/workers/", "/account/password/"])
def test_pages_hold_no_inline_script_or_style(where, client):
    client.force_login(make_user(Role.ADMIN))
    if where == "/login/":
        client.logout()

    page = client.get(where).content.decode()

    assert " style=" not in page
    assert "<style" not in page
    assert "onclick=" not in page
    assert [tag for tag in page.split("<script")[1:] if " src=" not in tag.partition(">")[0]] == []
