"""What every template may use: theme, permissions, version, whether the queue is silent."""

from typing import Any

from django.http import HttpRequest

from vlmlab import __version__
from vlmlab.web.permissions import may_open
from vlmlab.web.queue_state import queue_state

THEMES = frozenset({"light", "dark"})


class PagePermissions:
    """``{% if may.run_create %}``: whether this person may open the page of that name."""

    def __init__(self, role: str) -> None:
        self._role = role

    def __getitem__(self, url_name: str) -> bool:
        return may_open(self._role, url_name)


def site(request: HttpRequest) -> dict[str, Any]:
    """Return ``theme`` ("light", "dark", "" for the system's), ``may``, ``version``, ``is_queue_silent``."""
    theme = request.COOKIES.get("theme", "")
    user = getattr(request, "user", None)
    return {
        "theme": theme if theme in THEMES else "",
        "may": PagePermissions(getattr(user, "role", "")),
        "version": __version__,
        "is_queue_silent": queue_state.is_silent,
    }
