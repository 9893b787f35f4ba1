"""An endpoint at the server of paper, and how its calls fail."""

import pytest

from tests.peers.server import (
    Peer,
    status,
)
from vlmlab.core.suts.http_json import JsonEndpoint
from vlmlab.core.suts.provider import CallFailure

KEY = "sk-test-0123456789abcdefghij"
GOOD = status(200, {"answer": 42})


def endpoint(peer: Peer, **values) -> JsonEndpoint:
    settings = {
        "base_url": f"{peer.url}/v1", "headers": {"Authorization": f"Bearer {KEY}"}, "timeout_s": 60.0,
        "policy": peer.policy, **values,
    }  # fmt: skip
    return JsonEndpoint(**settings)


def failure_of(peer: Peer, behaviour, **values) -> CallFailure:
    peer.next(behaviour)
    with pytest.raises(CallFailure) as failure:
        endpoint(peer, **values).post("/ask", {"q": 1})
    return failure.value
