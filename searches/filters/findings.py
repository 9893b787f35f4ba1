"""The filter bar of the list of findings."""

import json
import re
from collections.abc import Mapping
from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet

from searches.enums import Direction, Minimality, TriageStatus
from searches.filters.runs import action_choices
from searches.models import Finding, SutRecord
from searches.services.domain_store import current_domains
from searches.services.finding_lists import COLLAPSED
from searches.services.notes import known_tags
from vlmlab.core.scenes.concepts import Concept
from vlmlab.web.asked import LARGEST


class FindingFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """Concept words, system, domain, direction, expected answer, size, tags; larger sets are left out.

    ``minimal=off`` shows the larger ones too: an unchecked box sends nothing, so the form sends "off" first.
    """

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
    minimality = django_filters.ChoiceFilter(
        choices=[("unknown", "Not tested"), *[one for one in Minimality.choices if one[0]]],
        method="of_minimality",
        empty_label="Minimal or not",
        label="Minimal",
    )
    triage = django_filters.ChoiceFilter(
        choices=TriageStatus.choices, empty_label="Any status", label="Status"
    )
    tag = django_filters.ChoiceFilter(method="with_tag", empty_label="Any tag", label="Tag", choices=[])
    minimal = django_filters.CharFilter(method="without_larger", label="Collapse larger sets")
    run = django_filters.NumberFilter(
        field_name="run_id", label="Run", widget=forms.HiddenInput(), max_value=LARGEST
    )

    class Meta:
        model = Finding
        fields: list[str] = []

    def __init__(self, data: Mapping[str, Any] | None = None, *args: Any, **kwargs: Any) -> None:
        values = {name: data[name] for name in data} if data else {}  # of several values the last one
        super().__init__(values | {"minimal": values.get("minimal") or "on"}, *args, **kwargs)
        self.filters["sut"].extra["choices"] = list(
            SutRecord.objects.order_by("name").values_list("pk", "name")
        )
        domains = current_domains()
        self.filters["domain"].extra["choices"] = [(domain.slug, domain.title) for domain in domains]
        self.filters["expected"].extra["choices"] = action_choices(domains)
        self.filters["tag"].extra["choices"] = [(tag, tag) for tag in known_tags()]

    def with_concepts(self, rows: QuerySet[Finding], name: str, value: str) -> QuerySet[Finding]:
        """Keep sets that contain a concept for every word; ``cone + fog`` asks for both."""
        return having_concepts(rows, value)

    def of_minimality(self, rows: QuerySet[Finding], name: str, value: str) -> QuerySet[Finding]:
        """Keep findings of which an ablation said so, or that none looked at."""
        return rows.filter(minimality="" if value == "unknown" else value)

    def with_tag(self, rows: QuerySet[Finding], name: str, value: str) -> QuerySet[Finding]:
        """Keep findings with a tag."""
        return having_tag(rows, value)

    def without_larger(self, rows: QuerySet[Finding], name: str, value: str) -> QuerySet[Finding]:
        """Leave out sets that contain a smaller finding of the same run; any word but "on" keeps them."""
        return rows.exclude(COLLAPSED) if value == "on" else rows


def having_concepts(rows: QuerySet[Finding], words: str) -> QuerySet[Finding]:
    """Keep findings that contain a concept for every word."""
    for ids in concepts_meant(words):
        # JSON containment is not portable; quotes keep "cone" from matching "traffic_cone".
        any_of = Q(pk__in=[])
        for one in ids:
            any_of |= Q(concepts__icontains=f'"{one}"')
        rows = rows.filter(any_of)
    return rows


def having_tag(rows: QuerySet[Finding], tag: str) -> QuerySet[Finding]:
    """Keep findings with a tag, whatever the case of its letters."""
    # JSON containment is not portable, and databases differ in how they write other letters than ASCII.
    return rows.filter(Q(tags__icontains=json.dumps(tag)) | Q(tags__icontains=f'"{tag}"'))


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
