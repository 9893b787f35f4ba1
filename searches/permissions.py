"""Who may open which page of the searches app."""

from vlmlab.web.roles import Role

PERMISSIONS: dict[str, frozenset[Role]] = {}
