"""Forms of provider keys: what is typed into them as a secret is never shown again."""

from typing import Any

from django import forms

from searches.forms.sut_fields import NOTHING
from searches.services.keys import checked_secret
from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.kinds import SUT_KINDS
from vlmlab.core.suts.origins import FIXED_ORIGINS

PASTE_AGAIN = "The key is not kept while the form has errors: paste it again."
WRITE_ONLY = "Write-only: it is stored sealed and never shown again."


class SecretForm(forms.Form):
    """A new secret."""

    secret = forms.CharField(
        label="Key",
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}, render_value=False),
        help_text=WRITE_ONLY,
        error_messages={"required": "Paste the key as the provider shows it."},
    )

    def clean_secret(self) -> str:
        """Return the secret without blanks around it."""
        try:
            return checked_secret(self.cleaned_data["secret"])
        except ConfigError as error:
            raise forms.ValidationError(str(error)) from error

    def full_clean(self) -> None:
        """Check everything; a key that was typed into a form with errors must be typed again."""
        super().full_clean()
        if self.is_bound and self.errors:
            self.remind_of_secret()

    def remind_of_secret(self) -> None:
        """Say that the key must be typed again, unless its field has something to say already."""
        if self.data.get("secret") and "secret" not in self.errors:
            self.add_error("secret", PASTE_AGAIN)


class KeyForm(SecretForm):
    """A key under a name of its own."""

    name = forms.CharField(
        max_length=80, help_text="So that people find it again, such as the team that pays for it."
    )
    kind = forms.ChoiceField(label="Provider", help_text="Only systems of this kind can use it.")
    base_url = forms.CharField(
        label="Address",
        max_length=300,
        required=False,
        initial="https://api.openai.com/v1",
        help_text="The key is sent to this server and to no other. Only for servers with the OpenAI "
        "protocol; the other providers have one address each.",
    )
    field_order = ["name", "kind", "base_url", "secret"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = self.fields["kind"]
        assert isinstance(kind, forms.ChoiceField)
        kind.choices = [(one.name, one.title) for one in SUT_KINDS.values() if one.key_words]
        self.fields["base_url"].unit = NOTHING  # type: ignore[attr-defined]  # read by the tag that draws fields
        pairs = [one for one in SUT_KINDS.values() if ":" in one.key_words]
        words = [f"{one.title} takes {one.key_words.partition(',')[0]}." for one in pairs]
        self.fields["secret"].help_text = " ".join([WRITE_ONLY, *words])

    def clean(self) -> dict[str, Any]:
        """See that a kind whose address can be chosen has one."""
        cleaned = super().clean() or {}
        if "kind" in cleaned and cleaned["kind"] not in FIXED_ORIGINS and not cleaned.get("base_url"):
            self.add_error("base_url", "Write the address of the server that the key is for.")
        return cleaned
