"""What of a modality campaign a page shows: the bar of choices above its numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from searches.services.modality_results import Reading
from searches.services.modality_tables import Choice
from searches.services.modality_tables_comparison import Side
from searches.services.seed_plans import NO_STRATUM, scene_type_title
from vlmlab.core.most.outcomes import FailureCriterion

READINGS = (("strict", "Strict reading"), ("lenient", "Lenient reading"))
CRITERIA = (("C1", "C1: wrong boxes"), ("C2", "C2: or empty"), ("C3", "C3: or malformed"))


class ChoiceForm(forms.Form):
    """System, scene type, criterion, reading, seed images and replicate; what is not said is the default."""

    sut = forms.ChoiceField(label="System", required=False)
    stratum = forms.ChoiceField(label="Scene type", required=False)
    criterion = forms.ChoiceField(label="Criterion", choices=CRITERIA, required=False)
    reading = forms.ChoiceField(label="Reading of replies", choices=READINGS, required=False)
    replicate = forms.ChoiceField(label="Replicate", required=False)
    common = forms.BooleanField(label="Only seed images eligible for every system", required=False)

    def __init__(
        self,
        data: Mapping[str, Any],
        *,
        suts: Sequence[tuple[str, str]],
        strata: Sequence[str],
        replicates: int,
        has_all_suts: bool = False,
    ) -> None:
        super().__init__(data)
        named = [(one or NO_STRATUM, scene_type_title(one)) for one in strata]
        numbers = [(str(number), f"Replicate {number + 1}") for number in range(replicates)]
        self._offer("sut", [("", "All systems"), *suts] if has_all_suts else suts)
        self._offer("stratum", [("", "All scene types"), *named])
        self._offer("replicate", numbers)
        self.has_several_suts = len(suts) > 1
        self.has_several_strata = len(strata) > 1
        self.has_replicates = replicates > 1
        self.first_sut = "" if has_all_suts or not suts else suts[0][0]

    @property
    def choice(self) -> Choice:
        """What was chosen; a wrong value counts as not said."""
        self.is_valid()
        said = self.cleaned_data
        return Choice(
            sut=said.get("sut") or self.first_sut,
            stratum=said.get("stratum") or "",
            criterion=FailureCriterion(said.get("criterion") or FailureCriterion.C1),
            reading="lenient" if said.get("reading") == "lenient" else "strict",
            common_seeds=bool(said.get("common")),
            replicate=int(said.get("replicate") or 0),
            has_replicates=self.has_replicates,
        )

    @property
    def notes(self) -> list[str]:
        """A sentence for each part of the address that was not understood."""
        return [f"{self.fields[name].label}: this campaign has no such choice." for name in self.errors]

    def _offer(self, name: str, choices: Sequence[tuple[str, str]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = list(choices)


def _likely_other(first: str, sides: Sequence[Side]) -> str:
    """Return the newest other side on the dataset of the first; "" where none can be compared with it."""
    dataset = next((side.dataset_id for side in sides if side.key == first), None)
    others = (side.key for side in sides if side.key != first and side.dataset_id == dataset)
    return next(others, "")


def _by_dataset(sides: Sequence[Side], dataset: int | None) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return sides as the groups of a list, one a dataset: only sides of one dataset can be compared.

    The dataset that is named comes first, then the others in the order of their newest campaigns.
    """
    groups: dict[int | None, list[Side]] = {}
    for side in sorted(sides, key=lambda one: one.dataset_id != dataset):
        groups.setdefault(side.dataset_id, []).append(side)
    return [(group[0].dataset_title, [(one.key, one.title) for one in group]) for group in groups.values()]


class SidesForm(forms.Form):
    """Two systems of modality campaigns, criterion and reading."""

    a = forms.ChoiceField(label="First")
    b = forms.ChoiceField(label="Second")
    criterion = forms.ChoiceField(label="Criterion", choices=CRITERIA, required=False)
    reading = forms.ChoiceField(label="Reading of replies", choices=READINGS, required=False)

    def __init__(self, data: Mapping[str, Any] | None, *, sides: Sequence[Side], first: str = "") -> None:
        super().__init__(data)
        self._sides = {side.key: side for side in sides}
        known = first if first in self._sides else next(iter(self._sides), "")
        grouped = _by_dataset(sides, self._sides[known].dataset_id if known else None)
        for name in ("a", "b"):
            field = self.fields[name]
            if isinstance(field, forms.ChoiceField):
                field.choices = grouped
                field.error_messages["invalid_choice"] = "This system has no such campaign (any more)."
        other = _likely_other(known, sides)
        second = self.fields["b"]
        if not other and isinstance(second, forms.ChoiceField):
            second.choices = [("", "No other on this dataset"), *grouped]
        self.initial = {"a": known, "b": other}

    @property
    def chosen(self) -> tuple[Side, Side]:
        """Both sides of a valid form."""
        return self._sides[self.cleaned_data["a"]], self._sides[self.cleaned_data["b"]]

    @property
    def criterion_chosen(self) -> FailureCriterion:
        """What counts as a failure."""
        return FailureCriterion(self.cleaned_data.get("criterion") or FailureCriterion.C1)

    @property
    def reading_chosen(self) -> Reading:
        """How replies are read."""
        return "lenient" if self.cleaned_data.get("reading") == "lenient" else "strict"
