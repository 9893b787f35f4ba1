"""The filter bars of the list of runs and of the sets of one run."""

from collections.abc import Iterable, Mapping
from typing import Any

import django_filters
from django.db.models import QuerySet

from searches.enums import LIVE_STATES, RunState, TrialStatus
from searches.models import SearchRun, SutRecord, Trial
from searches.services.concept_runs import concept_campaigns
from vlmlab.core.revelio.config import ALGORITHMS
from vlmlab.core.scenes.concepts import Domain

CAMPAIGNS = 200


class RunFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """State, system, algorithm, and the campaign that a form started."""

    state = django_filters.ChoiceFilter(
        choices=[("live", "Queued or running"), *RunState.choices],
        empty_label="Any state",
        label="State",
        method="in_state",
    )
    sut = django_filters.ChoiceFilter(
        field_name="sut_id", empty_label="All systems", label="System", choices=[]
    )
    algorithm = django_filters.ChoiceFilter(
        field_name="campaign__config__algorithm",
        choices=[(one, one) for one in ALGORITHMS],
        empty_label="Any algorithm",
        label="Algorithm",
    )
    campaign = django_filters.ChoiceFilter(
        field_name="campaign_id", empty_label="All campaigns", label="Campaign", choices=[]
    )

    class Meta:
        model = SearchRun
        fields: list[str] = []

    def __init__(self, data: Mapping[str, Any] | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(data, *args, **kwargs)
        self.filters["sut"].extra["choices"] = list(
            SutRecord.objects.order_by("name").values_list("pk", "name")
        )
        campaigns = concept_campaigns().order_by("-id").values_list("pk", "name")[:CAMPAIGNS]
        self.filters["campaign"].extra["choices"] = [(pk, f"{name} ({pk})") for pk, name in campaigns]

    def in_state(self, rows: QuerySet[SearchRun], name: str, value: str) -> QuerySet[SearchRun]:
        """Keep runs in one state, or those that are not at rest."""
        return rows.filter(state__in=LIVE_STATES) if value == "live" else rows.filter(state=value)


class TrialFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """Status, expected answer and size of the sets of one run."""

    status = django_filters.ChoiceFilter(
        choices=TrialStatus.choices, empty_label="Any status", label="Status"
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

    class Meta:
        model = Trial
        fields: list[str] = []

    def __init__(
        self, data: Mapping[str, Any] | None = None, *args: Any, domain: Domain, **kwargs: Any
    ) -> None:
        super().__init__(data, *args, **kwargs)
        self.filters["expected"].extra["choices"] = action_choices([domain])


def action_choices(domains: Iterable[Domain]) -> list[tuple[str, str]]:
    """Return the actions of all these domains."""
    labels: dict[str, str] = {}
    for domain in domains:
        labels |= domain.actions
    return list(labels.items())
