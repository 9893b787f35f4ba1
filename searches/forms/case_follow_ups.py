"""Forms that start follow-ups of test cases."""

from collections.abc import Sequence
from typing import Any

from django import forms

from searches.models import SutRecord
from searches.services.case_choices import DEFAULT_MOST, MOST_CHOSEN

MOST_DRAWS = 100


class ConfirmCasesForm(forms.Form):
    """How many failing cases of a campaign are confirmed, and how long each is asked."""

    most = forms.IntegerField(
        label="Cases at most",
        min_value=1,
        max_value=5_000,
        initial=DEFAULT_MOST,
        help_text="If there are more, systems, scene types and regimes take turns, and chance decides.",
    )
    max_samples = forms.IntegerField(
        label="Most draws a case",
        min_value=5,
        max_value=10_000,
        initial=100,
        help_text="Fresh draws after which a case stays undetermined.",
    )


class TransferCasesForm(forms.Form):
    """Which systems are shown the cases, and how much of each."""

    suts = forms.ModelMultipleChoiceField(
        queryset=SutRecord.objects.none(),
        label="Systems to ask",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one system."},
    )
    most = forms.IntegerField(
        label="Cases at most",
        min_value=1,
        max_value=MOST_CHOSEN,
        initial=DEFAULT_MOST,
        help_text="The systems on which they were found take turns; confirmed cases come first.",
    )
    draws = forms.IntegerField(
        label="Fresh draws a case",
        min_value=0,
        max_value=MOST_DRAWS,
        initial=0,
        help_text="Beside its own input, which is asked once. 0: that input only.",
    )
    has_random = forms.BooleanField(
        label="Also ask a random strategy",
        required=False,
        initial=True,
        help_text="As many operators on the same budget and picture: how often a system fails unprovoked.",
    )

    def __init__(self, *args: Any, suts: Sequence[SutRecord], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["suts"]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        field.queryset = SutRecord.objects.filter(pk__in=[one.pk for one in suts]).order_by("name")
