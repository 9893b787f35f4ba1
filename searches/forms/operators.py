"""Forms of the operator pages: which picture, which prompt, which seed."""

from typing import Any

from django import forms

from searches.models import Dataset
from searches.services.operator_pages import families
from searches.services.operator_pictures import LARGEST_SEED
from searches.services.operator_texts import DEFAULT_PROMPT, DEFAULT_SEED, FAMILIES, MOST_PROMPT_CHARACTERS
from searches.services.word_tables import KINDS, reviewed_slugs

MOST_UPLOAD_BYTES = 20_000_000
LARGEST_ORDER = 2**31 - 1
SEED_HELP = "What an operator draws hangs on it; a run with this run seed draws the same."


class OperatorPictureForm(forms.Form):
    """Which picture is shown under the operators; of an address, so everything may be missing."""

    dataset = forms.ChoiceField(required=False)
    order = forms.IntegerField(
        required=False, min_value=0, max_value=LARGEST_ORDER, label="Picture", help_text="Its number."
    )
    upload = forms.RegexField(r"\A[0-9a-f]{64}\Z", required=False, widget=forms.HiddenInput)
    seed = forms.IntegerField(required=False, min_value=0, max_value=LARGEST_SEED, help_text=SEED_HELP)
    family = forms.ChoiceField(
        required=False, choices=[("", "All families"), *((one, one.capitalize()) for one in families())]
    )

    def __init__(self, *args: Any, datasets: list[Dataset], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice = self.fields["dataset"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [(one.slug, one.title) for one in datasets]


class OperatorUploadForm(forms.Form):
    """A picture of one's own."""

    picture = forms.FileField(
        label="File",
        help_text="PNG, JPEG or WebP, up to 20 MB and 16 million pixels. It is kept for as long as somebody "
        "looks at it here, and deleted about an hour later.",
        widget=forms.ClearableFileInput(attrs={"accept": "image/png,image/jpeg,image/webp"}),
    )

    def clean_picture(self) -> Any:
        """Refuse a file that is larger than any picture that is taken."""
        upload = self.cleaned_data["picture"]
        if upload.size > MOST_UPLOAD_BYTES:
            raise forms.ValidationError(f"The file has {upload.size / 1e6:.1f} MB; at most 20 MB are taken.")
        return upload


class PromptField(forms.CharField):
    """A text whose line ends count as one character each, as in the prompt that a system gets."""

    def to_python(self, value: Any) -> str:
        """Read the line ends that browsers send."""
        return super().to_python(value.replace("\r\n", "\n") if isinstance(value, str) else value) or ""


class OperatorTextForm(forms.Form):
    """Which prompt is shown under the operators."""

    prompt = PromptField(
        max_length=MOST_PROMPT_CHARACTERS,
        strip=False,
        initial=DEFAULT_PROMPT,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text=f"Up to {MOST_PROMPT_CHARACTERS:,} characters, in any language.",
        error_messages={"required": "Enter a prompt of at least one character."},
    )
    protect = forms.CharField(
        label="Leave as it is",
        required=False,
        max_length=MOST_PROMPT_CHARACTERS,
        strip=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="A part of the prompt that no operator may touch, such as how to answer.",
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST_SEED,
        initial=DEFAULT_SEED,
        help_text="What an operator draws hangs on it.",
    )
    family = forms.ChoiceField(
        required=False, choices=[("", "All families"), *((one, one.capitalize()) for one in FAMILIES)]
    )
    homophone_table = forms.ChoiceField(required=False, label="Homophones")
    synonym_table = forms.ChoiceField(required=False, label="Synonyms")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in KINDS:
            choice = self.fields[f"{kind}_table"]
            assert isinstance(choice, forms.ChoiceField)
            choice.choices = [("", "The shipped table"), *reviewed_slugs(kind)]

    def clean_prompt(self) -> str:
        """Refuse a prompt of blanks only."""
        prompt: str = self.cleaned_data["prompt"]
        if not prompt.strip():
            raise forms.ValidationError("Enter a prompt of at least one character.")
        return prompt
