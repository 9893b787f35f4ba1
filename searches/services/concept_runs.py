"""The runs and campaigns over concept sets: what pages, lists and programs mean by a run without saying more.

Runs of modality searches come in thousands and have pages of their own.
"""

from django.db.models import QuerySet

from searches.enums import CONCEPT_METHOD
from searches.models import Campaign, SearchRun


def concept_runs() -> QuerySet[SearchRun]:
    """Return the runs of searches over concept sets."""
    return SearchRun.objects.filter(campaign__method=CONCEPT_METHOD)


def concept_campaigns() -> QuerySet[Campaign]:
    """Return the campaigns that search over concept sets."""
    return Campaign.objects.filter(method=CONCEPT_METHOD)
