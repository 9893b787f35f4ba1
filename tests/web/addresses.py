"""Every address of the site by name, with made-up arguments: what the generated tests walk over."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.converters import IntConverter, SlugConverter, UUIDConverter

from vlmlab.web.api_answers import API_NAMESPACE

SAMPLE_SHA256 = "ab" * 32
API = f"{API_NAMESPACE}:"


@dataclass(frozen=True)
class Address:
    """One named URL pattern and a path that it matches; operations of the API carry its namespace."""

    name: str
    path: str
    view: Any


def _argument(name: str, converter: Any) -> str:
    if isinstance(converter, IntConverter):
        return "987654"
    if isinstance(converter, UUIDConverter):
        return str(uuid.UUID(int=1))
    if name == "sha256":
        return SAMPLE_SHA256
    if isinstance(converter, SlugConverter):
        return "no-such-thing"
    return {"fmt": "csv", "what": "run"}.get(name, "nothing")


def _walk(patterns: list[URLPattern | URLResolver], prefix: str = "/", namespace: str = "") -> list[Address]:
    found = []
    for entry in patterns:
        route = str(entry.pattern)
        for name, converter in entry.pattern.converters.items():
            start = route.index("<")
            end = route.index(">")
            assert name in route[start:end]
            route = route[:start] + _argument(name, converter) + route[end + 1 :]
        if isinstance(entry, URLResolver):
            inner = f"{entry.namespace}:" if entry.namespace else namespace
            found += _walk(entry.url_patterns, prefix + route, inner)
        else:
            name = f"{namespace}{entry.name}" if entry.name else ""
            found.append(Address(name, prefix + route, entry.callback))
    return found


def every_address() -> list[Address]:
    """Return all addresses of the site, operations of the API included."""
    return _walk(get_resolver().url_patterns)


def page_addresses() -> list[Address]:
    """Return the addresses that a person opens in a browser."""
    return [address for address in every_address() if not address.name.startswith(API)]


def api_addresses() -> list[Address]:
    """Return the operations of the API."""
    return [address for address in every_address() if address.name.startswith(API)]
