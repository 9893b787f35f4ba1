"""Reads settings from environment variables; one that cannot be read is a sentence, not a traceback."""

import logging
import warnings
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ

from vlmlab.core.errors import ConfigError

ENGINES = ("django.db.backends.sqlite3", "django.db.backends.postgresql")
KINDS = {int: "a whole number", float: "a number"}


class LabEnvironment(environ.Env):  # type: ignore[misc]  # environ ships no types
    """``environ.Env`` that names the variable it could not read."""

    def get_value(self, var: str, cast: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Return the value of a variable.

        Raises:
            ConfigError: it is set to something else than it may be.
        """
        try:
            return super().get_value(var, cast, *args, **kwargs)
        except (ValueError, TypeError) as error:
            text, kind = self.ENVIRON.get(var, "")[:80], KINDS.get(cast, "something else")
            raise ConfigError(
                f"{var} is “{text}”: it must be {kind}.",
                hint="Correct it, or unset it to use the default.",
                field=var,
            ) from error

    def database(self, var: str, default: str) -> dict[str, Any]:
        """Return the settings of the database that a URL names; unset and empty mean the default."""
        url = self.str(var, "") or default
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it would show the password
                found: dict[str, Any] = self.db_url_config(url)
        except (ValueError, KeyError, TypeError):
            found = {}
        if found.get("ENGINE") not in ENGINES or found.get("NAME") in (None, "", ":memory:"):
            raise ConfigError(
                f"{var} is not the address of a database.",
                hint="Use postgres://user:password@host:5432/name or sqlite:////folder/file.sqlite3, "
                "or unset it to keep everything in the data folder.",
                field=var,
            )
        return found

    def time_zone(self, var: str, default: str) -> str:
        """Return the name of a time zone that this machine knows."""
        name: str = self.str(var, default)
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ConfigError(
                f"{var} is “{name[:80]}”: there is no such time zone.",
                hint="An example is Europe/Berlin.",
                field=var,
            ) from error
        return name

    def log_level(self, var: str, default: str) -> str:
        """Return the name of a log level."""
        name: str = self.str(var, default).upper()
        if name not in logging.getLevelNamesMapping():
            raise ConfigError(
                f"{var} is “{name[:80]}”: there is no such log level.",
                hint="Use DEBUG, INFO, WARNING or ERROR.",
                field=var,
            )
        return name
