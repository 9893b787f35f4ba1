"""The form that composes one scene."""

from typing import Any

from django import forms

from vlmlab.core.scenes.concepts import Domain

FIRST_SEED = 1


class ComposeForm(forms.Form):
    """Concepts and the number that decides the layout; ids that the domain does not know are left out."""

    c = forms.MultipleChoiceField(label="Concepts", required=False, widget=forms.CheckboxSelectMultiple)
    seed = forms.IntegerField(label="Layout number", required=False, min_value=0, max_value=2**31 - 1)

    def __init__(self, *args: Any, domain: Domain, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        concepts = self.fields["c"]
        assert isinstance(concepts, forms.MultipleChoiceField)
        concepts.choices = [(concept.id, concept.label) for concept in domain.concepts]

    @property
    def chosen(self) -> tuple[str, ...]:
        """The chosen ids."""
        cleaned: dict[str, Any] = getattr(self, "cleaned_data", {})
        return tuple(cleaned.get("c") or ())

    @property
    def layout(self) -> int:
        """The layout number; the first one when none is given."""
        cleaned: dict[str, Any] = getattr(self, "cleaned_data", {})
        number = cleaned.get("seed")
        return FIRST_SEED if number is None else int(number)
