"""The form that asks for an annotated dataset drawn from scenes."""

from typing import Any

from django import forms

from searches.models import PictureSource
from searches.services.datasets import MOST_PICTURES, Recipe, checked_recipe
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.render.backends import EMBEDDED, SCENE_BACKENDS
from vlmlab.core.scenes.strata import STRATA

SIZES = ("320x240", "448x336", "640x480", "800x600")
PIXELS = "Width × height. Far things in driving scenes need 640 × 480."


class DatasetForm(forms.Form):
    """How many pictures of which kinds of scene, in which size, from which seed."""

    title = forms.CharField(max_length=120, help_text="What people find it by.")
    n = forms.IntegerField(
        label="Pictures",
        min_value=1,
        max_value=MOST_PICTURES,
        initial=100,
        help_text="In all; they are dealt evenly to the kinds of scene. Drawing one takes about a second.",
    )
    strata = forms.MultipleChoiceField(
        label="Kinds of scene",
        choices=[(one.id, one.title) for one in STRATA.values()],
        initial=list(STRATA),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one kind of scene."},
    )
    size = forms.ChoiceField(
        label="Size",
        choices=[(one, one.replace("x", " × ")) for one in SIZES],
        initial="448x336",
        help_text=PIXELS,
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        help_text="The same seed and settings give the same pictures.",
    )
    backend = forms.ChoiceField(label="Drawn by", choices=[])
    description = forms.CharField(
        max_length=2000, required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text="For people."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        backend = self.fields["backend"]
        assert isinstance(backend, forms.ChoiceField)
        able = [name for name, kind in SCENE_BACKENDS.items() if kind.has_boxes and kind.is_described]
        sources = PictureSource.objects.filter(is_enabled=True, kind__in=able).order_by("name")
        backend.choices = [(EMBEDDED, "Embedded renderer"), *sources.values_list("slug", "name")]
        self.recipe: Recipe | None = None

    def clean(self) -> dict[str, Any]:
        """Make the recipe; what is wrong with it stands at its field."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        width, _, height = cleaned["size"].partition("x")
        try:
            self.recipe = checked_recipe(
                n=cleaned["n"],
                seed=cleaned["seed"],
                strata=tuple(cleaned["strata"]),
                width=int(width),
                height=int(height),
                backend=cleaned["backend"],
            )
        except VlmLabError as error:
            self.add_error(error.field if error.field in self.fields else None, str(error))
        return cleaned
