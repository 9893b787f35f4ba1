"""Names that lead to forbidden addresses, at registration or later: nothing is connected to."""

import httpcore2
import pytest

from vlmlab.core.suts.guarded import AddressRefused, GuardedBackend
from vlmlab.core.suts.http_json import JsonEndpoint
from vlmlab.core.suts.network import NetworkPolicy, policy_of
from vlmlab.core.suts.provider import CallFailure

LOCAL = policy_of(["127.0.0.1:8000"])


class Connections:
    """A connector that opens nothing and remembers what it was asked for."""

    def __init__(self, *, refusing: tuple[str, ...] = ()) -> None:
        self.asked: list[tuple[str, int]] = []
        self.refusing = refusing

    def __call__(self, address: str, port: int, _timeout: float) -> httpcore2.NetworkStream:
        self.asked.append((address, port))
        if address in self.refusing:
            raise httpcore2.ConnectError("nobody listens")
        return httpcore2.MockStream([])


def backend(addresses, connections, *, policy=LOCAL, scheme="https", clock=lambda: 0.0):
    answers = iter(addresses) if addresses and isinstance(addresses[0], list) else None
    return GuardedBackend(
        policy,
        scheme,
        resolver=lambda _host, _port: next(answers) if answers else addresses,
        connector=connections,
        clock=clock,
    )


def test_a_name_is_resolved_once_and_the_checked_address_is_connected_to():
    connections, asked = Connections(), []

    def resolver(host, port):
        asked.append((host, port))
        return ["93.184.216.34"]

    GuardedBackend(
        NetworkPolicy(), "https", resolver=resolver, connector=connections, clock=lambda: 0.0
    ).connect_tcp("api.example.com", 443)

    assert asked == [("api.example.com", 443)]
    assert connections.asked == [("93.184.216.34", 443)]


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"], ["10.0.0.5"], ["169.254.169.254"], ["::1"], ["::ffff:127.0.0.1"], ["fd00::1"],
        ["100.64.0.1"], ["64:ff9b::7f00:1"], ["0.0.0.0"], ["93.184.216.34", "127.0.0.1"],
        ["2606:4700::1111", "fe80::1"], ["not an address"],
    ],
)  # fmt: skip
def test_one_forbidden_address_among_all_refuses_the_name(addresses):
    connections = Connections()

    with pytest.raises(AddressRefused):
        backend(addresses, connections).connect_tcp("rebound.example.com", 443)

    assert connections.asked == []


def test_a_name_that_changes_its_address_is_refused_at_the_next_connection():
    connections = Connections()
    guarded = backend([["93.184.216.34"], ["127.0.0.1"]], connections, policy=NetworkPolicy())

    guarded.connect_tcp("rebound.example.com", 443)
    with pytest.raises(AddressRefused) as refusal:
        guarded.connect_tcp("rebound.example.com", 443)

    assert connections.asked == [("93.184.216.34", 443)]
    assert refusal.value.reason == (
        "rebound.example.com is 127.0.0.1, which is a local or reserved one and not allowed."
    )
    assert "add 127.0.0.1:443 to VLMLAB_ENDPOINT_ALLOW" in refusal.value.hint


def test_the_next_address_is_tried_when_one_does_not_answer():
    connections = Connections(refusing=("93.184.216.34",))

    backend(["93.184.216.34", "93.184.216.35"], connections).connect_tcp("api.example.com", 443)

    assert connections.asked == [("93.184.216.34", 443), ("93.184.216.35", 443)]


def test_no_more_than_four_addresses_are_tried():
    addresses = [f"93.184.216.{number}" for number in range(1, 9)]
    connections = Connections(refusing=tuple(addresses))

    with pytest.raises(httpcore2.ConnectError):
        backend(addresses, connections).connect_tcp("api.example.com", 443)

    assert len(connections.asked) == 4


def test_socket_files_are_refused():
    with pytest.raises(AddressRefused):
        backend(["93.184.216.34"], Connections()).connect_unix_socket("/run/docker.sock")


def test_steps_get_what_is_left_of_the_call():
    now = [100.0]
    guarded = backend(["93.184.216.34"], Connections(), clock=lambda: now[0])

    without = guarded.remaining(30.0)
    guarded.deadline.ends_at = 110.0
    early = guarded.remaining(30.0)
    now[0] = 110.0

    assert (without, early) == (30.0, 10.0)
    with pytest.raises(httpcore2.ReadTimeout):
        guarded.remaining(30.0)


def test_a_refused_name_becomes_a_failure_that_is_not_tried_again():
    connections = Connections()
    endpoint = JsonEndpoint(
        base_url="https://rebound.example.com/v1", headers={}, timeout_s=60, policy=NetworkPolicy(),
        resolver=lambda _host, _port: ["127.0.0.1"], connector=connections,
    )  # fmt: skip

    with pytest.raises(CallFailure) as failure:
        endpoint.post("/chat/completions", {})

    assert (failure.value.kind, failure.value.is_retryable) == ("address", False)
    assert "rebound.example.com is 127.0.0.1" in failure.value.message
    assert connections.asked == []


def test_an_unknown_name_is_a_connection_failure():
    def unknown(_host, _port):
        raise OSError("Name or service not known")

    endpoint = JsonEndpoint(
        base_url="https://nowhere.example.com", headers={}, timeout_s=60, policy=NetworkPolicy(),
        resolver=unknown, connector=Connections(),
    )  # fmt: skip

    with pytest.raises(CallFailure) as failure:
        endpoint.post("/x", {})

    assert failure.value.kind == "connection"
    assert failure.value.message == (
        "nowhere.example.com cannot be reached: the name nowhere.example.com is not known. "
        "Check the address and that the server runs."
    )
