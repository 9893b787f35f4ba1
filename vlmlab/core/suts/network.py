"""Which addresses a system's endpoint may have: public ones over https, local ones by an allow-list."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from vlmlab.core.errors import ConfigError, SutError

_ENTRY = re.compile(
    r"\[?(?P<network>[0-9A-Fa-f.:]+(?:/\d{1,3})?)\]?:(?P<first>\d{1,5})(?:-(?P<last>\d{1,5}))?"
)
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,260})(?::(?P<port>\d{1,5}))?"
    r"(?P<path>(?:/[a-z0-9._~!$&'()*+,;=:-]*)*)",
    re.ASCII | re.IGNORECASE,
)
_HOST = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*"
)
_ENDS_IN_NUMBER = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$")
_PORTS = {"http": 80, "https": 443}
_LOCAL_ENDINGS = ("localhost", "local", "internal", "lan", "home", "corp", "intranet", "arpa")
_FOR_PUBLIC = "Use https and port 443 for a public server. "
_PUBLIC_V6 = IPv6Network("2000::/3")
# From the special-purpose registries of IANA (RFC 6890 and later); IPv6 blocks outside 2000::/3 are
# never public, so only those inside stand here.
_RESERVED = tuple(
    ip_network(block)
    for block in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
        "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
    )
)  # fmt: skip
# Not even by an allow-list: they mean another address, nobody's, or a cloud's own desk for keys.
_NEVER = tuple(
    ip_network(block)
    for block in (
        "0.0.0.0/8", "100.100.100.200/32", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255/32",
        "::/128", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16",
        "fd00:ec2::254/128", "fe80::/10", "ff00::/8",
    )
)  # fmt: skip


@dataclass(frozen=True)
class AllowedNetwork:
    """One entry of the allow-list: addresses and ports that local servers may have."""

    network: IPv4Network | IPv6Network
    first_port: int
    last_port: int

    def contains(self, address: IPv4Address | IPv6Address, port: int) -> bool:
        """Whether a connection to an address and port is meant."""
        return (
            address.version == self.network.version
            and address in self.network
            and self.first_port <= port <= self.last_port
        )


@dataclass(frozen=True)
class NetworkPolicy:
    """What may be connected to beside public addresses on port 443.

    Attributes:
        allowed: local servers that whoever runs the site has allowed.
    """

    allowed: tuple[AllowedNetwork, ...] = ()


def policy_of(entries: Sequence[str]) -> NetworkPolicy:
    """Return the policy of an allow-list such as ``127.0.0.0/8:8000-8999`` or ``[fd00::/8]:443``.

    Raises:
        ConfigError: an entry is not a network and its ports.
    """
    return NetworkPolicy(tuple(_allowed(entry.strip()) for entry in entries if entry.strip()))


def _allowed(entry: str) -> AllowedNetwork:
    match = _ENTRY.fullmatch(entry)
    try:
        if match is None:
            raise ValueError(entry)
        first = int(match["first"])
        last = int(match["last"] or first)
        if not 0 < first <= last <= 65_535:
            raise ValueError(entry)
        return AllowedNetwork(ip_network(match["network"]), first, last)
    except ValueError as error:
        raise ConfigError(
            f"“{entry[:80]}” is not a network with its ports.",
            hint="Write a network, a colon and a port or two: 127.0.0.1:8000 or 10.0.0.0/8:443.",
            field="VLMLAB_ENDPOINT_ALLOW",
        ) from error


@dataclass(frozen=True)
class Endpoint:
    """The parts of a checked address; only its host may later turn out to lie somewhere forbidden.

    Attributes:
        scheme: "http" or "https".
        host: lower-case name, or an address without brackets.
        port: stated or the scheme's.
        path: what stands before every call's own path; no slash at the end, "" for none.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def address(self) -> str:
        """The whole address in one spelling."""
        return f"{self.scheme}://{self.authority}{self.path}"


def check_endpoint(url: str, policy: NetworkPolicy) -> Endpoint:
    """Return the parts of an endpoint's address, or refuse it; no name is looked up, no socket opened.

    A name is only known to lie somewhere allowed when it is connected to; see ``refusal_of``.

    Args:
        url: what a person typed.
        policy: what may be connected to.

    Raises:
        SutError: the address is not allowed or not an address; ``field`` is ``base_url``.
    """
    endpoint = endpoint_of(url)
    literal = _literal(endpoint.host)
    if literal is not None:
        reason = refusal_of(str(literal), endpoint.port, scheme=endpoint.scheme, policy=policy)
        if reason:
            for_public = _FOR_PUBLIC if is_public(literal) else ""
            raise _refused(
                f"The address {endpoint.host} {reason}.",
                for_public + how_to_allow(endpoint.host, endpoint.port),
            )
        return endpoint
    is_ordinary = endpoint.scheme == "https" and endpoint.port == 443 and not _is_local_name(endpoint.host)
    if not is_ordinary and not any(
        entry.first_port <= endpoint.port <= entry.last_port for entry in policy.allowed
    ):
        what = f"{endpoint.scheme}://{endpoint.authority}"
        raise _refused(
            f"{what} is a local address, and no local server on port {endpoint.port} is allowed."
            if endpoint.scheme == "https" and endpoint.port == 443
            else f"{what} is neither https on port 443 nor a local server that is allowed.",
            _FOR_PUBLIC + how_to_allow(endpoint.host, endpoint.port),
        )
    return endpoint


def refusal_of(address: str, port: int, *, scheme: str, policy: NetworkPolicy) -> str:
    """Return why an address may not be connected to, "" when it may.

    Args:
        address: an IP address as a resolver returns it.
        port: where the connection would go.
        scheme: "http" or "https".
        policy: local servers that are allowed.

    Returns:
        A phrase that follows "The address …".
    """
    found = _literal(address)
    if found is None:
        return "is not an address"
    if any(found in block for block in _NEVER if block.version == found.version):
        return "is one that nothing may connect to"
    if any(entry.contains(found, port) for entry in policy.allowed):
        return ""
    if not is_public(found):
        return "is a local or reserved one and not allowed"
    if scheme != "https":
        return "is a public one, which takes https"
    if port != 443:
        return "is a public one, where only port 443 is allowed"
    return ""


def how_to_allow(host: str, port: int) -> str:
    """Return what to do so that a refused server may be asked, with the entry that the list takes.

    Args:
        host: an address, or a name, which is not looked up.
        port: the port of the server.
    """
    found = _literal("127.0.0.1" if host == "localhost" else host)
    if found is None:
        return (
            f"For a server of your own ask whoever runs the site to add the address of {host} with its port, "
            f"such as 10.1.2.3:{port}, to VLMLAB_ENDPOINT_ALLOW."
        )
    if any(found in block for block in _NEVER if block.version == found.version):
        return "No setting opens it; use another address."
    entry = f"[{found}]:{port}" if isinstance(found, IPv6Address) else f"{found}:{port}"
    return f"For a server of your own ask whoever runs the site to add {entry} to VLMLAB_ENDPOINT_ALLOW."


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is of the public internet: no private, shared, reserved or translated block."""
    if isinstance(address, IPv6Address) and address not in _PUBLIC_V6:
        return False
    return not any(address in block for block in _RESERVED if block.version == address.version)


def endpoint_of(url: str) -> Endpoint:
    """Return the parts of an address that is written in the one way that every reader agrees on.

    Raises:
        SutError: it is written in another way, or is no address; ``field`` is ``base_url``.
    """
    match = _URL.fullmatch(url)
    if match is None:
        shown = "".join(sign if sign.isprintable() else "?" for sign in url.split("@")[-1][:80])
        raise _refused(
            f"“{shown}” is not an address that can be used.",
            "Write https://, a host name, a port if it is not the usual one, and a path, without a user "
            "name, spaces, ? or #.",
        )
    scheme = match["scheme"].lower()
    host = match["host"].lower()
    port = int(match["port"] or _PORTS[scheme])
    if not 0 < port <= 65_535:
        raise _refused(f"There is no port {port}.", "Write a port between 1 and 65535.")
    if host.startswith("["):
        host = str(_bracketed(host))
    elif _ENDS_IN_NUMBER.search(host):
        # Other readers take 2130706433, 0x7f.1 and 0177.0.0.1 for addresses too; one spelling is enough.
        host = str(_dotted(host))
    elif len(host) > 253 or not _HOST.fullmatch(host):
        raise _refused(
            f"“{host[:80]}” is not a host name.",
            "Write the name in plain letters; an international one in its xn-- form.",
        )
    path = match["path"].rstrip("/")
    if {".", ".."} & set(path.split("/")):
        raise _refused("The address has dots for a part of its path.", "Write the path as the server has it.")
    return Endpoint(scheme, host, port, path)


def _bracketed(host: str) -> IPv6Address:
    try:
        return IPv6Address(host[1:-1])
    except ValueError as error:
        raise _refused(f"“{host[:60]}” is not an IPv6 address.", "Write it like [fd00::1].") from error


def _dotted(host: str) -> IPv4Address:
    try:
        return IPv4Address(host)
    except ValueError as error:
        raise _refused(
            f"“{host[:60]}” is not a plain address.", "Write four decimal numbers, such as 127.0.0.1."
        ) from error


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_local_name(host: str) -> bool:
    return "." not in host or host.rsplit(".", 1)[1] in _LOCAL_ENDINGS


def _refused(message: str, hint: str) -> SutError:
    return SutError(message, hint=hint, field="base_url")
