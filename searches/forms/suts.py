"""Forms of systems under test: register, edit."""

from typing import Any

from django import forms
from django.utils.text import slugify

from searches.enums import Queue
from searches.models import SutRecord
from searches.services.checkpoints import known_checkpoints
from vlmlab.core.suts.local_params import TransformersLocalParams

LOCAL_KIND = "transformers_local"


def _described(name: str) -> str:
    return TransformersLocalParams.model_fields[name].description or ""


class LocalSutForm(forms.Form):
    """Settings of a checkpoint that runs on this machine; the core checks them again."""

    name = forms.CharField(max_length=120, help_text="Shown in every table.")
    description = forms.CharField(
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What it is, where from.",
    )
    folder = forms.ChoiceField(label="Checkpoint", required=False)
    hub_id = forms.CharField(
        label="Hub id",
        max_length=300,
        required=False,
        help_text="Instead of a folder: organisation/name, already downloaded on the worker's machine.",
    )
    revision = forms.CharField(max_length=100, required=False, help_text=_described("revision"))
    device = forms.ChoiceField(
        choices=[("auto", "Automatic"), ("cpu", "CPU"), ("cuda", "GPU")],
        help_text="GPU systems wait for a worker that serves the GPU queue.",
    )
    dtype = forms.ChoiceField(
        label="Number format",
        choices=[(one, one) for one in ("auto", "float32", "bfloat16", "float16")],
        help_text=_described("dtype"),
    )
    batch_size = forms.IntegerField(min_value=1, max_value=256, help_text=_described("batch_size"))
    max_new_tokens = forms.IntegerField(
        label="Longest reply", min_value=1, max_value=8192, help_text=_described("max_new_tokens")
    )
    temperature = forms.FloatField(
        required=False, min_value=0.01, max_value=5, help_text=_described("temperature")
    )
    threads = forms.IntegerField(
        label="CPU threads", required=False, min_value=1, max_value=256, help_text=_described("threads")
    )
    system_prompt = forms.CharField(
        label="System turn",
        max_length=10_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_described("system_prompt"),
    )

    # Names in errors of the core -> fields of this form.
    error_fields = {"checkpoint": "folder"}
    advanced = ("device", "dtype", "batch_size", "max_new_tokens", "temperature", "threads", "system_prompt")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = known_checkpoints()
        folder = self.fields["folder"]
        assert isinstance(folder, forms.ChoiceField)
        folder.choices = [("", "Choose a folder"), *((one.value, one.label) for one in known)]
        folder.help_text = (
            "Folders with a config.json below the model directory (VLMLAB_MODEL_DIR), and the shipped ones."
        )
        for name in ("device", "dtype", "batch_size", "max_new_tokens"):
            self.fields[name].initial = TransformersLocalParams.model_fields[name].default
            self.fields[name].required = False

    def clean(self) -> dict[str, Any]:
        """Ask for exactly one place of the checkpoint."""
        cleaned = super().clean() or {}
        has_folder, has_hub = bool(cleaned.get("folder")), bool(cleaned.get("hub_id"))
        if not has_folder and not has_hub and "folder" not in self.errors:
            self.add_error("folder", "Choose a folder, or write a hub id below.")
        if has_folder and has_hub:
            self.add_error("hub_id", "Choose a folder or write a hub id, not both.")
        self.error_fields = {"checkpoint": "hub_id" if has_hub else "folder"}
        return cleaned

    @property
    def advanced_fields(self) -> list[forms.BoundField]:
        """Fields that a newcomer can leave alone."""
        return [self[name] for name in self.advanced]

    @property
    def has_advanced_errors(self) -> bool:
        """Whether the part that is folded in must be open."""
        return any(name in self.errors for name in self.advanced)

    def params(self) -> dict[str, Any]:
        """Return the settings as the core takes them; what was left empty stays at its default."""
        cleaned = self.cleaned_data
        values: dict[str, Any] = {
            "checkpoint": cleaned["hub_id"] or cleaned["folder"],
            "source": "hub" if cleaned["hub_id"] else "folder",
        }
        for name in ("revision", *self.advanced):
            if cleaned.get(name) not in (None, ""):
                values[name] = cleaned[name]
        return values

    def queue(self) -> Queue:
        """Return the queue of the device."""
        return Queue.GPU if self.cleaned_data["device"] == "cuda" else Queue.CPU


class RegisterSutForm(LocalSutForm):
    """Registers a checkpoint under a short name of its own."""

    slug = forms.SlugField(
        label="Short name",
        max_length=64,
        required=False,
        help_text="For addresses and the shell; made from the name if left empty. It cannot be changed.",
    )
    field_order = ["name", "slug", "description", "folder", "hub_id", "revision"]

    def clean(self) -> dict[str, Any]:
        """Make the short name where it was left empty, and see that it is free."""
        cleaned = super().clean()
        slug = cleaned.get("slug") or slugify(cleaned.get("name", ""))[:64]
        if "slug" not in self.errors and cleaned.get("name"):
            if not slug or slug == "new":
                self.add_error(
                    "slug", "Write a short name with letters or digits (“new” is taken by the site)."
                )
            elif SutRecord.objects.filter(slug=slug).exists():
                self.add_error("slug", f"There is already a system called “{slug}”. Choose another name.")
        cleaned["slug"] = slug
        return cleaned


def initial_of(sut: SutRecord) -> dict[str, Any]:
    """Return the form's values of a registered system."""
    values = dict(sut.params)
    checkpoint, source = values.pop("checkpoint", ""), values.pop("source", "folder")
    place = {"hub_id": checkpoint} if source == "hub" else {"folder": checkpoint}
    return values | place | {"name": sut.name, "description": sut.description}
