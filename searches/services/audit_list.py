"""Looking through the audit table."""

from django.db.models import Q, QuerySet

from searches.models import AuditEntry


def entries_matching(word: str = "") -> QuerySet[AuditEntry]:
    """Return entries, newest first, whose actor, verb or object contains ``word``."""
    entries = AuditEntry.objects.order_by("-id")
    if not word:
        return entries
    return entries.filter(
        Q(actor_name__icontains=word)
        | Q(verb__icontains=word)
        | Q(object_type__icontains=word)
        | Q(object_label__icontains=word)
        | Q(object_id=word)
    )
