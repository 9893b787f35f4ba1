"""The form of a picture source of any kind, made of the declared settings of the kind."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.text import slugify
from pydantic import ValidationError

from searches.forms.source_sections import PARTS, REST, SourcePart
from searches.forms.sut_fields import NOTHING, can_be_typed, form_field, shown_value, typed_value
from searches.models import ApiKey, Dataset, PictureSource, SutRecord
from searches.services.source_context import backend_kind
from searches.services.sources import TAKEN_SLUGS, SourceWish
from searches.services.sut_settings import Leaf, leaves, value_at, with_values
from vlmlab.core.complaints import config_errors
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.scenes.render.backend_kinds import BackendKind

ROW_FIELDS = ("dataset", "api_key", "presence_sut")
NO_ROW = ""


@dataclass(frozen=True)
class Section:
    """One part of the form as the page draws it."""

    part: SourcePart
    fields: tuple[forms.BoundField, ...]
    is_open: bool

    @property
    def rows(self) -> list[tuple[forms.BoundField, str]]:
        """Return each field with its width: what needs room takes the whole row."""
        return [
            (bound, "full" if isinstance(bound.field.widget, forms.Textarea) else "") for bound in self.fields
        ]


class SourceForm(forms.Form):
    """Settings of a picture source; the core checks them again.

    Args:
        kind: key of ``SCENE_BACKENDS``.
        base: settings that the form starts from.
        values: what else is filled in: name, description, numbers of the rows that it names.
        is_frozen: whether runs rest on it, so that only its name, description and key may change.
    """

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
        self.base = dict(base or {})
        self.is_frozen = is_frozen
        self.leaves: dict[str, Leaf] = {
            leaf.path.replace(".", "__"): leaf for leaf in leaves(self.kind.params) if can_be_typed(leaf)
        }
        for name, leaf in self.leaves.items():
            self.fields[name] = form_field(leaf)
            self.initial[name] = shown_value(value_at(self.base, leaf.path, default=leaf.default))
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
        try:
            self.kind.params.model_validate(self.params())
        except ValidationError as error:
            for complaint in config_errors(error, self.kind.params):
                self.add_core_error(complaint)
        if "dataset" in self.fields and not cleaned.get("dataset") and "dataset" not in self.errors:
            self.add_error("dataset", "Choose the dataset that the pictures are taken from.")
        return cleaned

    def add_core_error(self, error: VlmLabError) -> None:
        """Put an error of the core or a service at its field."""
        name = (error.field or "").replace(".", "__")
        place = name if name in self.fields else None
        if place in self.errors:
            return
        is_setting = place in self.leaves and isinstance(error, ConfigError)
        text = (
            error.message.partition("): ")[2] if is_setting and f"({error.field}): " in error.message else ""
        )
        self.add_error(place, text or str(error))

    def params(self) -> dict[str, Any]:
        """Return the settings as the core takes them."""
        if self.is_frozen:
            return self.base
        cleaned = self.cleaned_data
        changes = {
            leaf.path: typed_value(leaf, cleaned.get(name))
            for name, leaf in self.leaves.items()
            if name not in self.errors
            and (name in self.data or isinstance(self.fields[name], forms.BooleanField))
        }
        return with_values(self.base, changes)

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

    def sections(self) -> Iterator[Section]:
        """Yield the parts of the form; settings that no part names stand in the last, folded one."""
        placed: set[str] = set()
        for part in PARTS:
            names = [name for name in part.names if name in self.fields]
            placed.update(names)
            if names:
                yield self._section(part, names)
        rest = [name for name in self.leaves if name not in placed]
        if rest:
            yield self._section(REST, rest)

    def _section(self, part: SourcePart, names: list[str]) -> Section:
        is_wrong = any(name in self.errors for name in names)
        return Section(part, tuple(self[name] for name in names), is_open=is_wrong or not part.is_folded)


class NewSourceForm(SourceForm):
    """Sets a source up under a short name of its own."""

    slug = forms.SlugField(
        label="Short name",
        max_length=64,
        required=False,
        help_text="For the shell and stored runs; made from the name if left empty. It cannot be changed.",
    )
    field_order = ["name", "slug", "description"]

    def clean(self) -> dict[str, Any]:
        """Make the short name where it was left empty, and see that it is free."""
        cleaned = super().clean()
        slug = cleaned.get("slug") or slugify(cleaned.get("name", ""))[:64]
        if "slug" not in self.errors and cleaned.get("name"):
            if not slug or slug in TAKEN_SLUGS:
                self.add_error(
                    "slug", "Write a short name with letters or digits, and not “new” or “embedded”."
                )
            elif PictureSource.objects.filter(slug=slug).exists():
                self.add_error("slug", f"There is already a source called “{slug}”. Choose another name.")
        cleaned["slug"] = slug
        return cleaned
