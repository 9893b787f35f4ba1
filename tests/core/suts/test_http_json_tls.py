"""JSON over TLS: names and certificates belong together although an address is connected to."""

import datetime
import ipaddress
import ssl
import threading
import time

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.patience import PATIENCE_SECONDS
from tests.peers.server import Peer, slow, status
from vlmlab.core.suts.http_json import JsonEndpoint
from vlmlab.core.suts.network import AllowedNetwork, NetworkPolicy
from vlmlab.core.suts.provider import CallFailure

GOOD = status(200, {"answer": 42})


def certificate(name: str) -> tuple[bytes, bytes]:
    """Return a self-signed certificate and its key as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(subject).issuer_name(subject).public_key(key.public_key()).serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return built.public_bytes(serialization.Encoding.PEM), private


@pytest.fixture
def tls_peer(tmp_path):
    """A peer whose certificate is for model.example.com, and a client that trusts it."""
    public, private = certificate("model.example.com")
    (tmp_path / "both.pem").write_bytes(private + public)
    names: list[str | None] = []
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "both.pem")
    server.sni_callback = lambda _socket, name, _context: names.append(name)
    client = ssl.create_default_context(cadata=public.decode())
    with Peer({"/v1/ask": GOOD}, ssl_context=server) as peer:
        yield peer, client, names


def over_tls(peer: Peer, host: str, client: ssl.SSLContext | None) -> JsonEndpoint:
    return JsonEndpoint(
        base_url=f"https://{host}:{peer.port}/v1", headers={}, timeout_s=60,
        policy=NetworkPolicy((AllowedNetwork(ipaddress.ip_network("127.0.0.1"), peer.port, peer.port),)),
        resolver=lambda _host, _port: ["127.0.0.1"], ssl_context=client,
    )  # fmt: skip


def test_tls_and_host_see_the_name_while_the_checked_address_is_connected_to(tls_peer):
    peer, client, names = tls_peer

    answer = over_tls(peer, "model.example.com", client).post("/ask", {})

    assert answer == {"answer": 42}
    assert names == ["model.example.com"]
    assert peer.requests[0].headers["host"] == f"model.example.com:{peer.port}"


def test_close_wakes_a_thread_that_waits_for_an_answer_over_tls(tls_peer):
    peer, client, _names = tls_peer
    peer.next(slow(600, GOOD))
    remote, failures = over_tls(peer, "model.example.com", client), []

    def ask():
        try:
            remote.post("/ask", {})
        except CallFailure as failure:
            failures.append(failure.kind)

    asking = threading.Thread(target=ask)
    asking.start()
    while not peer.requests:
        time.sleep(0.005)
    remote.close()
    asking.join(PATIENCE_SECONDS)

    assert failures == ["connection"]


@pytest.mark.parametrize(("host", "is_trusting"), [("other.example.com", True), ("model.example.com", False)])
def test_a_certificate_that_does_not_fit_is_refused_and_not_tried_again(tls_peer, host, is_trusting):
    peer, client, _names = tls_peer

    with pytest.raises(CallFailure) as failure:
        over_tls(peer, host, client if is_trusting else None).post("/ask", {})

    assert (failure.value.kind, failure.value.is_retryable) == ("connection", False)
    assert failure.value.message.startswith(f"The certificate of {host}:{peer.port} is not valid")
    assert peer.requests == []
