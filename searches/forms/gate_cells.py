"""A row of the form of an operating envelope: one cell."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.forms import formset_factory

from searches.services.envelope_text import check_alternatives, read_group, read_sets, write_group, write_sets
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.verdicts.envelope import MOST_CELLS, EnvelopeCell, WeightedSet

COUNTED = {
    "reaction": ("under-reaction", "insufficient", "over-reaction"),
    "hazard": ("missed-hazard", "over-caution"),
}
MOST_TEXT = 4_000


class CellForm(forms.Form):
    """One cell: what belongs to it, which errors count, the limit, weights."""

    title = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"placeholder": "Near obstacles"}))
    id = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)
    includes = forms.CharField(
        label="A set has at least one of each line",
        required=False,
        max_length=MOST_TEXT,
        widget=forms.Textarea(
            attrs={"rows": 3, "spellcheck": "false", "placeholder": "all Obstacles\nall Weather"}
        ),
        help_text="Concepts of a line stand between semicolons; “all Weather” is a whole group.",
    )
    excludes = forms.CharField(
        label="And none of", required=False, max_length=MOST_TEXT, help_text="Between semicolons."
    )
    counts = forms.MultipleChoiceField(
        label="Errors that count",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=[],
        help_text="None ticked: every wrong answer, invalid ones included.",
    )
    limit = forms.FloatField(min_value=0.001, max_value=99, initial=2, help_text="Stay below.")
    limit.unit = "% of scenes"  # type: ignore[attr-defined]  # read by the field component
    errors_allowed = forms.IntegerField(
        min_value=0, max_value=1_000, initial=0, help_text="More need more scenes, and forgive bad luck."
    )
    requirement = forms.CharField(required=False, max_length=60, help_text="Its id in your own list.")
    exposure = forms.FloatField(
        min_value=0, max_value=1e9, initial=1, help_text="How often the cell is met, beside the others."
    )
    harm = forms.FloatField(
        min_value=0, max_value=1e9, initial=1, help_text="How bad an error is, beside the others."
    )
    min_size = forms.IntegerField(label="Smallest set", min_value=1, max_value=20, initial=1)
    max_size = forms.IntegerField(label="Largest set", required=False, min_value=1, max_value=20)
    spread = forms.ChoiceField(
        label="Drawn from",
        choices=[("sizes", "each size as often"), ("sets", "each set as often")],
        initial="sizes",
        help_text="Most sets of a domain are large ones.",
    )
    expected_actions = forms.MultipleChoiceField(
        label="Only where expected", required=False, widget=forms.CheckboxSelectMultiple, choices=[]
    )
    sets = forms.CharField(
        label="Only these sets",
        required=False,
        max_length=MOST_TEXT,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "placeholder": "Cone; near : 2"}),
        help_text="One a line, with a weight behind a colon; empty: all that fit.",
    )

    def __init__(self, *args: Any, domain: Domain, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.domain = domain
        counts, actions = self.fields["counts"], self.fields["expected_actions"]
        assert isinstance(counts, forms.MultipleChoiceField)
        assert isinstance(actions, forms.MultipleChoiceField)
        words = [*COUNTED[domain.error_words], "invalid"]
        counts.choices = [(one, one.capitalize()) for one in words]
        actions.choices = list(domain.actions.items())

    @property
    def main(self) -> list[forms.BoundField]:
        """The numbers that every cell needs."""
        return [self[name] for name in ("limit", "errors_allowed", "requirement", "exposure", "harm")]

    @property
    def has_fine_errors(self) -> bool:
        """Whether something is wrong below the fold."""
        names = ("excludes", "min_size", "max_size", "spread", "expected_actions", "sets")
        return any(self.errors.get(name) for name in names)

    @property
    def is_fine_used(self) -> bool:
        """Whether something below the fold is set."""
        stored = self.initial
        return bool(stored.get("excludes") or stored.get("sets") or stored.get("expected_actions"))

    def clean_includes(self) -> tuple[tuple[str, ...], ...]:
        """Return the groups, one a line."""
        lines = [line for line in self.cleaned_data["includes"].splitlines() if line.strip()]
        for line in lines:
            self._refuse_pairs(line)
        return tuple(group for line in lines if (group := self._group(line)))

    def clean_excludes(self) -> tuple[str, ...]:
        """Return the concepts that no set may have."""
        return self._group(" ".join(self.cleaned_data["excludes"].split("\n")))

    def clean_sets(self) -> tuple[WeightedSet, ...]:
        """Return the sets that the cell names itself."""
        try:
            return read_sets(self.domain, self.cleaned_data["sets"])
        except VlmLabError as error:
            raise forms.ValidationError(str(error)) from error

    def _refuse_pairs(self, line: str) -> None:
        try:
            check_alternatives(self.domain, line)
        except VlmLabError as error:
            raise forms.ValidationError(str(error)) from error

    def _group(self, text: str) -> tuple[str, ...]:
        try:
            return read_group(self.domain, text)
        except VlmLabError as error:
            raise forms.ValidationError(str(error)) from error

    def values(self, cell_id: str) -> dict[str, Any]:
        """Return the cell as the core reads it; of a valid form."""
        cleaned = self.cleaned_data
        plain = (
            "title",
            "requirement",
            "errors_allowed",
            "exposure",
            "harm",
            "min_size",
            "max_size",
            "spread",
        )
        return {name: cleaned[name] for name in plain} | {
            "id": cell_id,
            "includes": cleaned["includes"],
            "excludes": cleaned["excludes"],
            "counts": tuple(cleaned["counts"]),
            "expected_actions": tuple(cleaned["expected_actions"]),
            "limit": cleaned["limit"] / 100,
            "sets": [one.model_dump() for one in cleaned["sets"]],
        }


CellFormSet = formset_factory(
    CellForm, extra=0, min_num=1, max_num=MOST_CELLS, absolute_max=MOST_CELLS, can_delete=True
)


def cell_values(domain: Domain, cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the form of a cell shows."""
    read = EnvelopeCell.model_validate(dict(cell))
    return {
        "id": read.id,
        "title": read.title,
        "requirement": read.requirement,
        "includes": "\n".join(write_group(domain, group) for group in read.includes),
        "excludes": write_group(domain, read.excludes),
        "counts": list(read.counts),
        "limit": round(read.limit * 100, 6),
        "errors_allowed": read.errors_allowed,
        "exposure": read.exposure,
        "harm": read.harm,
        "min_size": read.min_size,
        "max_size": read.max_size,
        "spread": read.spread,
        "expected_actions": list(read.expected_actions),
        "sets": write_sets(domain, read.sets),
    }
