"""A server that answers JSON, for tests that bring no provider of their own."""

import pytest

from tests.core.suts.json_asking import GOOD
from tests.peers.server import Peer


@pytest.fixture
def peer():
    with Peer({"/v1/ask": GOOD}) as server:
        yield server
