"""The form of an experiment: algorithms, one setting to vary, run seeds, and what all arms share."""

import secrets
from collections.abc import Mapping
from typing import Any

from django import forms

from searches.forms.fields import RowsField
from searches.forms.run import IMAGE_SIZES, form_field
from searches.forms.sut_fields import NOTHING
from searches.models import SutRecord
from searches.services.domain_store import current_domains
from searches.services.experiments import ExperimentWish, default_name
from searches.services.source_obstacles import all_source_choices, backend_obstacle
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.revelio.bench import ALGORITHM_NAMES
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.experiments import (
    AXES,
    MOST_SEEDS,
    axis_of,
    make_arms,
    make_spec,
    read_values,
    varied_settings,
)
from vlmlab.core.revelio.published import published
from vlmlab.core.revelio.space import allowed_masks
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.core.verdicts.reproduction import REPRODUCTIONS, Reproduction

SHARED = (
    "inference_budget", "samples_per_set", "failure_rate_threshold", "max_set_size", "beam_width",
    "diversity_weight", "warm_start_share", "slots", "spend_cap_usd",
)  # fmt: skip
DEFAULT_SEEDS = 3
LAPTOP_BUDGET = 200
SCALES = {"1": "Full size", "0.2": "A fifth", "0.1": "A tenth"}
"""Parts of the published budget that a reproduction may start with."""
DEFAULT_ALGORITHMS = ("random", "beam", "gpts", "sits-minimal")


class ExperimentForm(forms.Form):
    """What to compare; ``cleaned_data["wish"]`` is what is stored."""

    suts = RowsField(
        queryset=SutRecord.objects.none(),
        label="Systems under test",
        widget=forms.CheckboxSelectMultiple,
        help_text="Every arm is run on each of them.",
        error_messages={"required": "Choose at least one system."},
    )
    domain = forms.ChoiceField(label="Domain")
    backend = forms.ChoiceField(
        label="Pictures from",
        required=False,
        help_text="The same for all arms.",
        error_messages={"invalid_choice": "This source of pictures is gone or switched off. Choose another."},
    )
    image_size = forms.ChoiceField(
        label="Size of the pictures", choices=[(size, size.replace("x", " × ")) for size in IMAGE_SIZES]
    )
    name = forms.CharField(
        label="Name", max_length=120, required=False, help_text="Left empty, it says what is varied."
    )
    algorithms = forms.MultipleChoiceField(
        label="Algorithms",
        choices=[(name, name) for name in ALGORITHM_NAMES],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one algorithm."},
    )
    axis = forms.ChoiceField(
        label="Setting to vary",
        required=False,
        help_text="One setting takes several values; everything else stays as below.",
    )
    values = forms.CharField(
        label="Values",
        max_length=400,
        required=False,
        help_text="With commas between them, such as 1, 5, 10. Empty: those of the setting.",
    )
    n_seeds = forms.IntegerField(
        label="Run seeds",
        min_value=1,
        max_value=MOST_SEEDS,
        help_text="Every arm is run with each; intervals need at least two, better five.",
        error_messages=dict.fromkeys(
            ("required", "invalid", "min_value", "max_value"), f"Enter a whole number from 1 to {MOST_SEEDS}."
        ),
    )
    first_seed = forms.IntegerField(
        label="First run seed",
        min_value=0,
        max_value=2**53 - 1 - MOST_SEEDS,
        help_text="The others follow it.",
    )
    preset = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        suts = self.fields["suts"]
        assert isinstance(suts, forms.ModelMultipleChoiceField)
        suts.queryset = SutRecord.objects.filter(is_enabled=True)
        self.domains = current_domains()
        for name, choices in (
            ("domain", [(domain.slug, domain.title) for domain in self.domains]),
            ("backend", all_source_choices()),
            ("axis", axis_choices()),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices
        for name in ("backend", "axis", "values"):
            self.fields[name].unit = NOTHING  # type: ignore[attr-defined]  # read by the tag that draws fields
        for name in SHARED:
            self.fields[name] = form_field(RevelioConfig.model_fields[name], name, concepts=[])

    @property
    def chosen_domain(self) -> Domain:
        """The domain that the form names, the first one while it names none that is known."""
        slug = self["domain"].value()
        return next((domain for domain in self.domains if domain.slug == slug), self.domains[0])

    @property
    def reproduction(self) -> Reproduction | None:
        """What it reproduces, if it does."""
        return REPRODUCTIONS.get(str(self["preset"].value() or ""))

    def clean(self) -> dict[str, Any]:
        """Build what is stored; what is wrong with it stands at its field."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        domain, backend = self.chosen_domain, cleaned["backend"] or EMBEDDED
        obstacle = backend_obstacle(backend, domain)
        if obstacle:
            self.add_error("backend", obstacle)
            return cleaned
        try:
            cleaned["wish"] = self._wish(cleaned, domain, backend)
        except VlmLabError as error:
            self.add_error(error.field if error.field in self.fields else None, str(error))
        return cleaned

    def _wish(self, cleaned: Mapping[str, Any], domain: Domain, backend: str) -> ExperimentWish:
        width, height = str(cleaned["image_size"]).split("x")
        base = {name: cleaned[name] for name in SHARED}
        base |= {"image_width": int(width), "image_height": int(height), "backend": backend}
        arms = make_arms(
            base, cleaned["algorithms"], axis=cleaned["axis"], values=read_values(cleaned["values"])
        )
        for arm in arms:
            allowed_masks(domain, arm.config)
        spec = make_spec(
            domain=domain.ref,
            suts=tuple(sut.slug for sut in cleaned["suts"]),
            axis=cleaned["axis"],
            arms=arms,
            run_seeds=tuple(cleaned["first_seed"] + number for number in range(cleaned["n_seeds"])),
        )
        preset = cleaned["preset"] if cleaned["preset"] in REPRODUCTIONS else ""
        return ExperimentWish(cleaned["name"] or default_name(spec), spec, list(cleaned["suts"]), preset)

    def shared(self) -> list[forms.BoundField]:
        """Return the fields that all arms share."""
        return [self[name] for name in SHARED]


def axis_choices() -> list[tuple[str, str]]:
    """Return the settings that can be varied, nothing first."""
    return [("", "None: compare the algorithms"), *((one, axis_of(one).title) for one in varied_settings())]


def initial_values(preset: str = "", *, domain: str = "", scale: str = "") -> dict[str, Any]:
    """Return what the form shows before anything was entered.

    Args:
        preset: what is reproduced, "" for nothing; an unknown one counts as "".
        domain: where; one without published numbers falls back to the first that has some.
        scale: part of the published budget, a key of ``SCALES``.
    """
    defaults = RevelioConfig()
    values: dict[str, Any] = {name: getattr(defaults, name) for name in SHARED}
    values |= {
        "domain": domain or "driving",
        "image_size": "448x336",
        "algorithms": list(DEFAULT_ALGORITHMS),
        "axis": "",
        "values": "",
        "n_seeds": DEFAULT_SEEDS,
        "first_seed": secrets.randbelow(100_000),
        "inference_budget": LAPTOP_BUDGET,
        "suts": list(SutRecord.objects.filter(is_enabled=True).values_list("pk", flat=True)[:1]),
    }
    found = REPRODUCTIONS.get(preset)
    if found is not None and found.starts_experiment:
        setting = published().setting
        part = float(scale) if scale in SCALES else 1.0
        values |= {
            "preset": preset,
            "name": f"{found.paper}, {found.label}: {found.title}"[:120],
            "domain": domain if domain in found.domains else found.domains[0],
            "algorithms": list(found.algorithms),
            "axis": found.axis,
            "values": ", ".join(found.values),
            "inference_budget": max(1, round(part * setting.inference_budget)),
            **found.settings,
        }
    return values


def axis_values(axis: str) -> dict[str, Any]:
    """Return what the form shows to vary one setting, as a link of the page asks for it."""
    try:
        found = axis_of(axis)
    except ConfigError:
        return {}
    algorithm = {"warm_start": "gpts", "kernel": "gpts", "pool": "gpts"}.get(axis, "beam")
    return {"axis": axis, "values": ", ".join(found.values), "algorithms": [algorithm]}


def short_axes() -> list[tuple[str, str]]:
    """Return the axes of the table for the page's links."""
    return [(name, axis.title) for name, axis in AXES.items()]
