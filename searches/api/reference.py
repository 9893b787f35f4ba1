"""The schema of the API, for programs, and the same as a page for people; both need no script."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import render
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from ninja.openapi.schema import get_schema

from searches.api.site import api
from vlmlab.web.api_answers import API_NAMESPACE, API_PREFIX
from vlmlab.web.permissions import permission_table
from vlmlab.web.roles import Role


@dataclass(frozen=True)
class FieldLine:
    """A parameter or a field of a body."""

    name: str
    words: str
    is_required: bool
    text: SafeString


@dataclass(frozen=True)
class OperationLine:
    """One operation as the page shows it."""

    name: str
    method: str
    path: str
    summary: str
    description: SafeString
    parameters: tuple[FieldLine, ...]
    body: tuple[FieldLine, ...]
    statuses: tuple[str, ...]
    roles: str


@login_not_required
@require_safe
def api_schema(request: HttpRequest) -> HttpResponse:
    """Send the OpenAPI schema; it says nothing about this lab, so it needs no token."""
    text, etag = _schema_text()
    if request.headers.get("If-None-Match") == etag:
        response: HttpResponse = HttpResponseNotModified()
    else:
        response = HttpResponse(text, content_type="application/json")
    response["ETag"] = etag
    response["Cache-Control"] = "public, max-age=300"
    return response


@require_safe
def api_reference(request: HttpRequest) -> HttpResponse:
    """Show every operation: what it is for, what it takes, what it may answer, who may call it."""
    return render(request, "api/reference.html", {"rooms": _rooms()})


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """Return the OpenAPI schema as plain values."""
    plain: dict[str, Any] = json.loads(
        json.dumps(get_schema(api, path_prefix=API_PREFIX.strip("/")), default=str)
    )
    return plain


@lru_cache(maxsize=1)
def _schema_text() -> tuple[str, str]:
    text = json.dumps(schema(), ensure_ascii=False, indent=1)
    return text, f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


@lru_cache(maxsize=1)
def _rooms() -> list[tuple[str, list[OperationLine]]]:
    rooms: dict[str, list[OperationLine]] = {}
    for path, methods in schema()["paths"].items():
        for method, details in methods.items():
            rooms.setdefault(details["tags"][0], []).append(_line(path, method, details))
    return list(rooms.items())


def _line(path: str, method: str, details: dict[str, Any]) -> OperationLine:
    roles = permission_table().get(f"{API_NAMESPACE}:{details['operationId']}", frozenset())
    description = details["description"]
    return OperationLine(
        name=details["operationId"],
        method=method.upper(),
        path=path,
        summary=details["summary"],
        description=_marked("" if description.rstrip(".") == details["summary"] else description),
        parameters=tuple(_parameter(one) for one in details.get("parameters", [])),
        body=tuple(_body(details.get("requestBody"))),
        statuses=tuple(str(one) for one in details["responses"]),
        roles=", ".join(role.label.lower() for role in Role if role in roles),
    )


def _parameter(one: dict[str, Any]) -> FieldLine:
    meaning = one.get("description") or ("Part of the address." if one["in"] == "path" else "")
    return FieldLine(one["name"], _type(one["schema"]), bool(one.get("required")), _marked(meaning))


def _marked(text: str) -> SafeString:
    """Return a text as HTML; what stands between backticks is code."""
    parts = (
        format_html("<code>{}</code>" if place % 2 else "{}", part)
        for place, part in enumerate(text.split("`"))
    )
    return format_html_join("", "{}", ((part,) for part in parts))


def _body(body: dict[str, Any] | None) -> Iterator[FieldLine]:
    if not body:
        return
    [content] = body["content"].values()
    model = _resolved(content["schema"])
    required = model.get("required", [])
    for name, details in model.get("properties", {}).items():
        yield FieldLine(name, _type(details), name in required, _marked(details.get("description", "")))


def _resolved(details: dict[str, Any]) -> dict[str, Any]:
    reference = details.get("$ref")
    if not reference:
        return details
    found: dict[str, Any] = schema()["components"]["schemas"][reference.rpartition("/")[2]]
    return found


def _type(details: dict[str, Any]) -> str:
    """Return the type of a field in words."""
    if "anyOf" in details:
        return " or ".join(dict.fromkeys(_type(one) for one in details["anyOf"] if one.get("type") != "null"))
    resolved = _resolved(details)
    if "enum" in resolved:
        return "one of " + ", ".join(str(one) for one in resolved["enum"] if one != "")
    if resolved.get("type") == "array":
        return f"list of {_type(resolved.get('items', {}))}"
    if resolved.get("format") == "binary":
        return "file"
    kinds = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    return kinds.get(str(resolved.get("type")), "object")
