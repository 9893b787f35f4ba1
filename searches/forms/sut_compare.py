"""The form that asks several systems the same."""

from collections.abc import Sequence
from typing import Any

from django import forms

from searches.forms.sut_try import QuestionForm
from searches.models import SutRecord

FEWEST_SYSTEMS, MOST_SYSTEMS = 2, 6


class CompareSutsForm(QuestionForm):
    """Two to six systems, one picture, one question."""

    suts = forms.MultipleChoiceField(
        label="Systems",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=f"{FEWEST_SYSTEMS} to {MOST_SYSTEMS}; each is asked in its own way, in its own queue.",
    )

    def __init__(self, *args: Any, offered: Sequence[SutRecord], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offered = {sut.slug: sut for sut in offered}
        suts = self.fields["suts"]
        assert isinstance(suts, forms.MultipleChoiceField)
        suts.choices = [(sut.slug, sut.name) for sut in offered]

    def clean_suts(self) -> list[SutRecord]:
        """Return the chosen systems."""
        chosen = [self.offered[slug] for slug in dict.fromkeys(self.cleaned_data["suts"])]
        if not FEWEST_SYSTEMS <= len(chosen) <= MOST_SYSTEMS:
            raise forms.ValidationError(
                f"Choose {FEWEST_SYSTEMS} to {MOST_SYSTEMS} systems; {len(chosen)} are chosen."
            )
        return chosen
