"""Forms for inviting and changing people."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.validators import UnicodeUsernameValidator

from searches.models import User
from searches.services.people import PersonValues
from vlmlab.web.roles import Role

INPUT = {"class": "input"}


class SignInForm(AuthenticationForm):
    """Name and password."""

    error_messages = {
        "invalid_login": "Name and password do not match. Both are case-sensitive.",
        "inactive": "This account is deactivated. Ask an admin to activate it.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "Name"
        for field in self.fields.values():
            field.widget.attrs.update(INPUT)


class PersonForm(forms.Form):
    """What an admin may set on a person."""

    first_name = forms.CharField(max_length=150, required=False, widget=forms.TextInput(INPUT))
    last_name = forms.CharField(max_length=150, required=False, widget=forms.TextInput(INPUT))
    email = forms.EmailField(
        label="E-mail", required=False, widget=forms.EmailInput(INPUT), help_text="Only shown to admins."
    )
    role = forms.ChoiceField(
        choices=Role.choices,
        widget=forms.Select({"class": "select"}),
        help_text=(
            "Admins may do everything. Researchers register systems and run searches. Reviewers read "
            "results and review scenes. Annotators answer the cases they are given."
        ),
    )
    is_active = forms.BooleanField(
        label="Active", required=False, help_text="A deactivated person cannot sign in; their work stays."
    )

    def person_values(self) -> PersonValues:
        """Return the checked values."""
        data = self.cleaned_data
        return PersonValues(
            first_name=data["first_name"],
            last_name=data["last_name"],
            email=data["email"],
            role=Role(data["role"]),
            is_active=data.get("is_active", True),
        )

    @classmethod
    def values_of(cls, person: User) -> dict[str, Any]:
        """Return a person's present values, as the form's initial ones."""
        return {name: getattr(person, name) for name in cls.base_fields}


class InviteForm(PersonForm):
    """A new person: a name to sign in with, and their values; always active."""

    username = forms.CharField(
        label="Name to sign in with",
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        widget=forms.TextInput({**INPUT, "autocomplete": "off"}),
        help_text="Letters, digits and @ . + - _ only.",
    )
    is_active = None  # type: ignore[assignment]  # Django's way to drop an inherited field
    field_order = ["username", "first_name", "last_name", "email", "role"]
