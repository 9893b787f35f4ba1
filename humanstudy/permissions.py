"""Who may open which page of the human study (it has no pages yet)."""

from vlmlab.web.roles import Role

PERMISSIONS: dict[str, frozenset[Role]] = {}
