"""The form that starts a modality search: fields made from the core's settings and the plan of the grid."""

import secrets
from collections.abc import Sequence
from typing import Any, get_args

from django import forms

from searches.enums import DatasetState
from searches.forms.fields import RowsField
from searches.forms.run import form_field
from searches.models import Dataset, SutRecord
from searches.services.modality_campaigns import checked_grid
from searches.services.seed_plans import NO_STRATUM, SeedPlan, StratumCount, seed_rows, stratum_counts
from searches.services.strategy_bars import operator_names, operator_title
from searches.services.word_tables import reviewed_slugs
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.most.config import PRESETS, MostConfig, config_from_values
from vlmlab.core.most.types import REGIMES

DEFAULT_PRESET = "quick"
DEFAULT_SEED_IMAGES = 20
MOST_TRIED = 10  # datasets looked through for one that the empty form can begin with

ALGORITHM_NOTES = {
    "screen": "A little of everything, each operator alone, then the combinations that a model expects to "
    "break it. Finds a failure in the fewest evaluations.",
    "nsga2": "The published search: generations that trade damage against likeness.",
    "random": "Strategies drawn at random. The yardstick for the others.",
    "sweep": "Each operator alone at even steps. For severity-response curves, not for finding failures.",
}
REGIME_NOTES = {
    "image": "only the picture changes",
    "text": "only the prompt changes",
    "joint": "both change, on one budget",
}
TABLE_KINDS = {"homophone_table": "homophone", "synonym_table": "synonym"}
PLANNED = ("n_seed_images", "seed", "replicates", "confirm_most")
# Settings grouped as the page shows them; every setting of the core stands in one group.
CHOSEN = ("algorithm", "regimes")
BUDGET = ("inference_budget", "give_up_after", "slots", "spend_cap_usd", "wall_clock_budget_s")
FAILURE = ("iou_threshold", "max_image_distance", "max_prompt_distance", "baseline_iou")
FAILURE_CHECKS = ("early_stop",)
PERTURBATION = ("perturbation_budget", "smallest_severity", "homophone_table", "synonym_table")
PERTURBATION_CHECKS = ("protect_format", "fidelity_first")
OPERATORS = ("excluded_operators",)
FINE_SETTINGS = {
    "screen": ("most_operators", "strongest", "bisection_steps", "refine"),
    "sweep": ("sweep_levels",),
    "nsga2": ("population_size", "generations", "largest_initial_severity"),
}


class ModalityForm(forms.Form):
    """What to test, how, and for how much; ``cleaned_data`` has ``config``, ``plan`` and ``dataset``."""

    suts = RowsField(
        queryset=SutRecord.objects.none(),
        label="Systems under test",
        widget=forms.CheckboxSelectMultiple,
        help_text="All are asked about the same seed images.",
        error_messages={"required": "Choose at least one system."},
    )
    dataset = forms.ChoiceField(
        label="Dataset",
        help_text="Whose annotated pictures are the seed images.",
        error_messages={
            "required": "Choose a dataset of annotated pictures.",
            "invalid_choice": "This dataset is gone or not ready. Choose another.",
        },
    )
    strata = forms.MultipleChoiceField(
        label="Scene types",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=SeedPlan.model_fields["strata"].description or "",
        error_messages={"invalid_choice": "This dataset has no such scene type. Choose among those shown."},
    )
    name = forms.CharField(
        label="Name", max_length=120, required=False, help_text="Left empty, it says what is searched."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        suts = self.fields["suts"]
        assert isinstance(suts, forms.ModelMultipleChoiceField)
        suts.queryset = SutRecord.objects.filter(is_enabled=True)
        self.datasets = {one.slug: one for one in Dataset.objects.filter(state=DatasetState.READY)}
        _set_choices(
            self.fields["dataset"],
            [(one.slug, f"{one.title} ({one.n_pictures:,} pictures)") for one in self.datasets.values()],
        )
        self.strata_counts = self._strata_counts()
        _set_choices(self.fields["strata"], [(one.name or NO_STRATUM, "") for one in self.strata_counts])
        for name in PLANNED:
            self.fields[name] = form_field(SeedPlan.model_fields[name], name, concepts=[])
        for name in MostConfig.model_fields:
            self.fields[name] = _setting_field(name)

    @property
    def chosen_dataset(self) -> Dataset | None:
        """The dataset that the form names; None while it names none that is ready."""
        return self.datasets.get(str(self["dataset"].value()))

    def clean(self) -> dict[str, Any]:
        """Build configuration and plan; what is wrong with them stands at its field."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        dataset = self.datasets[cleaned["dataset"]]
        chosen = {"" if name == NO_STRATUM else name for name in cleaned["strata"]}
        if chosen == {one.name for one in self.strata_counts}:
            chosen = set()  # all of them is what no choice means
        try:
            config = config_from_values({name: cleaned[name] for name in MostConfig.model_fields})
            values = {name: cleaned[name] for name in PLANNED}
            plan = checked_settings(SeedPlan, values | {"strata": tuple(sorted(chosen))})
            checked_grid(config, plan, suts=list(cleaned["suts"]), dataset=dataset)
        except VlmLabError as error:
            self.add_error(error.field if error.field in self.fields else None, str(error))
            return cleaned
        cleaned |= {"config": config, "plan": plan, "dataset": dataset}
        cleaned["name"] = cleaned["name"] or default_name(config, dataset)
        return cleaned

    def group(self, names: Sequence[str]) -> list[forms.BoundField]:
        """Return the bound fields of one group."""
        return [self[name] for name in names]

    def _strata_counts(self) -> tuple[StratumCount, ...]:
        dataset = self.chosen_dataset
        return stratum_counts(dataset) if dataset is not None else ()


def remaining_settings() -> tuple[str, ...]:
    """Return the settings of the core that no group of the page names; they are shown last."""
    grouped = {
        *CHOSEN, *BUDGET, *FAILURE, *FAILURE_CHECKS, *PERTURBATION, *PERTURBATION_CHECKS, *OPERATORS,
        *(name for names in FINE_SETTINGS.values() for name in names),
    }  # fmt: skip
    return tuple(name for name in MostConfig.model_fields if name not in grouped)


def initial_values(preset: str = DEFAULT_PRESET) -> dict[str, Any]:
    """Return what the empty form shows: the core's defaults, a preset over them, and a fresh seed.

    Raises:
        ConfigError: there is no preset of this name.
    """
    if preset not in PRESETS:
        raise ConfigError(f"There is no preset called “{preset}”.", hint=f"Known: {', '.join(PRESETS)}.")
    datasets = Dataset.objects.filter(state=DatasetState.READY).order_by("-is_sample", "title")
    dataset = next((one for one in datasets[:MOST_TRIED] if seed_rows(one)), None)
    return config_from_values(PRESETS[preset].values).model_dump() | {
        "suts": list(SutRecord.objects.filter(is_enabled=True).values_list("pk", flat=True)[:1]),
        "dataset": dataset.slug if dataset is not None else "",
        "n_seed_images": DEFAULT_SEED_IMAGES,
        "replicates": 1,
        "seed": secrets.randbelow(100_000),
    }


def default_name(config: MostConfig, dataset: Dataset) -> str:
    """Return a name that says what is searched: ``Street scenes, screen, image and text``."""
    *first, last = config.regimes
    regimes = f"{', '.join(first)} and {last}" if first else last
    return f"{dataset.title[:70]}, {config.algorithm}, {regimes}"


def form_strata(strata: Sequence[str]) -> list[str]:
    """Return strata as the form names them."""
    return [name or NO_STRATUM for name in strata]


def _setting_field(name: str) -> forms.Field:
    info = MostConfig.model_fields[name]
    common: dict[str, Any] = {"label": info.title or name, "help_text": info.description or ""}
    if name in TABLE_KINDS:
        tables = reviewed_slugs(TABLE_KINDS[name])  # type: ignore[arg-type]  # the kinds of the table above
        return forms.ChoiceField(
            choices=[("", "The shipped table"), *tables],
            required=False,
            widget=forms.Select,
            label=common["label"],
            help_text=f"A word table that people have looked through, for the operator {TABLE_KINDS[name]}.",
        )
    if name == "regimes":
        return forms.MultipleChoiceField(
            choices=[(one, one.capitalize()) for one in REGIMES],
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": "Choose at least one regime."},
            **common,
        )
    if name == "excluded_operators":
        return forms.MultipleChoiceField(
            choices=[(one, operator_title(one)) for one in operator_names()],
            required=False,
            widget=forms.CheckboxSelectMultiple,
            **common,
        )
    return form_field(info, name, concepts=[])


def algorithms() -> tuple[str, ...]:
    """Return the algorithms of the core, what we recommend first."""
    return tuple(get_args(MostConfig.model_fields["algorithm"].annotation))


def _set_choices(field: forms.Field, choices: list[tuple[str, str]]) -> None:
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices
