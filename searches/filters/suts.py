"""The filter bar of the list of systems."""

import django_filters
from django import forms
from django.db.models import Q, QuerySet

from searches.models import SutRecord
from searches.services.sut_health import HEALTH_LABELS, health_filter
from vlmlab.core.suts.kinds import SUT_KINDS


class SutFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """Name, kind, and how it is doing."""

    q = django_filters.CharFilter(
        method="named_like",
        label="Search",
        widget=forms.TextInput(attrs={"placeholder": "Name or short name"}),
    )
    kind = django_filters.ChoiceFilter(
        choices=[(kind.name, kind.title) for kind in SUT_KINDS.values()],
        empty_label="All kinds",
        label="Kind",
    )
    health = django_filters.ChoiceFilter(
        choices=list(HEALTH_LABELS.items()),
        empty_label="Every state",
        label="State",
        method="doing",
    )

    class Meta:
        model = SutRecord
        fields: list[str] = []

    def named_like(self, rows: QuerySet[SutRecord], name: str, value: str) -> QuerySet[SutRecord]:
        """Keep systems whose name or short name contains the text."""
        return rows.filter(Q(name__icontains=value) | Q(slug__icontains=value))

    def doing(self, rows: QuerySet[SutRecord], name: str, value: str) -> QuerySet[SutRecord]:
        """Keep systems that are doing so."""
        return rows.filter(health_filter(value))
