"""What of a modality campaign a page shows: the bar of choices above its numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from searches.services.modality_tables import NO_STRATUM, Choice
from vlmlab.core.most.outcomes import FailureCriterion

READINGS = (("strict", "Strict reading"), ("lenient", "Lenient reading"))
CRITERIA = tuple((one.value, f"{one.value}: {one.description.lstrip('… ')}") for one in FailureCriterion)


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
        named = [(one or NO_STRATUM, one.replace("_", " ") or "No scene type") for one in strata]
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
        )

    @property
    def notes(self) -> list[str]:
        """A sentence for each part of the address that was not understood."""
        return [f"{self.fields[name].label}: this campaign has no such choice." for name in self.errors]

    def _offer(self, name: str, choices: Sequence[tuple[str, str]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = list(choices)
