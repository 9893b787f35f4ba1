"""The form with which annotated pictures are uploaded as seed images."""

from typing import Any, BinaryIO, cast

from django import forms

from searches.forms.settings_form import SectionPlan, SettingsForm, short_name_field
from searches.forms.uploads import read_pairs, refuse_large_archive
from searches.services.seed_imports import WEB_LIMITS, SeedWish
from searches.services.sut_settings import leaves
from vlmlab.core.errors import VlmLabError
from vlmlab.core.seed_images.importing import FORMATS
from vlmlab.core.seed_images.labels import LEFT_OUT
from vlmlab.core.seed_images.settings import ImportSettings

MOST_UPLOAD_BYTES = 200_000_000
MOST_LABELS = 2_000
CHOICES = {
    "format": [
        ("auto", "As the files look"),
        *((name, one.title) for name, one in FORMATS.items()),
    ],
    "boxes_lie_in": [
        ("auto", "By the size that the files tell"),
        ("upright", "The upright picture"),
        ("stored", "The picture as it is stored"),
    ],
    "first_pixel": [("auto", "As the files look"), ("0", "0"), ("1", "1")],
}
"""Words for the choices of settings."""


class SeedUploadForm(SettingsForm):
    """A ZIP archive of annotated pictures, and how it is to be read."""

    plans = (
        SectionPlan(
            "reading",
            "Reading",
            "What the names in the files mean.",
            ("format", "labels"),
        ),
        SectionPlan(
            "strata",
            "Kinds of scene",
            "What results are told apart by. A table strata.csv with the columns file and stratum tells them "
            "picture by picture.",
            ("stratum", "strata_by_folder"),
        ),
        SectionPlan(
            "details",
            "Details",
            "Where the files leave something open.",
            ("annotation_file", "boxes_lie_in", "first_pixel", "ask_difficult", "least_side"),
            is_folded=True,
        ),
    )
    rest = SectionPlan("rest", "More", "", (), is_folded=True)
    wide = frozenset({"labels", "strata_by_folder", "ask_difficult", "annotation_file"})
    model = ImportSettings

    title = forms.CharField(max_length=120, help_text="What people find it by.")
    slug = short_name_field("For addresses and the shell; made from the title where empty.")
    archive = forms.FileField(
        label="ZIP archive",
        help_text=f"Up to {MOST_UPLOAD_BYTES / 1e6:.0f} MB and {WEB_LIMITS.files.max_pictures:,} pictures. "
        "Larger ones are imported with manage.py import_dataset --kind seeds.",
    )
    labels = forms.CharField(
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono", "spellcheck": "false"}),
        help_text="One a line: class = label, such as person = pedestrian; “-” leaves its things out. "
        "Classes that do not stand here keep their names.",
    )
    licence = forms.CharField(max_length=120, required=False, help_text="Of the pictures.")
    credits = forms.CharField(
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Whom they are owed to. Goes along with every export.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.base: dict[str, Any] = {}
        self.add_settings(leaf for leaf in leaves(ImportSettings) if leaf.path != "labels")
        for name, choices in CHOICES.items():
            choice = self.fields[name]
            assert isinstance(choice, forms.ChoiceField)
            choice.choices = choices

    def clean_archive(self) -> Any:
        """Refuse an upload that is larger than one request should carry."""
        archive = self.cleaned_data["archive"]
        instead = "manage.py import_dataset --kind seeds"
        refuse_large_archive(archive.size, most_bytes=MOST_UPLOAD_BYTES, instead=instead)
        return archive

    def clean_labels(self) -> dict[str, str]:
        """Read ``class = label`` line by line."""
        needed = f"a class, “=” and a label, or “{LEFT_OUT}” for none"
        found = read_pairs(self.cleaned_data["labels"], needed=needed)
        if len(found) > MOST_LABELS:
            raise forms.ValidationError(f"At most {MOST_LABELS:,} classes are taken.")
        return found

    def clean(self) -> dict[str, Any]:
        """Check the settings; every complaint of the core lands at its field."""
        cleaned = super().clean() or {}
        if "labels" not in self.errors:
            self.check_settings()
        return cleaned

    def params(self) -> dict[str, Any]:
        """Return the settings as the core takes them."""
        return super().params() | {"labels": self.cleaned_data.get("labels", {})}

    def wish(self) -> SeedWish:
        """Return what the upload shall become."""
        cleaned = self.cleaned_data
        return SeedWish(
            title=cleaned["title"],
            settings=ImportSettings.model_validate(self.params()),
            slug=cleaned["slug"],
            licence=cleaned["licence"],
            credits=cleaned["credits"],
        )

    @property
    def file(self) -> BinaryIO:
        """The uploaded archive."""
        return cast(BinaryIO, self.cleaned_data["archive"].file)

    def add_core_error(self, error: VlmLabError) -> None:
        """Put an error at its field; what is wrong with the files stands at the archive."""
        if self.field_of(error.field or "") is None:
            self.add_error("archive", str(error))
        else:
            super().add_core_error(error)
