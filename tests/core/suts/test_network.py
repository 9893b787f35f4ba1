"""Which addresses may be connected to: hostile ones are refused before a socket is opened."""

import re
import socket
from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.errors import ConfigError, SutError
from vlmlab.core.suts.network import NetworkPolicy, check_endpoint, is_public, policy_of, refusal_of

NOTHING_LOCAL = NetworkPolicy()
LOCAL = policy_of(["127.0.0.1:8000-8999", "10.1.0.0/16:443", "[fd00::/8]:8080"])


@pytest.fixture(autouse=True)
def no_sockets(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a check opened a socket or looked up a name")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


HOSTILE = (
    # paths that lead somewhere else than they say
    "https://example.com/v1/../admin", "https://example.com/./v1", "https://example.com/..",
    # other schemes
    "file:///etc/passwd", "ftp://example.com/", "gopher://example.com/", "unix:///run/docker.sock",
    "javascript:alert(1)", "//example.com/", "example.com", "", "https:", "https://", "https:///v1",
    "https:/example.com/", "https:\\\\example.com",
    # loopback in every spelling
    "http://127.0.0.1/", "https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f000001/",
    "https://0x7f.0.0.1/", "https://0177.0.0.1/", "https://017700000001/", "https://127.0.0.1./",
    "https://127.000.000.001/", "https://0/", "https://0.0.0.0/", "https://localhost/", "https://LOCALHOST/",
    "https://a.localhost/", "https://localhost.localdomain:22/", "https://[::1]/", "https://[::]/",
    "https://[0:0:0:0:0:0:0:1]/", "https://１２７.０.０.１/", "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    # IPv4 inside IPv6
    "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/", "https://[64:ff9b:1::7f00:1]/", "https://[2002:7f00:1::]/",
    "https://[2001:0:7f00:1::]/", "https://[::ffff:8.8.8.8]/", "https://[fe80::1%25eth0]/", "https://[fe80::1]/",
    "https://[fc00::1]/", "https://[ff02::1]/", "https://[2001:db8::1]/", "https://[::1", "https://::1/",
    # private, shared, link-local, metadata, reserved, multicast, broadcast
    "https://10.0.0.1/", "https://172.16.0.1/", "https://172.31.255.255/", "https://192.168.1.1/",
    "https://100.64.0.1/", "https://169.254.169.254/latest/meta-data/", "https://192.0.0.192/",
    "https://192.0.2.1/", "https://198.18.0.1/", "https://198.51.100.1/", "https://203.0.113.1/",
    "https://224.0.0.1/", "https://240.0.0.1/", "https://255.255.255.255/", "https://192.88.99.1/",
    "https://metadata.google.internal/", "https://printer.local/", "https://intranet/", "https://x.lan/",
    # user names, other ports, plain http, tricks with separators
    "https://user@example.com/", "https://user:secret@example.com/", "https://example.com@127.0.0.1/",
    "https://api.openai.com:443@127.0.0.1/", "https://example.com#@127.0.0.1/", "https://example.com?@127.0.0.1",
    "https://example.com:22/", "https://example.com:0/", "https://example.com:99999/", "https://example.com:/",
    "http://example.com/", "http://8.8.8.8/", "https://8.8.8.8:8443/", "https://example.com\\@127.0.0.1/",
    "https://exa mple.com/", "https://example.com/\r\nHost: evil", "https://example.com/%2e%2e", "https://.com/",
    "https://-a.com/", "https://a..com/", "https://example.com\t/", "https://example.com\x00/", " https://a.com/",
    "https://" + "a" * 64 + ".com/", "https://" + "a." * 130 + "com/", "https://foo.0x7f/", "https://1.2.3/",
    "https://1.2.3.4.5/", "https://256.1.1.1/", "https://foo.1/",
)  # fmt: skip


@pytest.mark.parametrize("url", HOSTILE)
def test_check_endpoint_refuses_a_hostile_address(url):
    with pytest.raises(SutError) as refusal:
        check_endpoint(url, NOTHING_LOCAL)

    assert refusal.value.field == "base_url"
    assert refusal.value.hint


@pytest.mark.parametrize("url", HOSTILE)
def test_an_allow_list_for_other_servers_opens_no_hostile_address(url):
    with pytest.raises(SutError):
        check_endpoint(url, policy_of(["192.168.77.0/24:9000", "[fd77::/16]:9000"]))


def test_check_endpoint_shows_no_password_and_names_the_setting():
    with pytest.raises(SutError) as with_password:
        check_endpoint("https://me:hunter2@example.com/", NOTHING_LOCAL)
    with pytest.raises(SutError) as local:
        check_endpoint("http://127.0.0.1:8000/v1", NOTHING_LOCAL)

    assert "hunter2" not in str(with_password.value)
    assert "VLMLAB_ENDPOINT_ALLOW" in local.value.hint


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("http://127.0.0.1:9911/v1", "add 127.0.0.1:9911 to VLMLAB_ENDPOINT_ALLOW"),
        ("http://localhost:1234/v1", "add 127.0.0.1:1234 to VLMLAB_ENDPOINT_ALLOW"),
        ("http://[fd00::7]:8080", "add [fd00::7]:8080 to VLMLAB_ENDPOINT_ALLOW"),
        ("http://gpu-box:8001/v1", "add the address of gpu-box with its port, such as 10.1.2.3:8001, to"),
        ("https://8.8.8.8:8443", "Use https and port 443 for a public server."),
        ("http://169.254.169.254", "No setting opens it"),
    ],
)
def test_the_hint_names_the_entry_that_the_allow_list_takes(url, hint):
    with pytest.raises(SutError) as caught:
        check_endpoint(url, NOTHING_LOCAL)

    assert hint in caught.value.hint
    for entry in re.findall(r"add (\S+) to V", caught.value.hint):
        check_endpoint(url, policy_of([entry]))


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("https://API.OpenAI.com:443/v1/", "https://api.openai.com/v1"),
        ("https://my_org.xn--bcher-kva.example/a/b", "https://my_org.xn--bcher-kva.example/a/b"),
        ("https://8.8.8.8", "https://8.8.8.8"),
        ("https://[2606:4700::1111]/v1", "https://[2606:4700::1111]/v1"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://localhost:8999/v1", "http://localhost:8999/v1"),
        ("http://vllm:8000/v1", "http://vllm:8000/v1"),
        ("https://10.1.2.3/v1", "https://10.1.2.3/v1"),
        ("http://[FD00:0::1]:8080", "http://[fd00::1]:8080"),
    ],
)
def test_check_endpoint_returns_one_spelling_of_an_allowed_address(url, address):
    assert check_endpoint(url, LOCAL).address == address


@pytest.mark.parametrize(
    ("address", "port", "scheme", "reason"),
    [
        ("8.8.8.8", 443, "https", ""),
        ("2606:4700::1111", 443, "https", ""),
        ("8.8.8.8", 443, "http", "is a public one, which takes https"),
        ("8.8.8.8", 80, "https", "is a public one, where only port 443 is allowed"),
        ("127.0.0.1", 8000, "http", ""),
        ("127.0.0.1", 7999, "http", "is a local or reserved one and not allowed"),
        ("127.0.0.2", 8000, "http", "is a local or reserved one and not allowed"),
        ("10.1.255.255", 443, "http", ""),
        ("10.2.0.0", 443, "https", "is a local or reserved one and not allowed"),
        ("fd12::1", 8080, "http", ""),
        ("::ffff:127.0.0.1", 8000, "http", "is one that nothing may connect to"),
        ("0.0.0.0", 8000, "http", "is one that nothing may connect to"),
        ("fe80::1%eth0", 443, "https", "is one that nothing may connect to"),
        ("fec0::1", 443, "https", "is a local or reserved one and not allowed"),
        ("localhost", 8000, "http", "is not an address"),
    ],
)
def test_refusal_of_an_address_that_a_name_led_to(address, port, scheme, reason):
    assert refusal_of(address, port, scheme=scheme, policy=LOCAL) == reason


def test_an_allow_list_of_everything_still_leaves_out_what_stands_for_another_address():
    everything = policy_of(["0.0.0.0/0:1-65535", "[::/0]:1-65535"])

    refused = [
        address
        for address in ("0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "ff02::1", "::ffff:10.0.0.1",
                        "64:ff9b::a00:1", "2002:a00:1::", "2001:0:a00:1::", "169.254.169.254",
                        "100.100.100.200", "fd00:ec2::254", "fe80::1", "fe80::1%eth0")
        if refusal_of(address, 80, scheme="http", policy=everything)
    ]  # fmt: skip

    assert len(refused) == 14
    assert refusal_of("10.0.0.1", 80, scheme="http", policy=everything) == ""


@given(st.integers(0, 2**32 - 1))
def test_no_address_that_python_calls_private_is_public_here(number):
    address = IPv4Address(number)

    if is_public(address):
        assert address.is_global
        assert not address.is_multicast
        assert not address.is_reserved


@given(st.text(max_size=60))
def test_check_endpoint_never_raises_anything_but_a_refusal(text):
    for url in (text, f"https://{text}", f"http://127.0.0.1:8000{text}"):
        try:
            endpoint = check_endpoint(url, LOCAL)
        except SutError:
            continue
        assert endpoint.address.isascii()
        assert "@" not in endpoint.authority


@pytest.mark.parametrize(
    "entry", ["127.0.0.1", "127.0.0.1:0", "x:80", "10.0.0.1/8:80", "127.0.0.1:9-8", "::1"]
)
def test_policy_of_refuses_an_entry_that_is_not_a_network_with_ports(entry):
    with pytest.raises(ConfigError) as refusal:
        policy_of([entry])

    assert refusal.value.field == "VLMLAB_ENDPOINT_ALLOW"
