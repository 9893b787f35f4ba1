"""Errors of the API as problems: every one says what happened, what to do, and where."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from vlmlab.core.errors import VlmLabError
from vlmlab.web.api_answers import problem

INVALID, CONFLICT = 422, 409
READABLE = (
    "Send an object as UTF-8 JSON: at most a megabyte and 64 levels, no NaN or Infinity, and no name twice."
)


class ConflictError(VlmLabError):
    """The request is fine, but what it is about is in another state."""


def conflict_of(error: VlmLabError) -> ConflictError:
    """Return an error of a service as a conflict with the present state."""
    hint = error.hint.replace("Reload the page", "Read it again")
    return ConflictError(error.message, hint=hint, field=error.field)


def answer_errors(api: NinjaAPI) -> None:
    """Make the API answer every error that a program can act on with a ``Problem``; bugs rise to Django."""
    api.add_exception_handler(VlmLabError, _lab_error)
    api.add_exception_handler(ValidationError, _validation_error)
    api.add_exception_handler(HttpError, _http_error)
    api.add_exception_handler(Http404, _not_found)
    api.add_exception_handler(PermissionDenied, _rise)
    api.add_exception_handler(Exception, _rise)


def _lab_error(request: HttpRequest, error: VlmLabError | type[VlmLabError]) -> HttpResponse:
    assert isinstance(error, VlmLabError)
    status = CONFLICT if isinstance(error, ConflictError) else INVALID
    return problem(status, error.message, hint=error.hint, field=error.field)


def _not_found(request: HttpRequest, error: Http404 | type[Http404]) -> HttpResponse:
    return problem(404, str(error) or "There is nothing at this address.")


def _http_error(request: HttpRequest, error: HttpError | type[HttpError]) -> HttpResponse:
    assert isinstance(error, HttpError)
    if error.status_code == 400:
        return problem(400, "The body of the request is not JSON that can be read.", hint=READABLE)
    return problem(error.status_code, str(error))


def _rise(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    raise error


def _validation_error(request: HttpRequest, error: ValidationError | type[ValidationError]) -> HttpResponse:
    assert isinstance(error, ValidationError)
    first = error.errors[0]
    path = [str(part) for part in first["loc"]]
    # ("body", name of the parameter, field, …), ("query", field), ("form", field), ("path", field)
    inner = path[2:] if path[:1] == ["body"] else path[1:]
    field = ".".join(inner)
    sentence, hint = _words(str(first["type"]), str(first["msg"]), first.get("ctx") or {}, inner[-1:])
    return problem(INVALID, f"{field}: {sentence}" if field else sentence, hint=hint, field=field or None)


def _words(kind: str, message: str, context: Mapping[str, Any], name: list[str]) -> tuple[str, str]:
    """Return what to send instead, for one of pydantic's kinds of errors, and a hint."""
    if kind == "missing":
        return "This is missing.", "Send a value."
    if kind == "extra_forbidden":
        return f"There is no field called “{''.join(name)}”.", "Take it away; the schema lists the fields."
    if kind == "string_too_long":
        return f"Send at most {context.get('max_length', 0):,} characters.", ""
    if kind == "string_too_short":
        return "Send at least one character.", ""
    if kind in ("enum", "literal_error"):
        known = str(context.get("expected", "")).replace(" or ", ", ").replace("'", "")
        return f"Send one of {known}.", ""
    if kind == "string_pattern_mismatch":
        return "It holds a character that is not allowed here.", f"It must match {context.get('pattern')}."
    if kind in ("too_short", "too_long"):
        most, least = context.get("max_length"), context.get("min_length")
        return (f"Send at most {most:,} of them." if kind == "too_long" else f"Send at least {least:,}."), ""
    if kind.startswith("uuid"):
        return "This is not an id.", "Send it as the lab gave it."
    if kind.startswith(("int", "float", "greater", "less", "finite")):
        return f"{_number_wanted(kind, context)}.", ""
    if kind.startswith("bool"):
        return "Send true or false.", ""
    if kind == "string_type":
        return "Send a text.", ""
    if kind.startswith(("dict", "model")):
        return "Send an object.", ""
    if kind.startswith(("list", "tuple")):
        return "Send a list.", ""
    plain = message.removeprefix("Value error, ")
    return plain[:1].upper() + plain[1:].rstrip(".") + ".", ""


def _number_wanted(kind: str, context: Mapping[str, Any]) -> str:
    noun = "a whole number" if kind.startswith("int") else "a number"
    words = {"ge": "of at least", "gt": "above", "le": "of at most", "lt": "below"}
    limits = [f"{words[sign]} {context[sign]:,}" for sign in words if sign in context]
    return " ".join([f"Send {noun}", *limits])
