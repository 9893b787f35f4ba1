"""The form with which photographs are uploaded as a dataset."""

from typing import Any

from django import forms

from searches.forms.uploads import read_pairs, refuse_large_archive
from searches.services.dataset_imports import WEB_LIMITS, ImportWish
from searches.services.domain_store import current_domains
from vlmlab.core.errors import VlmLabError

MOST_UPLOAD_BYTES = 200_000_000
MOST_MAPPINGS = 500


class DatasetUploadForm(forms.Form):
    """A ZIP archive of pictures with a COCO file or a table, and whose concepts they are tagged with."""

    title = forms.CharField(max_length=120, help_text="Shown where a source chooses its dataset.")
    domain = forms.ChoiceField(help_text="Its concepts are what the pictures are tagged with.")
    archive = forms.FileField(
        label="ZIP archive",
        help_text=f"Up to {MOST_UPLOAD_BYTES / 1e6:.0f} MB, {WEB_LIMITS.max_pictures} pictures and "
        f"{(WEB_LIMITS.max_pixels or 0) / 1e6:.0f} million pixels in all. Larger ones are imported with "
        "manage.py import_dataset.",
    )
    mapping = forms.CharField(
        label="Categories",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono", "spellcheck": "false"}),
        help_text="One a line, such as person = pedestrian; “-” for none. Names of concepts and their labels "
        "are known without.",
    )
    licence = forms.CharField(max_length=120, required=False, help_text="Of the pictures.")
    credits = forms.CharField(
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Whom they are owed to. Goes along with every export.",
    )
    is_strict = forms.BooleanField(
        label="Store nothing if anything is refused",
        required=False,
        help_text="Otherwise what is sound is stored, and the rest is listed with its reasons.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice = self.fields["domain"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [(domain.slug, domain.title) for domain in current_domains()]

    def clean_archive(self) -> Any:
        """Refuse an upload that is larger than one request should carry."""
        archive = self.cleaned_data["archive"]
        refuse_large_archive(archive.size, most_bytes=MOST_UPLOAD_BYTES, instead="manage.py import_dataset")
        return archive

    def clean_mapping(self) -> dict[str, str]:
        """Read ``category = concept`` line by line."""
        found = read_pairs(self.cleaned_data["mapping"], needed="a category, “=” and a concept")
        if len(found) > MOST_MAPPINGS:
            raise forms.ValidationError(f"At most {MOST_MAPPINGS} categories are taken.")
        return found

    def wish(self) -> ImportWish:
        """Return what the upload shall become."""
        cleaned = self.cleaned_data
        return ImportWish(
            title=cleaned["title"],
            domain=cleaned["domain"],
            mapping=cleaned["mapping"],
            licence=cleaned["licence"],
            credits=cleaned["credits"],
            is_strict=cleaned["is_strict"],
        )

    def add_core_error(self, error: VlmLabError) -> None:
        """Put an error of the import at its field; what is wrong with the files stands at the archive."""
        self.add_error(error.field if error.field in self.fields else "archive", str(error))
