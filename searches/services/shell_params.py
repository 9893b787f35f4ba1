"""Settings that are written at a shell: ``key=value``, with dots that reach into groups of settings."""

import json
from typing import Any

from pydantic import BaseModel

from vlmlab.core.errors import ConfigError


def read_param(text: str) -> tuple[str, str]:
    """Return name and value of ``KEY=VALUE``.

    Raises:
        ConfigError: there is no ``=``, or no name before it.
    """
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise ConfigError(f"--param needs KEY=VALUE, got “{text}”.", hint="Such as slots=4.")
    return name.strip(), value.strip()


def put_param(params: dict[str, Any], text: str, *, model: type[BaseModel]) -> None:
    """Put one ``key=value`` into the settings of a model.

    Raises:
        ConfigError: there is no ``=``, or the key reaches into something that is no group of settings.
    """
    path, sign, value = text.partition("=")
    names = path.strip().split(".")
    if not sign or not all(names):
        raise ConfigError(
            f"--param needs KEY=VALUE, got “{path}”.",
            hint="Such as model=gpt-5 or asking.convention.scale=1.",
        )
    place = params
    for name in names[:-1]:
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise ConfigError(f"{path} reaches into {name}, which has no settings of its own.", field=path)
    field = model.model_fields.get(names[0])
    is_text = len(names) == 1 and field is not None and field.annotation is str
    place[names[-1]] = value if is_text else _read(value)


def _read(value: str) -> Any:
    """Return a value as JSON, or as the text it is."""
    try:
        return json.loads(value)
    except ValueError:
        return value
