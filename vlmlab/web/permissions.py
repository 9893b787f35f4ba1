"""Who may open which page: the pages shared by all apps, and the merged table of the whole site.

The table is closed by default: a URL name that stands in no table is refused to everybody.
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from vlmlab.web.roles import ADMINS, EVERYBODY, READERS, Role

# Pages that need no sign-in; an app adds its own as ``PUBLIC`` of its table. Their views carry
# ``login_not_required`` as well; a test holds the two together.
PUBLIC: frozenset[str] = frozenset({"healthz", "login", "sign_in", "api_schema"})

PERMISSIONS: dict[str, frozenset[Role]] = {
    "logout": EVERYBODY,
    "password_set": EVERYBODY,
    "token_list": READERS,
    "token_create": READERS,
    "token_revoke": READERS,
    "people_list": ADMINS,
    "person_create": ADMINS,
    "person_edit": ADMINS,
    "person_link": ADMINS,
    "audit_list": ADMINS,
    "worker_list": READERS,
}


@lru_cache(maxsize=1)
def public_pages() -> frozenset[str]:
    """Return the URL names that need no sign-in, merged from ``settings.PERMISSION_TABLES``."""
    tables = (import_module(name) for name in settings.PERMISSION_TABLES)
    return PUBLIC.union(*(getattr(table, "PUBLIC", frozenset()) for table in tables))


@lru_cache(maxsize=1)
def permission_table() -> Mapping[str, frozenset[Role]]:
    """Return URL name -> roles that may open it, merged from ``settings.PERMISSION_TABLES``.

    Raises:
        ImproperlyConfigured: two tables disagree on a name, or a public page stands in a table.
    """
    merged: dict[str, frozenset[Role]] = {}
    for module_name in settings.PERMISSION_TABLES:
        table: Mapping[str, frozenset[Role]] = import_module(module_name).PERMISSIONS
        for name, roles in table.items():
            if name in public_pages():
                raise ImproperlyConfigured(f"{module_name} restricts the public page {name!r}")
            if merged.setdefault(name, roles) != roles:
                raise ImproperlyConfigured(f"{module_name} disagrees with another table on {name!r}")
    return merged


def may_open(role: str, url_name: str) -> bool:
    """Whether a person with ``role`` may open the page called ``url_name``."""
    return url_name in public_pages() or role in permission_table().get(url_name, frozenset())
