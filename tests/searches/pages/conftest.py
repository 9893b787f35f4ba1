"""A signed-in researcher and their browser."""

import pytest

from tests.factories import make_user
from vlmlab.web.roles import Role


@pytest.fixture
def person():
    return make_user(Role.RESEARCHER)


@pytest.fixture
def browser(client, person):
    client.force_login(person)
    return client
