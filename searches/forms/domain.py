"""Forms of domains: a file to upload, a copy to start from, the note of a new version."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from vlmlab.core.scenes.domain_text import MAX_BYTES
from vlmlab.core.scenes.domain_texts import MAX_SLUG

EXAMPLE = "example:warehouse"


class UploadDomainForm(forms.Form):
    """A domain file."""

    file = forms.FileField(
        label="Domain file",
        help_text=f"YAML or JSON, at most {MAX_BYTES // 1_000_000} MB. Nothing in it is executed.",
        error_messages={"required": "Choose a file.", "empty": "The file is empty."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].widget.attrs["accept"] = ".yaml,.yml,.json"

    def clean_file(self) -> "UploadedFile[bytes]":
        """Refuse a file that is too large before it is read."""
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if (file.size or 0) > MAX_BYTES:
            raise forms.ValidationError(f"The file has {file.size:,} bytes; at most {MAX_BYTES:,} are read.")
        return file


class CopyDomainForm(forms.Form):
    """A domain to start from, and what the copy is called."""

    source = forms.ChoiceField(label="Start from")
    title = forms.CharField(label="Title", max_length=80)
    slug = forms.SlugField(
        label="Short name",
        max_length=MAX_SLUG,
        help_text="For addresses and the shell: small letters, digits and “-”.",
    )

    def __init__(self, *args: Any, sources: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        source = self.fields["source"]
        assert isinstance(source, forms.ChoiceField)
        self.sources = {EXAMPLE: "the example warehouse", **dict(sources)}
        source.choices = [(EXAMPLE, "The example: a warehouse"), *sources]
