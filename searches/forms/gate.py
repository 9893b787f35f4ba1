"""Forms of regression families, regressions and canaries."""

from collections.abc import Mapping
from typing import Any

from django import forms

from searches.models import RegressionFamily, SutRecord
from searches.services.families import PLANNED, FamilyWish
from vlmlab.core.verdicts.config import RegressConfig


class FamilyForm(forms.Form):
    """Name, baseline and plan of a family."""

    name = forms.CharField(max_length=120, help_text="Such as “Cones in bad weather”.")
    baseline = forms.ModelChoiceField(
        queryset=SutRecord.objects.none(),
        required=False,
        empty_label="None yet",
        help_text="The system that candidates are compared with, unless another is chosen at the start.",
    )
    scenes = forms.IntegerField(
        label="Scenes a mode",
        min_value=1,
        max_value=2_000,
        help_text="Fresh scenes of each member, the same for both systems.",
    )
    margin = forms.FloatField(
        min_value=0.001,
        max_value=0.999,
        help_text="A mode passes when the candidate surely fails at most this much more often.",
    )
    level = forms.FloatField(
        label="Significance level",
        min_value=0.0001,
        max_value=0.4999,
        help_text="Chance of any false “worse” or “fixed” in the whole family.",
    )

    goal = forms.ChoiceField(
        label="Passes when",
        choices=[
            ("no_worse", "no mode is worse than before"),
            ("all_fixed", "every mode surely fails less often than the threshold"),
        ],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["initial"] = default_plan() | dict(kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)
        choice = self.fields["baseline"]
        assert isinstance(choice, forms.ModelChoiceField)
        choice.queryset = SutRecord.objects.order_by("name")

    @property
    def wish(self) -> FamilyWish:
        """What is wished; of a valid form."""
        return FamilyWish(**{name: self.cleaned_data[name] for name in self.fields if name != "family"})

    @property
    def plan(self) -> tuple[int, float, float] | None:
        """Scenes, margin and level as they stand, typed or stored; None where one is not a number."""
        values = [self[name].value() for name in ("scenes", "margin", "level")]
        try:
            return int(values[0]), float(values[1]), float(values[2])
        except (TypeError, ValueError):
            return None


class RegressionForm(forms.Form):
    """Which system is tried against which."""

    candidate = forms.ModelChoiceField(
        queryset=SutRecord.objects.none(),
        to_field_name="slug",
        empty_label="Choose a system",
        help_text="A newer model, or another revision of the same one, registered as a system of its own.",
    )
    baseline = forms.ModelChoiceField(
        queryset=SutRecord.objects.none(), to_field_name="slug", empty_label="Choose a system"
    )
    scenes = forms.IntegerField(label="Scenes a mode", min_value=1, max_value=2_000)

    def __init__(self, *args: Any, family: RegressionFamily, **kwargs: Any) -> None:
        start = {
            "baseline": family.baseline.slug if family.baseline else None,
            "scenes": family.config["scenes"],
        }
        kwargs["initial"] = start | dict(kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)
        for name in ("candidate", "baseline"):
            choice = self.fields[name]
            assert isinstance(choice, forms.ModelChoiceField)
            choice.queryset = SutRecord.objects.filter(is_enabled=True).order_by("name")


class CanaryForm(forms.Form):
    """A family on a system, every n hours."""

    family = forms.ModelChoiceField(
        queryset=RegressionFamily.objects.none(), to_field_name="slug", empty_label="Choose a family"
    )
    sut = forms.ModelChoiceField(
        queryset=SutRecord.objects.none(),
        to_field_name="slug",
        label="System",
        empty_label="Choose a system",
        help_text="Tried each time against the baseline of the family, on scenes that are new each time.",
    )
    every_hours = forms.IntegerField(label="Every", min_value=1, max_value=24 * 366, initial=24)
    every_hours.unit = "hours"  # type: ignore[attr-defined]  # read by the field component

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        family, sut = self.fields["family"], self.fields["sut"]
        assert isinstance(family, forms.ModelChoiceField)
        assert isinstance(sut, forms.ModelChoiceField)
        family.queryset = RegressionFamily.objects.filter(is_archived=False, baseline__isnull=False)
        sut.queryset = SutRecord.objects.filter(is_enabled=True).order_by("name")


def default_plan() -> dict[str, Any]:
    """Return the settings that a new family starts with."""
    defaults = RegressConfig()
    return {name: getattr(defaults, name) for name in PLANNED}


def family_values(family: RegressionFamily) -> Mapping[str, Any]:
    """Return what the form of a stored family shows."""
    config = family.config
    return {
        "name": family.name,
        "baseline": family.baseline_id,
        **{name: config.get(name, default) for name, default in default_plan().items()},
    }
