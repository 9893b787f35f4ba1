"""The form that makes a token."""

from django import forms

INPUT = {"class": "input"}
FOREVER = "forever"
LIFETIMES = (("30", "30 days"), ("90", "90 days"), ("365", "1 year"), (FOREVER, "Until it is revoked"))


class TokenForm(forms.Form):
    """What a token is for, and how long it is valid."""

    name = forms.CharField(
        label="Name",
        max_length=80,
        widget=forms.TextInput({**INPUT, "autocomplete": "off", "placeholder": "Nightly check"}),
        error_messages={"required": "Say what the token is for."},
        help_text="What it is for, so that you know later which one to revoke.",
    )
    days = forms.ChoiceField(
        label="Valid for",
        choices=LIFETIMES,
        initial="90",
        widget=forms.Select({"class": "select"}),
        help_text="A program that still uses it then gets 401.",
    )

    def lifetime(self) -> int | None:
        """Return the days it is valid, None for ever."""
        days: str = self.cleaned_data["days"]
        return None if days == FOREVER else int(days)
