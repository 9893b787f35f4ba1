"""What the pages that explain failures count, and from where it counts as something."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django import forms

from searches.services.explain_coverage import PlanWish
from searches.services.explain_sets import Source
from searches.services.explain_systems import LEAST_SETS, LEAST_SYSTEMS, MEASURES, Measure
from vlmlab.core.verdicts.regimes import RegimeThresholds

SOURCES = (("all", "Searches and fresh scenes"), ("search", "Searches only"), ("fresh", "Fresh scenes only"))
BASES = (("alone", "Valid sets of their own"), ("together", "All that can occur together"))
DEFAULTS = RegimeThresholds()
MOST_CALLS = 100_000


class ExplainForm(forms.Form):
    """A bar of choices; what an address does not say is the default."""

    source = forms.ChoiceField(label="Answers", choices=SOURCES, initial="all")

    def __init__(self, said: Mapping[str, Any]) -> None:
        named = {
            name: said.get(name) if said.get(name) not in (None, "") else field.initial
            for name, field in type(self).base_fields.items()
        }
        super().__init__(named)

    @property
    def source_chosen(self) -> Source:
        """Whose answers count; a wrong value counts as not said."""
        self.is_valid()
        return cast(Source, self.cleaned_data.get("source") or "all")

    def number(self, name: str) -> int:
        """Return a whole number that was said, or the default where it was wrong."""
        self.is_valid()
        said = self.cleaned_data.get(name)
        return int(said if said is not None else self.fields[name].initial)


class ConceptForm(ExplainForm):
    """Where regimes begin, in percent, and how many sets a concept needs."""

    reasoning = forms.IntegerField(
        label="Seen from R, %", min_value=1, max_value=100, initial=round(100 * DEFAULTS.reasoning)
    )
    recognition = forms.IntegerField(
        label="Unseen to R, %", min_value=0, max_value=99, initial=round(100 * DEFAULTS.recognition)
    )
    low_failure = forms.IntegerField(
        label="Low F below, %", min_value=0, max_value=100, initial=round(100 * DEFAULTS.low_failure)
    )
    least_sets = forms.IntegerField(
        label="Sets needed", min_value=1, max_value=10_000, initial=DEFAULTS.least_sets
    )

    def clean(self) -> dict[str, Any]:
        """Check that both thresholds of R are in order."""
        said = super().clean() or {}
        low, high = said.get("recognition"), said.get("reasoning")
        if low is not None and high is not None and low >= high:
            self.add_error("recognition", f"Enter less than {high} %, from where concepts are recognised.")
        return said

    @property
    def thresholds(self) -> RegimeThresholds:
        """The thresholds; the defaults where something is wrong."""
        if not self.is_valid():
            return DEFAULTS
        said = self.cleaned_data
        return RegimeThresholds(
            reasoning=said["reasoning"] / 100,
            recognition=said["recognition"] / 100,
            low_failure=said["low_failure"] / 100,
            least_sets=said["least_sets"],
        )


class PairForm(ExplainForm):
    """How many sets a pair needs."""

    least_sets = forms.IntegerField(
        label="Sets needed", min_value=1, max_value=10_000, initial=DEFAULTS.least_sets
    )


class SystemsForm(ExplainForm):
    """Domain, measure, and how much a cell and a row need."""

    domain = forms.ChoiceField(label="Domain", required=False)
    measure = forms.ChoiceField(label="Show", choices=list(MEASURES.items()), initial="failure")
    least_sets = forms.IntegerField(label="Sets a cell", min_value=1, max_value=10_000, initial=LEAST_SETS)
    least_systems = forms.IntegerField(
        label="Systems a concept", min_value=1, max_value=1_000, initial=LEAST_SYSTEMS
    )

    def __init__(self, said: Mapping[str, Any], *, domains: Sequence[tuple[str, str]]) -> None:
        super().__init__(said)
        self._domains = [ref for ref, _ in domains]
        field = self.fields["domain"]
        if isinstance(field, forms.ChoiceField):
            field.choices = list(domains)
        self.data = {**self.data, "domain": said.get("domain") or (self._domains or [""])[0]}

    @property
    def domain_chosen(self) -> str:
        """The version of the domain; the first where none of them was said."""
        self.is_valid()
        return str(self.cleaned_data.get("domain") or self._domains[0])

    @property
    def least_systems_chosen(self) -> int:
        """Systems that a concept needs."""
        return self.number("least_systems")

    @property
    def measure_chosen(self) -> Measure:
        """What the cells hold."""
        self.is_valid()
        return cast(Measure, self.cleaned_data.get("measure") or "failure")


class CoverageForm(ExplainForm):
    """Which parts are counted, and what a plan may spend."""

    basis = forms.ChoiceField(label="Count", choices=BASES, initial="alone")
    calls = forms.IntegerField(label="More calls", min_value=1, max_value=MOST_CALLS, initial=200)
    samples = forms.IntegerField(label="Scenes a set", min_value=1, max_value=1_000, initial=5)
    largest = forms.IntegerField(label="Largest set", min_value=1, max_value=20, initial=3)

    @property
    def is_alone(self) -> bool:
        """Whether only parts that are valid sets themselves are counted."""
        self.is_valid()
        return self.cleaned_data.get("basis") != "together"

    @property
    def wish(self) -> PlanWish:
        """What the plan may spend."""
        return PlanWish(self.number("calls"), self.number("samples"), self.number("largest"))
