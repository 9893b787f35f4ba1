"""The format of log lines; it takes secrets out of the finished line, tracebacks included."""

import logging
import re
from collections.abc import Sequence
from typing import Any

from vlmlab.web.secrets_seen import HIDDEN, without_secrets

SIGN_IN_LINK = re.compile(r"(/sign-in/[^/\s]+/)[^/\s]+")
API_TOKEN = re.compile(r"\bvlm_[A-Za-z0-9_-]{20,}")
URL_PASSWORD = re.compile(r"(\w://[^:@/\s]*:)[^@/\s]+(?=@)")


class RedactingFormatter(logging.Formatter):
    """Replaces one-time tokens, passwords in URLs, given secrets and those that this process has opened.

    It is the formatter and not a filter because a traceback becomes text only here.
    """

    def __init__(self, *args: Any, secrets: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._secrets = tuple(secret for secret in secrets if secret)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without secrets."""
        line = super().format(record)
        for secret in self._secrets:
            line = line.replace(secret, HIDDEN)
        line = without_secrets(line)
        line = SIGN_IN_LINK.sub(rf"\1{HIDDEN}", line)
        line = API_TOKEN.sub(f"vlm_{HIDDEN}", line)
        return URL_PASSWORD.sub(rf"\1{HIDDEN}", line)
