"""Which addresses a system's endpoint may have: public ones over https, local ones by an allow-list."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

from vlmlab.core.errors import ConfigError

_ENTRY = re.compile(
    r"\[?(?P<network>[0-9A-Fa-f.:]+(?:/\d{1,3})?)\]?:(?P<first>\d{1,5})(?:-(?P<last>\d{1,5}))?"
)


@dataclass(frozen=True)
class AllowedNetwork:
    """One entry of the allow-list: addresses and ports that local servers may have."""

    network: IPv4Network | IPv6Network
    first_port: int
    last_port: int


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
