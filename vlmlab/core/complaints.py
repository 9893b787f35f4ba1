"""What is wrong with a stored or submitted setting, in sentences a person can act on."""

from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from vlmlab.core.errors import ConfigError

_LIMITS = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number"})
_NUMBER_KINDS = _LIMITS | {"int_type", "int_parsing", "int_from_float", "int_parsing_size", "float_type"}
_NUMBER_KINDS |= {"float_parsing"}
_CUSTOM = frozenset({"value_error", "assertion_error", "settings_together"})


def config_error(error: ValidationError, model: type[BaseModel]) -> ConfigError:
    """Return the first complaint about the values of a settings model as an error at its field.

    A check of several fields together names the field it belongs to as ``context["field"]`` of a
    ``PydanticCustomError`` of the kind ``settings_together``.
    """
    first = error.errors(include_url=False)[0]
    path, kind = [str(part) for part in first["loc"]], str(first["type"])
    name = path[0] if path else ""
    if kind == "extra_forbidden":
        known = ", ".join(sorted(model.model_fields))
        return ConfigError(f"There is no setting called “{name}”.", hint=f"Known: {known}.", field=name)
    if not name:
        field = str(first.get("ctx", {}).get("field", "")) or None
        return ConfigError(_sentence_of(str(first["msg"])), field=field)
    info = model.model_fields[name]
    title = f"{info.title} ({name})" if info.title else name
    text = complaint(info, kind, message=str(first["msg"]), context=first.get("ctx", {}))
    return ConfigError(f"{title}: {text}", hint=info.description or "", field=name)


def complaint(info: FieldInfo, kind: str, *, message: str = "", context: dict[str, Any] | None = None) -> str:
    """Return what to enter instead, for one of pydantic's kinds of errors at a field.

    Args:
        info: the field.
        kind: such as ``greater_than_equal``.
        message: pydantic's own words, for kinds that have no sentence here.
        context: pydantic's values of the error.
    """
    kinds = _kinds(info)
    if kind in _CUSTOM:
        return _sentence_of(message)
    if kind == "missing":
        return "Enter a value."
    if kind == "literal_error":
        return f"Choose one of {', '.join(str(one) for one in kinds)}."
    if kind in _NUMBER_KINDS or kinds in ([int], [float]):
        return number_wanted(info)
    if kinds == [bool]:
        return "Enter true or false."
    if kind in ("string_too_short", "string_too_long"):
        most = (context or {}).get("max_length")
        return f"Enter at most {most:,} characters." if most else "Enter at least one character."
    if kind == "string_pattern_mismatch":
        return "It holds a character that is not allowed here."
    wanted = "text" if kinds == [str] else "a list" if get_origin(info.annotation) is tuple else ""
    return f"Enter {wanted}." if wanted else _sentence_of(message)


def number_wanted(info: FieldInfo) -> str:
    """Return which numbers a field takes, such as ``Enter a whole number from 1 to 100.``."""
    noun = "a whole number" if int in _kinds(info) else "a number"
    is_optional = NoneType in get_args(info.annotation)
    words = f"Enter {noun} {range_words(info)}".rstrip()
    return f"{words}, or leave it empty." if is_optional else f"{words}."


def range_words(info: FieldInfo) -> str:
    """Return the limits of a number: ``from 1 to 100``, ``above 0 and at most 1``, "" without any."""
    found = {
        sign: f"{getattr(limit, sign):,.10g}"
        for limit in info.metadata
        for sign in ("ge", "gt", "le", "lt")
        if getattr(limit, sign, None) is not None
    }
    if {"ge", "le"} <= set(found):
        return f"from {found['ge']} to {found['le']}"
    words = {"ge": "of at least", "gt": "above", "le": "at most", "lt": "below"}
    return " and ".join(f"{words[sign]} {found[sign]}" for sign in words if sign in found)


def _kinds(info: FieldInfo) -> list[Any]:
    """Return the types of a field without None; the choices of a literal."""
    kinds = [kind for kind in get_args(info.annotation) or (info.annotation,) if kind is not NoneType]
    inner = kinds[0] if len(kinds) == 1 else None
    return list(get_args(inner)) if inner is not None and get_origin(inner) is Literal else kinds


def _sentence_of(message: str) -> str:
    text = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return text[:1].upper() + text[1:].rstrip(".") + "."
