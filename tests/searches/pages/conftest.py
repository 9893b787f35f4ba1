"""A signed-in researcher and their browser, and the domain of the example file."""

import pytest

from searches.services.domain_edits import add_domain
from tests.factories import make_user
from vlmlab.core.scenes.domain_files import check_domain_file, example_text
from vlmlab.web.roles import Role


@pytest.fixture
def person():
    return make_user(Role.RESEARCHER)


@pytest.fixture
def browser(client, person):
    client.force_login(person)
    return client


@pytest.fixture
def warehouse():
    return add_domain(
        check_domain_file(example_text()), by=make_user(Role.RESEARCHER), note="From the example"
    )
