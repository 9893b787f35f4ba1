"""The form with which a system of any kind is registered and changed, made of its declared settings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.text import slugify

from searches.enums import Queue
from searches.forms.keys import PASTE_AGAIN, WRITE_ONLY
from searches.forms.sut_fields import NOTHING, can_be_typed, form_field, shown_value, typed_value
from searches.forms.sut_sections import ADVANCED, SECTIONS, SectionPlan
from searches.models import SutRecord
from searches.services.calibrations import CALLS
from searches.services.checkpoints import known_checkpoints
from searches.services.key_addresses import refusals
from searches.services.keys import checked_secret, keys_for
from searches.services.registering import KeyWish
from searches.services.sut_settings import Leaf, leaves, value_at, with_values
from searches.services.suts import TAKEN_SLUGS
from vlmlab.core.complaints import config_errors
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.replies.probe_pictures import PROBE_SIZE
from vlmlab.core.suts.kinds import SutKind, sut_kind

LOCAL_KIND = "transformers_local"
NEW_KEY, NO_KEY = "new", ""
PREVIEW = "preview"  # name of the button that shows the exact request
# Settings of a local checkpoint that have fields of their own: a folder to choose, or a hub id.
PLACE = frozenset({"checkpoint", "source"})
WIDE = frozenset({"asking__prompt_style", "folder"})
# Name in an error of the core -> field, where the error is about several fields together.
ERROR_FIELDS = {"asking.convention": "asking.convention.scale", "asking": "asking.prompt_style"}


@dataclass(frozen=True)
class Section:
    """One part of the form as the page draws it."""

    plan: SectionPlan
    fields: tuple[forms.BoundField, ...]
    is_open: bool

    @property
    def rows(self) -> list[tuple[forms.BoundField, str]]:
        """Return each field with its width: what needs room for its words takes the whole row."""
        return [(bound, "full" if _is_long(bound) else "") for bound in self.fields]


def _known(values: Mapping[str, Any], known: Sequence[Leaf]) -> dict[str, Any]:
    nothing = object()
    found = {leaf.path: value_at(values, leaf.path, default=nothing) for leaf in known}
    return {path: value for path, value in found.items() if value is not nothing}


def _is_long(bound: forms.BoundField) -> bool:
    return isinstance(bound.field.widget, forms.Textarea) or bound.name in WIDE


def field_name(path: str) -> str:
    """Return the name of a setting's field: dots would be in the way of style sheets and scripts."""
    return path.replace(".", "__")


class SutForm(forms.Form):
    """Settings of a system; the core checks them again.

    Args:
        kind: key of ``SUT_KINDS``.
        base: settings that the form starts from and that keep what has no field: a preset's, or the stored.
        values: what else is filled in: name, short name, description, stored key.
    """

    name = forms.CharField(max_length=120, help_text="Shown in every table.")
    description = forms.CharField(
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What it is, where from.",
    )

    def __init__(
        self,
        *args: Any,
        kind: str,
        base: Mapping[str, Any] | None = None,
        values: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.kind: SutKind = sut_kind(kind)
        every = list(leaves(self.kind.params))
        # What an earlier version of the lab stored and this one does not know is left out.
        self.base = with_values({}, _known(base or {}, every))
        self.leaves: dict[str, Leaf] = {
            field_name(leaf.path): leaf for leaf in every if can_be_typed(leaf) and leaf.path not in PLACE
        }
        if kind == LOCAL_KIND:
            self._add_place()
        for name, leaf in self.leaves.items():
            self.fields[name] = form_field(leaf)
            self.initial[name] = shown_value(value_at(self.base, leaf.path, default=leaf.default))
        if self.kind.key_words:
            self._add_key_fields()
        self.initial.update(values or {})

    def _add_place(self) -> None:
        folders = [("", "Choose a folder"), *((one.value, one.label) for one in known_checkpoints())]
        self.fields["folder"] = forms.ChoiceField(
            label="Checkpoint",
            required=False,
            choices=folders,
            help_text="Folders with a config.json below the model directory (VLMLAB_MODEL_DIR), and the "
            "shipped ones.",
        )
        self.fields["folder"].unit = NOTHING  # type: ignore[attr-defined]  # read by the tag that draws fields
        self.fields["hub_id"] = forms.CharField(
            label="Hub id",
            max_length=300,
            required=False,
            help_text="Instead of a folder: organisation/name, already downloaded on the worker's machine.",
        )
        place = "hub_id" if self.base.get("source") == "hub" else "folder"
        self.initial[place] = self.base.get("checkpoint", "")

    def _add_key_fields(self) -> None:
        nothing = "Choose a key" if self.kind.is_key_required else "No key"
        stored = [(str(key.pk), f"{key}, only for {key.origin}") for key in keys_for(self.kind.name)]
        self.fields["api_key"] = forms.ChoiceField(
            label="Key",
            required=False,
            choices=[(NO_KEY, nothing), *stored, (NEW_KEY, "A new key, entered here")],
            help_text=f"{self.kind.key_words}.",
        )
        self.fields["key_name"] = forms.CharField(
            label="Name of the new key",
            max_length=80,
            required=False,
            help_text="So that people find it again; the system's name if left empty.",
        )
        self.fields["secret"] = forms.CharField(
            label="New key",
            required=False,
            strip=True,
            widget=forms.PasswordInput(
                attrs={"autocomplete": "off", "spellcheck": "false"}, render_value=False
            ),
            help_text=WRITE_ONLY,
        )
        for name in ("api_key", "secret"):
            self.fields[name].unit = NOTHING  # type: ignore[attr-defined]  # read by the tag that draws fields

    def clean(self) -> dict[str, Any]:
        """Check place, key and settings; every complaint of the core lands at its field."""
        cleaned = super().clean() or {}
        if self.kind.name == LOCAL_KIND:
            self._check_place(cleaned)
        if self.kind.key_words:
            self._check_key(cleaned)
        for error in self._complaints():
            self.add_core_error(error)
        for refusal in self._refusals(cleaned):
            self.add_core_error(refusal)
        return cleaned

    def _check_place(self, cleaned: Mapping[str, Any]) -> None:
        has_folder, has_hub = bool(cleaned.get("folder")), bool(cleaned.get("hub_id"))
        if not has_folder and not has_hub and "folder" not in self.errors:
            self.add_error("folder", "Choose a folder, or write a hub id below.")
        if has_folder and has_hub:
            self.add_error("hub_id", "Choose a folder or write a hub id, not both.")

    def _check_key(self, cleaned: dict[str, Any]) -> None:
        choice, secret = cleaned.get("api_key", ""), cleaned.get("secret", "")
        if choice == NO_KEY and secret:
            choice = cleaned["api_key"] = NEW_KEY
        if choice == NO_KEY and self.kind.is_key_required and "api_key" not in self.errors:
            self.add_error(
                "api_key", f"{self.kind.title} needs a key: choose a stored one, or paste a new one below."
            )
        elif choice not in (NO_KEY, NEW_KEY) and secret:
            self.add_error("secret", "A stored key is chosen. Choose “A new key”, or leave this empty.")
        elif choice == NEW_KEY:
            try:
                checked_secret(secret)
            except ConfigError as error:
                self.add_error("secret", str(error))

    def _complaints(self) -> list[ConfigError]:
        from pydantic import ValidationError

        try:
            self.kind.params.model_validate(self.params())
        except ValidationError as error:
            return config_errors(error, self.kind.params)
        return []

    def _refusals(self, cleaned: Mapping[str, Any]) -> list[VlmLabError]:
        """Return what is wrong with address and key, also while other settings are wrong."""
        if "base_url" in self.errors or not self.kind.key_words or PREVIEW in self.data:
            return []  # a preview connects to nothing and may show an address that is not allowed yet
        choice = cleaned.get("api_key", NO_KEY)
        is_stored = choice not in (NO_KEY, NEW_KEY)
        return refusals(
            self.kind.name,
            address=str(self.params().get("base_url", "")),
            stored_key=int(choice) if is_stored else None,
            is_kept=choice == self.initial.get("api_key"),
            new_key_name=(cleaned.get("key_name") or cleaned.get("name", "")) if choice == NEW_KEY else "",
        )

    def add_core_error(self, error: VlmLabError) -> None:
        """Put an error of the core or a service at its field, in the words of this form."""
        name = self._field_of(error.field or "")
        if name is not None and name in self.errors:
            return  # the field has said already what is wrong with what was typed
        is_setting = name in self.leaves
        text = (
            error.message.partition("): ")[2] if is_setting and f"({error.field}): " in error.message else ""
        )
        self.add_error(name, text or str(error))
        self._remind_of_secret()

    def _field_of(self, path: str) -> str | None:
        if path == "checkpoint":
            return "hub_id" if self.data.get("hub_id") else "folder"
        path = ERROR_FIELDS.get(path, path)
        while path:
            if field_name(path) in self.fields:
                return field_name(path)
            path = path.rpartition(".")[0]
        return None

    def _remind_of_secret(self) -> None:
        if self.data.get("secret") and "secret" in self.fields and "secret" not in self.errors:
            self.add_error("secret", PASTE_AGAIN)

    def full_clean(self) -> None:
        """Check everything; a key that was typed into a form with errors must be typed again."""
        super().full_clean()
        if self.is_bound and self.errors:
            self._remind_of_secret()

    def params(self) -> dict[str, Any]:
        """Return the settings as the core takes them; what has no field keeps the value of the base."""
        cleaned = self.cleaned_data
        changes = {
            leaf.path: typed_value(leaf, cleaned.get(name))
            for name, leaf in self.leaves.items()
            if name not in self.errors and self._was_sent(name)
        }
        if changes.get("asking.convention.space") == "seen_pixels":
            changes["asking.convention.scale"] = None
        if self.kind.name == LOCAL_KIND:
            hub_id = cleaned.get("hub_id") or ""
            changes["checkpoint"] = hub_id or cleaned.get("folder") or "-"
            changes["source"] = "hub" if hub_id else "folder"
        return with_values(self.base, changes)

    def _was_sent(self, name: str) -> bool:
        """Whether a field was on the page that was sent; a checkbox that is off is not among what is sent."""
        return name in self.data or isinstance(self.fields[name], forms.BooleanField)

    def key_wish(self) -> KeyWish:
        """Return which key the system shall use."""
        cleaned = self.cleaned_data
        choice = cleaned.get("api_key", NO_KEY)
        if choice == NEW_KEY:
            return KeyWish(new_name=cleaned["key_name"] or cleaned["name"], secret=cleaned["secret"])
        return KeyWish(stored=int(choice) if choice else None)

    @property
    def has_key(self) -> bool:
        """Whether a key is chosen or entered."""
        return bool(self.cleaned_data.get("api_key") or self.cleaned_data.get("secret"))

    def queue(self) -> Queue:
        """Return the queue of the device; the service puts remote kinds into theirs."""
        return Queue.GPU if self.cleaned_data.get("device") == "cuda" else Queue.CPU

    def sections(self) -> Iterator[Section]:
        """Yield the parts of the form; settings that no part names stand in the last, folded one."""
        placed: set[str] = set()
        for plan in SECTIONS:
            names = [name for path in plan.paths if (name := field_name(path)) in self.fields]
            placed.update(names)
            if names:
                yield self._section(plan, names)
        rest = [name for name in self.leaves if name not in placed]
        if rest:
            yield self._section(ADVANCED, rest)

    def _section(self, plan: SectionPlan, names: list[str]) -> Section:
        has_errors = any(name in self.errors for name in names)
        return Section(plan, tuple(self[name] for name in names), is_open=has_errors or not plan.is_folded)


class RegisterSutForm(SutForm):
    """Registers a system under a short name of its own."""

    slug = forms.SlugField(
        label="Short name",
        max_length=64,
        required=False,
        help_text="For addresses and the shell; made from the name if left empty. It cannot be changed.",
    )
    calibrate_now = forms.BooleanField(
        label="Calibrate now",
        required=False,
        initial=True,
        help_text=f"Asks about {PROBE_SIZE} small pictures twice: {CALLS} short calls that show whether its "
        "boxes and answers can be read.",
    )
    field_order = ["name", "slug", "description"]

    def clean(self) -> dict[str, Any]:
        """Make the short name where it was left empty, and see that it is free."""
        cleaned = super().clean()
        slug = cleaned.get("slug") or slugify(cleaned.get("name", ""))[:64]
        if "slug" not in self.errors and cleaned.get("name"):
            if not slug or slug in TAKEN_SLUGS:
                self.add_error(
                    "slug",
                    "Write a short name with letters or digits (“new”, “compare” and “preview” are taken by "
                    "the site).",
                )
            elif SutRecord.objects.filter(slug=slug).exists():
                self.add_error("slug", f"There is already a system called “{slug}”. Choose another name.")
        cleaned["slug"] = slug
        return cleaned
