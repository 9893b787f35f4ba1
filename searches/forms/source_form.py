"""The form of a picture source of any kind, made of the declared settings of the kind."""

from collections.abc import Mapping
from typing import Any

from django import forms

from searches.forms.settings_form import SettingsForm, short_name_field
from searches.forms.source_sections import ADVANCED, SECTIONS
from searches.forms.sut_fields import NOTHING, can_be_typed
from searches.models import ApiKey, Dataset, PictureSource, SutRecord
from searches.services.source_context import backend_kind
from searches.services.sources import TAKEN_SLUGS, SourceWish
from searches.services.sut_settings import leaves
from vlmlab.core.scenes.render.backend_kinds import BackendKind

ROW_FIELDS = ("dataset", "api_key", "presence_sut")
NO_ROW = ""


class SourceForm(SettingsForm):
    """Settings of a picture source; the core checks them again.

    Args:
        kind: key of ``SCENE_BACKENDS``.
        base: settings that the form starts from.
        values: what else is filled in: name, description, numbers of the rows that it names.
        is_frozen: whether runs rest on it, so that only its name, description and key may change.
    """

    plans, rest = SECTIONS, ADVANCED

    name = forms.CharField(max_length=120, help_text="Shown where a search chooses its pictures.")
    description = forms.CharField(
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What it shows, where from.",
    )

    def __init__(
        self,
        *args: Any,
        kind: str,
        base: Mapping[str, Any] | None = None,
        values: Mapping[str, Any] | None = None,
        is_frozen: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.kind: BackendKind = backend_kind(kind)
        self.model = self.kind.params
        self.base = dict(base or {})
        self.is_frozen = is_frozen
        self.add_settings(filter(can_be_typed, leaves(self.model)))
        self._add_rows()
        self.initial.update(values or {})
        if is_frozen:
            for name in (*self.leaves, "dataset", "presence_sut"):
                if name in self.fields:
                    self.fields[name].disabled = True

    def _add_rows(self) -> None:
        if self.kind.takes_pool:
            rows = [
                (str(pk), f"{title} ({count:,} pictures)")
                for pk, title, count in Dataset.objects.order_by("title").values_list(
                    "pk", "title", "n_pictures"
                )
            ]
            self._add_choice(
                "dataset",
                "Dataset",
                [(NO_ROW, "Choose a dataset"), *rows],
                "Its pictures must be tagged with concepts of the domain that is searched.",
            )
        if self.kind.key_words:
            keys = ApiKey.objects.defer("secret").order_by("name")
            self._add_choice(
                "api_key",
                "Key",
                [(NO_ROW, "No key"), *((str(key.pk), f"{key}, only for {key.origin}") for key in keys)],
                f"{self.kind.key_words}. New ones are stored under Provider keys.",
            )
        if self.kind.takes_presence:
            suts = SutRecord.objects.filter(is_enabled=True).order_by("name").values_list("pk", "name")
            self._add_choice(
                "presence_sut",
                "Looked at by",
                [(NO_ROW, "Nobody"), *((str(pk), name) for pk, name in suts)],
                "Not the system under test. It is asked one question a concept, at its own price.",
            )

    def _add_choice(self, name: str, label: str, choices: list[tuple[str, str]], help_text: str) -> None:
        self.fields[name] = forms.ChoiceField(
            label=label, choices=choices, required=False, help_text=help_text
        )
        self.fields[name].unit = NOTHING  # type: ignore[attr-defined]  # read by the tag that draws fields

    def clean(self) -> dict[str, Any]:
        """Check the settings; every complaint of the core lands at its field."""
        cleaned = super().clean() or {}
        self.check_settings()
        if "dataset" in self.fields and not cleaned.get("dataset") and "dataset" not in self.errors:
            self.add_error("dataset", "Choose the dataset that the pictures are taken from.")
        return cleaned

    def params(self) -> dict[str, Any]:
        """Return the settings as the core takes them; those that runs rest on stay."""
        return self.base if self.is_frozen else super().params()

    def wish(self) -> SourceWish:
        """Return what the person wants."""
        cleaned = self.cleaned_data
        return SourceWish(
            name=cleaned["name"],
            description=cleaned["description"],
            params=self.params(),
            slug=cleaned.get("slug", ""),
            kind=self.kind.name,
            **{name: int(cleaned[name]) if cleaned.get(name) else None for name in ROW_FIELDS},
        )


class NewSourceForm(SourceForm):
    """Sets a source up under a short name of its own."""

    slug = short_name_field(
        "For the shell and stored runs; made from the name if left empty. It cannot be changed."
    )
    field_order = ["name", "slug", "description"]

    def clean(self) -> dict[str, Any]:
        """Make the short name where it was left empty, and see that it is free."""
        cleaned = super().clean()
        self.settle_slug(
            cleaned,
            rows=PictureSource.objects.all(),
            taken=TAKEN_SLUGS,
            refusal="Write a short name with letters or digits, and not “new” or “embedded”.",
            what="source",
        )
        return cleaned
