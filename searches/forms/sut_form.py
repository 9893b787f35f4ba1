"""The form with which a system of any kind is registered and changed, made of its declared settings."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from searches.enums import Queue
from searches.forms.keys import PASTE_AGAIN, WRITE_ONLY
from searches.forms.settings_form import SettingsForm, short_name_field
from searches.forms.sut_fields import NOTHING, can_be_typed
from searches.forms.sut_sections import ADVANCED, SECTIONS
from searches.models import SutRecord
from searches.services.calibrations import CALLS
from searches.services.checkpoints import known_checkpoints
from searches.services.key_addresses import refusals
from searches.services.keys import checked_secret, keys_for
from searches.services.registering import KeyWish
from searches.services.sut_settings import Leaf, leaves, value_at, with_values
from searches.services.suts import TAKEN_SLUGS
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


def _known(values: Mapping[str, Any], known: Sequence[Leaf]) -> dict[str, Any]:
    nothing = object()
    found = {leaf.path: value_at(values, leaf.path, default=nothing) for leaf in known}
    return {path: value for path, value in found.items() if value is not nothing}


class SutForm(SettingsForm):
    """Settings of a system; the core checks them again.

    Args:
        kind: key of ``SUT_KINDS``.
        base: settings that the form starts from and that keep what has no field: a preset's, or the stored.
        values: what else is filled in: name, short name, description, stored key.
    """

    plans, rest, wide = SECTIONS, ADVANCED, WIDE

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
        self.model = self.kind.params
        every = list(leaves(self.model))
        # What an earlier version of the lab stored and this one does not know is left out.
        self.base = with_values({}, _known(base or {}, every))
        if kind == LOCAL_KIND:
            self._add_place()
        self.add_settings(leaf for leaf in every if can_be_typed(leaf) and leaf.path not in PLACE)
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
        self.check_settings()
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
        """Put an error of the core or a service at its field; a key that was typed must be typed again."""
        super().add_core_error(error)
        self._remind_of_secret()

    def field_of(self, path: str) -> str | None:
        """Return the field of a setting; some errors are about several fields together."""
        if path == "checkpoint":
            return "hub_id" if self.data.get("hub_id") else "folder"
        return super().field_of(ERROR_FIELDS.get(path, path))

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
        changes = self.typed_values()
        if changes.get("asking.convention.space") == "seen_pixels":
            changes["asking.convention.scale"] = None
        if self.kind.name == LOCAL_KIND:
            hub_id = cleaned.get("hub_id") or ""
            changes["checkpoint"] = hub_id or cleaned.get("folder") or "-"
            changes["source"] = "hub" if hub_id else "folder"
        return with_values(self.base, changes)

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


class RegisterSutForm(SutForm):
    """Registers a system under a short name of its own."""

    slug = short_name_field(
        "For addresses and the shell; made from the name if left empty. It cannot be changed."
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
        self.settle_slug(
            cleaned,
            rows=SutRecord.objects.all(),
            taken=TAKEN_SLUGS,
            refusal="Write a short name with letters or digits (“new”, “compare” and “preview” are taken by "
            "the site).",
            what="system",
        )
        return cleaned
