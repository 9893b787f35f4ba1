"""The four roles, and the shorthand sets that permission tables are written in."""

from django.db.models import TextChoices


class Role(TextChoices):
    """What a person may do; one role a person."""

    ADMIN = "admin", "Admin"
    RESEARCHER = "researcher", "Researcher"
    REVIEWER = "reviewer", "Reviewer"
    ANNOTATOR = "annotator", "Annotator"


ADMINS = frozenset({Role.ADMIN})
RESEARCHERS = frozenset({Role.ADMIN, Role.RESEARCHER})
READERS = frozenset({Role.ADMIN, Role.RESEARCHER, Role.REVIEWER})
EVERYBODY = frozenset(Role)
