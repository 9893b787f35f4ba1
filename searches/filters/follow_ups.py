"""The filter bar of the list of follow-ups."""

import django_filters
from django import forms
from django.db.models import QuerySet

from searches.enums import FollowUpName
from searches.models import Campaign, SutRecord
from vlmlab.web.asked import LARGEST


class FollowUpFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """Kind, system and the search that is followed."""

    kind = django_filters.ChoiceFilter(choices=FollowUpName.choices, empty_label="All kinds", label="Kind")
    sut = django_filters.ChoiceFilter(
        method="on_system", empty_label="All systems", label="System", choices=[]
    )
    follows = django_filters.NumberFilter(
        field_name="follows_id", label="Search", widget=forms.HiddenInput(), max_value=LARGEST
    )

    class Meta:
        model = Campaign
        fields: list[str] = []

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.filters["sut"].extra["choices"] = list(
            SutRecord.objects.order_by("name").values_list("pk", "name")
        )

    def on_system(self, rows: QuerySet[Campaign], name: str, value: str) -> QuerySet[Campaign]:
        """Keep follow-ups that ask a system."""
        return rows.filter(runs__sut_id=int(value)).distinct()
