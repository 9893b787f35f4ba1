"""The filter bar of the runs of a modality search: what a click on a figure asks for."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import django_filters
from django.db.models import Q, QuerySet

from searches.enums import FindingState, ModalityStatus, RegimeName
from searches.models import Campaign, ModalityRun
from searches.services.modality_outcomes import (
    CRITERION_WORDS,
    FAILING_OUTCOMES,
    OUTCOMES,
    having_outcome,
    thresholds_of,
)
from searches.services.seed_plans import NO_STRATUM, scene_type_title
from searches.services.strategy_bars import operator_names, operator_title
from vlmlab.web.asked import asked_number

MOST_SHOWN = 60
MOST_REPLICATES = 1000

CRITERIA = {one.value.lower(): f"Fails by {one.value}: {words}" for one, words in CRITERION_WORDS.items()}


class ModalityRunFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """System, stratum, regime, label, status, outcome of the run, and an operator that acts in its case."""

    sut = django_filters.ChoiceFilter(
        field_name="sut__slug", empty_label="All systems", label="System", choices=[]
    )
    regime = django_filters.ChoiceFilter(
        choices=RegimeName.choices, empty_label="All regimes", label="Regime"
    )
    stratum = django_filters.ChoiceFilter(
        empty_label="All scene types", label="Scene type", choices=[], method="in_stratum"
    )
    label = django_filters.ChoiceFilter(empty_label="All labels", label="Label", choices=[])
    outcome = django_filters.ChoiceFilter(
        choices=[*OUTCOMES.items(), *((name, CRITERIA[name]) for name in FAILING_OUTCOMES)],
        empty_label="Any outcome",
        label="Outcome",
        method="with_outcome",
    )
    status = django_filters.ChoiceFilter(
        choices=ModalityStatus.choices, empty_label="Any status", label="Status"
    )
    state = django_filters.ChoiceFilter(
        choices=FindingState.choices,
        empty_label="Any state",
        label="State of the case",
        method="with_state",
    )
    operator = django_filters.ChoiceFilter(
        choices=[(name, operator_title(name)) for name in operator_names()],
        empty_label="Any operator",
        label="Operator acting in the case",
        method="with_operator",
    )
    replicate = django_filters.ChoiceFilter(empty_label="All replicates", label="Replicate", choices=[])

    class Meta:
        model = ModalityRun
        fields: list[str] = []

    def __init__(
        self, data: Mapping[str, Any] | None = None, *args: Any, campaign: Campaign, **kwargs: Any
    ) -> None:
        super().__init__(data, *args, **kwargs)
        self.iou_threshold = thresholds_of(campaign).iou
        runs = campaign.modality_runs.order_by()
        self.filters["sut"].extra["choices"] = list(
            runs.values_list("sut__slug", "sut__name").distinct().order_by("sut__name")
        )
        strata = runs.values_list("stratum", flat=True).distinct().order_by("stratum")
        self.filters["stratum"].extra["choices"] = [
            (one or NO_STRATUM, scene_type_title(one)) for one in strata
        ]
        replicates = asked_number(str(campaign.plan.get("replicates", 1)), largest=MOST_REPLICATES) or 1
        if replicates > 1:
            named = [(str(number), f"Replicate {number + 1}") for number in range(replicates)]
            self.filters["replicate"].extra["choices"] = named
        else:
            del self.filters["replicate"]
        labels = runs.values_list("label", flat=True).distinct().order_by("label")
        self.filters["label"].extra["choices"] = [(one, one) for one in labels]

    @property
    def notes(self) -> list[str]:
        """What of the address was not understood, one sentence a filter; such a filter is left out."""
        return [
            f"{self.filters[name].label}: “{_shown(self.data.get(name))}” is none of this campaign, so this "
            "filter is left out."
            for name in self.form.errors
        ]

    @property
    def has_all_replicates(self) -> bool:
        """Whether places stand here several times, of which figures count one at a time."""
        return "replicate" in self.filters and "replicate" not in self._chosen

    @property
    def is_narrowed(self) -> bool:
        """Whether any filter holds rows back."""
        return bool(self._chosen)

    @property
    def query(self) -> str:
        """The filters as the part of an address behind ``?``; "" without any."""
        return urlencode(self._chosen)

    @property
    def _chosen(self) -> dict[str, object]:
        """What of the address was understood, by name."""
        if not self.form.is_bound:
            return {}
        self.form.is_valid()
        values = {name: self.form.cleaned_data.get(name) for name in self.filters}
        return {name: value for name, value in values.items() if value not in ("", None)}

    def in_stratum(self, rows: QuerySet[ModalityRun], name: str, value: str) -> QuerySet[ModalityRun]:
        """Keep runs on pictures of one scene type."""
        return rows.filter(stratum="" if value == NO_STRATUM else value)

    def with_outcome(self, rows: QuerySet[ModalityRun], name: str, value: str) -> QuerySet[ModalityRun]:
        """Keep runs that ended in one way, or that fail by a criterion."""
        return rows.filter(having_outcome(value, iou_threshold=self.iou_threshold))

    def with_state(self, rows: QuerySet[ModalityRun], name: str, value: str) -> QuerySet[ModalityRun]:
        """Keep runs whose returned case is a failure in one state of confirmation."""
        return rows.filter(Q(returned__is_failure=True, returned__state=value))

    def with_operator(self, rows: QuerySet[ModalityRun], name: str, value: str) -> QuerySet[ModalityRun]:
        """Keep runs whose returned case has an operator at a severity above 0."""
        return rows.filter(Q(**{f"returned__severities__{value}__gt": 0}))


def _shown(value: object) -> str:
    text = str(value or "")
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
