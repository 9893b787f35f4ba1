"""A form that shows every kind of field; only the components page uses it."""

from typing import Any

from django import forms


class SampleForm(forms.Form):
    """One field of each kind, some of them wrong."""

    name = forms.CharField(help_text="Shown in every table.")
    scenes = forms.IntegerField(label="Scenes for each set, m", min_value=1, max_value=50)
    convention = forms.ChoiceField(label="Coordinate convention", choices=[("xyxy", "0–1000, x first")])
    temperature = forms.FloatField(required=False, help_text="Leave empty if the system refuses it.")
    note = forms.CharField(widget=forms.Textarea(attrs={"rows": 2}), required=False)
    picture = forms.FileField(required=False, help_text="PNG or JPEG, up to 20 MB.")
    method = forms.ChoiceField(
        choices=[("sits", "sits"), ("random", "random")],
        widget=forms.RadioSelect,
        help_text="Decides the order.",
    )
    confirm = forms.BooleanField(
        label="Confirm on fresh scenes", required=False, help_text="Up to 20 for each suspected set."
    )

    @staticmethod
    def wrong_example() -> dict[str, Any]:
        """Return answers of which one is out of range."""
        return {"name": "Pocket", "scenes": "0", "convention": "xyxy", "method": "sits", "confirm": "on"}
