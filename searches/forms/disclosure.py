"""What goes into a package for the maker of a system."""

from collections.abc import Mapping
from typing import Any

from django import forms

from searches.enums import FindingState
from searches.services.disclosures import MOST_CONTACT, DisclosureWish


class DisclosureForm(forms.Form):
    """States, pictures, notes, and whom the receiver may write to."""

    states = forms.MultipleChoiceField(
        label="What goes in",
        choices=FindingState.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[FindingState.CONFIRMED],
        error_messages={"required": "Choose at least one state."},
        help_text="Only confirmed findings are results; whatever else goes in is marked as what it is.",
    )
    pictures = forms.BooleanField(
        label="Pictures",
        required=False,
        initial=True,
        help_text="Scenes and perturbed pictures as PNG files.",
    )
    notes = forms.BooleanField(
        label="Notes of people", required=False, help_text="What people wrote beside findings, without names."
    )
    names = forms.BooleanField(
        label="Names of their authors", required=False, help_text="Only together with the notes."
    )
    contact = forms.CharField(
        label="Contact",
        required=False,
        max_length=MOST_CONTACT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Whom the receiver may write to, and by when you would like an answer.",
    )

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)

    @property
    def wish(self) -> DisclosureWish:
        """What was chosen; the default where nothing was said or something is wrong."""
        if not self.is_bound or not self.is_valid():
            return DisclosureWish()
        said = self.cleaned_data
        return DisclosureWish(
            states=tuple(said["states"]),
            pictures=said["pictures"],
            notes=said["notes"],
            names=said["notes"] and said["names"],
            contact=said["contact"],
        )
