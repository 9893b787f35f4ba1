"""The filter bar of the list of findings."""

import re
from collections.abc import Mapping
from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet

from searches.enums import Direction
from searches.filters.runs import action_choices
from searches.models import Finding, SutRecord
from searches.services.domain_store import current_domains
from vlmlab.core.scenes.concepts import Concept
from vlmlab.web.asked import LARGEST


class FindingFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """Concept words, system, domain, direction, expected answer, size; larger sets can be left out."""

    q = django_filters.CharFilter(
        method="with_concepts",
        label="Concepts",
        widget=forms.TextInput(attrs={"placeholder": "Concepts, such as fog"}),
    )
    sut = django_filters.ChoiceFilter(
        field_name="sut_id", empty_label="All systems", label="System", choices=[]
    )
    domain = django_filters.ChoiceFilter(empty_label="All domains", label="Domain", choices=[])
    direction = django_filters.ChoiceFilter(
        choices=[(value, label) for value, label in Direction.choices if value],
        empty_label="Any direction",
        label="Direction of the error",
    )
    expected = django_filters.ChoiceFilter(
        field_name="expected_action",
        empty_label="Any expected answer",
        label="Expected answer",
        choices=[],
    )
    size = django_filters.ChoiceFilter(
        choices=[(number, f"{number} concept{'s' if number > 1 else ''}") for number in range(1, 6)],
        empty_label="Any size",
        label="Size",
    )
    minimal = django_filters.BooleanFilter(
        method="without_larger", label="Collapse larger sets", widget=forms.CheckboxInput()
    )
    run = django_filters.NumberFilter(
        field_name="run_id", label="Run", widget=forms.HiddenInput(), max_value=LARGEST
    )

    class Meta:
        model = Finding
        fields: list[str] = []

    def __init__(self, data: Mapping[str, Any] | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(data, *args, **kwargs)
        self.filters["sut"].extra["choices"] = list(
            SutRecord.objects.order_by("name").values_list("pk", "name")
        )
        domains = current_domains()
        self.filters["domain"].extra["choices"] = [(domain.slug, domain.title) for domain in domains]
        self.filters["expected"].extra["choices"] = action_choices(domains)

    def with_concepts(self, rows: QuerySet[Finding], name: str, value: str) -> QuerySet[Finding]:
        """Keep sets that contain a concept for every word; ``cone + fog`` asks for both."""
        return having_concepts(rows, value)

    def without_larger(self, rows: QuerySet[Finding], name: str, value: bool | None) -> QuerySet[Finding]:  # noqa: FBT001 - django-filter's signature
        """Leave out sets that contain a smaller finding of the same run."""
        return rows.filter(is_minimal_in_run=True) if value else rows


def having_concepts(rows: QuerySet[Finding], words: str) -> QuerySet[Finding]:
    """Keep findings that contain a concept for every word."""
    for ids in concepts_meant(words):
        # JSON containment is not portable; quotes keep "cone" from matching "traffic_cone".
        any_of = Q(pk__in=[])
        for one in ids:
            any_of |= Q(concepts__icontains=f'"{one}"')
        rows = rows.filter(any_of)
    return rows


def concepts_meant(text: str) -> list[list[str]]:
    """Return, for each word of a search, the ids of the concepts whose label or id contains it.

    ``heavy rain`` is one concept; ``cone fog`` names none as a whole, so each word is looked up alone.
    """
    concepts = [one for domain in current_domains() for one in domain.concepts]
    meant = []
    for part in re.split(r"[+,]", text.lower()):
        whole = _named_like(" ".join(part.split()), concepts)
        meant += [whole] if whole else [_named_like(word, concepts) for word in part.split()]
    return meant


def _named_like(words: str, concepts: list[Concept]) -> list[str]:
    return [one.id for one in concepts if words and (words in one.label.lower() or words in one.id)]
