"""What is wrong with a stored or submitted setting, in sentences a person can act on."""

from collections.abc import Mapping
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from vlmlab.core.errors import ConfigError
from vlmlab.core.storable_values import is_storable

Settings = TypeVar("Settings", bound=BaseModel)

_LIMITS = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number"})
_NUMBER_KINDS = _LIMITS | {"int_type", "int_parsing", "int_from_float", "int_parsing_size", "float_type"}
_NUMBER_KINDS |= {"float_parsing"}
_CUSTOM = frozenset({"value_error", "assertion_error", "settings_together"})


def checked_settings(model: type[Settings], values: Mapping[str, object]) -> Settings:
    """Return values that are to be stored, or were, as settings of a model.

    Raises:
        ConfigError: an unknown name, a value out of range, or one that cannot be stored; ``field`` names it.
    """
    if not isinstance(values, Mapping):
        raise ConfigError("The settings are not a group of names and values.", hint="Enter them again.")
    for name, value in values.items():
        if not is_storable([name, value]):
            raise ConfigError(
                f"{name!r} holds a character that cannot be stored, such as NUL.",
                hint="Take it out.",
                field=name if name in model.model_fields else None,
            )
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise config_error(error, model) from error


def config_error(error: ValidationError, model: type[BaseModel]) -> ConfigError:
    """Return the first complaint about the values of a settings model as an error at its field.

    A check of several fields together names the field it belongs to as ``context["field"]`` of a
    ``PydanticCustomError`` of the kind ``settings_together``. Fields of a model inside the model are named
    with dots: ``asking.convention.scale``.
    """
    return config_errors(error, model)[0]


def config_errors(error: ValidationError, model: type[BaseModel]) -> list[ConfigError]:
    """Return every complaint about the values of a settings model, see ``config_error``."""
    return [_config_error(dict(one), model) for one in error.errors(include_url=False)]


def _config_error(found: dict[str, Any], model: type[BaseModel]) -> ConfigError:
    kind, message, context = str(found["type"]), str(found["msg"]), found.get("ctx", {})
    path, inner, info = _located([str(part) for part in found["loc"]], model)
    name = ".".join(path)
    if kind == "extra_forbidden":
        known = ", ".join(sorted(inner.model_fields))
        return ConfigError(
            f"There is no setting called “{name or found['loc'][-1]}”.", hint=f"Known: {known}.", field=name
        )
    if info is None:
        return ConfigError(_sentence_of(message), field=str(context.get("field", "")) or None)
    title = f"{info.title} ({name})" if info.title else name
    text = complaint(info, kind, message=message, context=context)
    return ConfigError(f"{title}: {text}", hint=info.description or "", field=name)


def _located(loc: list[str], model: type[BaseModel]) -> tuple[list[str], type[BaseModel], FieldInfo | None]:
    """Return the path of a complaint as far as fields go, the model it ends in, and its last known field."""
    path: list[str] = []
    info: FieldInfo | None = None
    inner: type[BaseModel] = model
    for part in loc:
        if path and (info is None or not _is_model(info.annotation)):
            break
        if path and info is not None:
            inner = info.annotation  # type: ignore[assignment]  # a model, as just checked
        path.append(part)
        info = inner.model_fields.get(part)
    return path, inner, info


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


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
        most, least = ((context or {}).get(name) for name in ("max_length", "min_length"))
        if most:
            return f"Enter at most {most:,} characters."
        return f"Enter at least {'one character' if least in (None, 1) else f'{least:,} characters'}."
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
        sign: _number(getattr(limit, sign))
        for limit in info.metadata
        for sign in ("ge", "gt", "le", "lt")
        if getattr(limit, sign, None) is not None
    }
    if {"ge", "le"} <= set(found):
        return f"from {found['ge']} to {found['le']}"
    words = {"ge": "of at least", "gt": "above", "le": "at most", "lt": "below"}
    return " and ".join(f"{words[sign]} {found[sign]}" for sign in words if sign in found)


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"


def _kinds(info: FieldInfo) -> list[Any]:
    """Return the types of a field without None; the choices of a literal."""
    kinds = [kind for kind in get_args(info.annotation) or (info.annotation,) if kind is not NoneType]
    inner = kinds[0] if len(kinds) == 1 else None
    return list(get_args(inner)) if inner is not None and get_origin(inner) is Literal else kinds


def _sentence_of(message: str) -> str:
    text = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return text[:1].upper() + text[1:].rstrip(".") + "."
