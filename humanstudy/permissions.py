"""Who may open which page of the human study; pages of participants need no sign-in (it has no pages yet)."""

from vlmlab.web.roles import Role

# Pages whose address is the credential: it holds a participant's link, which no other site can know. They set
# no cookie and need none, so they work in a frame of a platform, and they take posts without the CSRF token.
CAPABILITIES: frozenset[str] = frozenset()

# Pages that anybody may open: they tell what a study is before somebody agrees to take part.
PUBLIC: frozenset[str] = CAPABILITIES

PERMISSIONS: dict[str, frozenset[Role]] = {}
