"""Every address of the site by name, with made-up arguments: what the generated tests walk over."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.converters import IntConverter, SlugConverter, UUIDConverter

SAMPLE_SHA256 = "ab" * 32


@dataclass(frozen=True)
class Address:
    """One named URL pattern and a path that it matches."""

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
    return "csv" if name == "fmt" else "nothing"


def _walk(patterns: list[URLPattern | URLResolver], prefix: str = "/") -> list[Address]:
    found = []
    for entry in patterns:
        route = str(entry.pattern)
        for name, converter in entry.pattern.converters.items():
            start = route.index("<")
            end = route.index(">")
            assert name in route[start:end]
            route = route[:start] + _argument(name, converter) + route[end + 1 :]
        if isinstance(entry, URLResolver):
            found += _walk(entry.url_patterns, prefix + route)
        else:
            found.append(Address(entry.name or "", prefix + route, entry.callback))
    return found


def every_address() -> list[Address]:
    """Return all addresses of the site."""
    return _walk(get_resolver().url_patterns)
