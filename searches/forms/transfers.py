"""The form that starts a transfer: whose sets, which of them, whom to ask, how often."""

from typing import Any

from django import forms
from django.db.models import Model
from django.http import QueryDict

from searches.enums import FindingState
from searches.forms.fields import RowsField
from searches.forms.run import form_field
from searches.models import SearchRun, SutRecord
from searches.services.concept_runs import concept_runs
from searches.services.follow_ups import FollowUpWish
from searches.services.transfer_wishes import DEFAULT_TOP, MOST_TOP, source_runs, transfer_wish
from vlmlab.core.errors import VlmLabError
from vlmlab.core.verdicts.config import TransferConfig
from vlmlab.web.numbers import write_many

MOST_RUNS = 30
SETTINGS = ("scenes", "random_sets", "spend_cap_usd")
ONLY = (
    ("", "All but refuted ones, confirmed first"),
    (FindingState.CONFIRMED.value, "Confirmed ones only"),
    (FindingState.SUSPECTED.value, "Suspected ones only"),
)


class RunsField(RowsField):
    """Searches to take sets from, each with what it found."""

    def label_from_instance(self, obj: Model) -> str:
        """Return the run in words."""
        assert isinstance(obj, SearchRun)
        found = write_many(obj.n_modes, "failure mode")
        return f"Run {obj.pk}: {obj.sut.name}, {obj.campaign.name}, {found}"


class TransferForm(forms.Form):
    """Whose sets are asked of whom; ``cleaned_data["wish"]`` is the follow-up."""

    runs = RunsField(
        queryset=SearchRun.objects.none(),
        label="Sets of",
        widget=forms.CheckboxSelectMultiple,
        help_text="Searches on one version of one domain; several of one system are taken together.",
        error_messages={
            "required": "Choose at least one run.",
            "invalid_choice": "One of these runs is gone, or has found nothing.",
            "invalid_pk_value": "One of these runs is gone.",
        },
    )
    targets = RowsField(
        queryset=SutRecord.objects.none(),
        label="Asked of",
        widget=forms.CheckboxSelectMultiple,
        help_text="All see the same scenes. Choose the sources too: their own sets are measured again.",
        error_messages={"required": "Choose at least one system."},
    )
    top = forms.IntegerField(
        label="Sets a system",
        min_value=1,
        max_value=MOST_TOP,
        help_text="The best of each source: confirmed first, then by failure rate.",
        error_messages=dict.fromkeys(
            ("required", "invalid", "min_value", "max_value"), f"Enter a whole number from 1 to {MOST_TOP}."
        ),
    )
    only = forms.ChoiceField(label="Which findings", choices=ONLY, required=False)
    name = forms.CharField(
        label="Name", max_length=120, required=False, help_text="Left empty, it says who is asked."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        runs, targets = self.fields["runs"], self.fields["targets"]
        assert isinstance(runs, forms.ModelMultipleChoiceField)
        assert isinstance(targets, forms.ModelMultipleChoiceField)
        newest = concept_runs().filter(n_modes__gt=0).order_by("-pk").values_list("pk", flat=True)
        offered = {*list(newest[:MOST_RUNS]), *_numbers(self.initial.get("runs"))}
        if self.is_bound:
            data = self.data
            offered |= set(
                _numbers(data.getlist("runs") if isinstance(data, QueryDict) else data.get("runs"))
            )
        rows = concept_runs().filter(pk__in=offered, n_modes__gt=0)
        runs.queryset = rows.select_related("sut", "campaign").order_by("-pk")
        targets.queryset = SutRecord.objects.filter(is_enabled=True).order_by("name")
        for name in SETTINGS:
            self.fields[name] = form_field(TransferConfig.model_fields[name], name, concepts=[])

    def clean(self) -> dict[str, Any]:
        """Build the follow-up; what is wrong with it stands at its field."""
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                cleaned["wish"] = self._wish(cleaned)
            except VlmLabError as error:
                self.add_error(error.field if error.field in self.fields else None, str(error))
        return cleaned

    def _wish(self, cleaned: dict[str, Any]) -> FollowUpWish:
        values = {name: cleaned[name] for name in SETTINGS if cleaned[name] is not None}
        return transfer_wish(
            source_runs([run.pk for run in cleaned["runs"]]),
            list(cleaned["targets"]),
            top=cleaned["top"],
            only=cleaned["only"],
            values=values,
            name=cleaned["name"],
        )


def initial_values(runs: list[int]) -> dict[str, Any]:
    """Return what the form shows before anything was entered: given runs, all systems."""
    defaults = TransferConfig()
    return {name: getattr(defaults, name) for name in SETTINGS} | {
        "runs": runs,
        "targets": list(SutRecord.objects.filter(is_enabled=True).values_list("pk", flat=True)),
        "top": DEFAULT_TOP,
        "only": "",
    }


def _numbers(values: Any) -> list[int]:
    return [
        int(one) for one in values or [] if str(one).isascii() and str(one).isdigit() and len(str(one)) < 19
    ]
