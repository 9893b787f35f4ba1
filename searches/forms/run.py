"""The form that starts a search: fields made from the core's configuration, so that the two cannot differ."""

import secrets
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from django import forms
from pydantic.fields import FieldInfo

from searches.forms.fields import RowsField
from searches.forms.sut_fields import NOTHING
from searches.models import PictureSource, SutRecord, Trial
from searches.services.domain_store import current_domain, current_domains
from searches.services.source_checks import checked_domain, shown_size, unpictured
from searches.services.source_obstacles import (
    all_source_choices,
    backend_obstacle,
    embedded_obstacle,
    obstacle_of,
)
from searches.services.wanted_confirmations import WantedConfirmation, with_confirmation
from vlmlab.core.complaints import checked_settings, number_wanted
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.revelio.config import CHOICE_LABELS, PRESETS, RevelioConfig, config_from_values
from vlmlab.core.revelio.space import allowed_masks
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.web.evidence import set_words

SHOWN_OTHERWISE = frozenset({"backend", "image_width", "image_height"})
IMAGE_SIZES = ("320x240", "448x336", "640x480")
DEFAULT_PRESET = "quick_look"
ALGORITHM_NOTES = {
    "sits": "Learns which concepts fail together and stops a set once its class is certain. Finds most.",
    "gpts": "The published method: beam search first, then Thompson sampling.",
    "beam": "The published search by levels: keeps the worst sets and extends them by one concept.",
    "random": "Uniform over sets of one to four concepts. The yardstick for the others.",
}
# Settings grouped as the page shows them, checkboxes last; every setting of the core stands in one group.
WHEN_A_SET_FAILS = ("failure_rate_threshold", "samples_per_set", "max_set_size", "strict", "curtail")
BUDGET = ("inference_budget", "wall_clock_budget_s", "spend_cap_usd", "slots")
CONCEPTS = ("excluded_concepts", "required_concepts")
AFTERWARDS = ("ask_reason",)
FINE_SETTINGS = {
    "sits": ("novelty", "size_penalty", "keep_probability", "sits_pool", "minimal"),
    "beam and gpts": ("beam_width", "diversity_weight", "beam_literal"),
    "gpts": ("warm_start_share", "pool", "kernel"),
}
KEPT_WHEN_ASKED_AGAIN = (
    "failure_rate_threshold", "strict", "ask_reason", "image_width", "image_height", "backend",
)  # fmt: skip
SCENES_WHEN_ASKED_AGAIN = 20
DEFAULT_SHARE = 0.3
CONFIRM_CHOICES = (
    ("", "No"),
    ("extra", "With inferences beyond the budget"),
    ("share", "With a share of the budget"),
)
UNITS = {"wall_clock_budget_s": "seconds", "spend_cap_usd": "US$"}


class RunForm(forms.Form):
    """What to test, how, and for how much; ``cleaned_data["config"]`` is the core's frozen configuration."""

    suts = RowsField(
        queryset=SutRecord.objects.none(),
        label="Systems under test",
        widget=forms.CheckboxSelectMultiple,
        help_text="One run for each.",
        error_messages={"required": "Choose at least one system."},
    )
    domain = forms.ChoiceField(label="Domain")
    backend = forms.ChoiceField(
        label="Pictures from",
        required=False,
        help_text="The renderer of the lab, or a picture source that somebody has set up.",
        error_messages={"invalid_choice": "This source of pictures is gone or switched off. Choose another."},
    )
    image_size = forms.ChoiceField(
        label="Size of the pictures",
        choices=[(size, size.replace("x", " × ")) for size in IMAGE_SIZES],
        help_text="Larger scenes show far objects better and take longer to draw.",
    )
    name = forms.CharField(
        label="Name", max_length=120, required=False, help_text="Left empty, it says what is searched."
    )
    run_seed = forms.IntegerField(
        label="Run seed", min_value=0, max_value=2**53 - 1, help_text="Same seed and settings, same search."
    )

    confirm = forms.ChoiceField(
        label="Confirm what is found",
        required=False,
        choices=CONFIRM_CHOICES,
        help_text="Once the search has ended, its failure modes are asked on fresh scenes until the evidence "
        "confirms or refutes them. Also possible later, on the page of the run.",
    )
    confirm_share = forms.FloatField(
        label="Share of the budget",
        required=False,
        min_value=0.05,
        max_value=0.9,
        initial=DEFAULT_SHARE,
        help_text="Part of the inference budget that is kept for the confirmation, where it has a share.",
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value"), "Enter a number between 0.05 and 0.9."
        ),
    )
    confirm_share.widget.attrs["step"] = "any"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        suts = self.fields["suts"]
        assert isinstance(suts, forms.ModelMultipleChoiceField)
        suts.queryset = SutRecord.objects.filter(is_enabled=True)
        self.domains = domains = current_domains()
        choice = self.fields["domain"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [(domain.slug, domain.title) for domain in domains]
        backend = self.fields["backend"]
        assert isinstance(backend, forms.ChoiceField)
        backend.choices = all_source_choices()
        backend.unit = NOTHING  # type: ignore[attr-defined]  # read by the tag that draws fields
        concepts = [(one.id, one.label) for domain in domains for one in domain.concepts]
        for name in config_field_names():
            self.fields[name] = form_field(RevelioConfig.model_fields[name], name, concepts=concepts)

    @property
    def chosen_domain(self) -> Domain:
        """The domain that the form names, the first one while it names none that is known."""
        slug = self["domain"].value()
        return next((domain for domain in self.domains if domain.slug == slug), self.domains[0])

    def clean(self) -> dict[str, Any]:
        """Build the configuration; what is wrong with it stands at its field."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        width, height = str(cleaned["image_size"]).split("x")
        values = {name: cleaned[name] for name in config_field_names()}
        backend = cleaned.get("backend") or EMBEDDED
        values |= {"image_width": int(width), "image_height": int(height), "backend": backend}
        domain = self.chosen_domain
        obstacle = backend_obstacle(backend, domain)
        if obstacle:
            self.add_error("backend", obstacle)
            return cleaned
        try:
            config = config_from_values(values)
            allowed_masks(domain, config)
            cleaned["wanted"] = wanted_confirmation(
                str(cleaned.get("confirm") or ""), share=cleaned.get("confirm_share")
            )
            with_confirmation(config, cleaned["wanted"])
        except VlmLabError as error:
            self.add_error(error.field if error.field in self.fields else None, str(error))
            return cleaned
        cleaned["config"] = config
        cleaned["name"] = cleaned["name"] or default_name(config, domain)
        return cleaned

    def group(self, names: tuple[str, ...]) -> list[forms.BoundField]:
        """Return the bound fields of one group."""
        return [self[name] for name in names]


class RaiseLimitForm(forms.Form):
    """The new spending limit of a run that its old one halted."""

    new_limit = forms.FloatField(
        label="New limit",
        required=False,
        help_text="US dollars that the run may cost in all. Empty: no limit.",
        error_messages={"invalid": "Enter an amount such as 2.50, or nothing for no limit."},
    )
    new_limit.widget.attrs["step"] = "any"


def wanted_confirmation(mode: str, *, share: float | None) -> WantedConfirmation | None:
    """Return what the form wishes to be confirmed; None without a wish."""
    if not mode:
        return None
    return checked_settings(WantedConfirmation, {"mode": mode, "share": share or DEFAULT_SHARE})


def config_field_names() -> tuple[str, ...]:
    """Return the settings of the core that the form shows as they are (the two image sizes are one field)."""
    return tuple(name for name in RevelioConfig.model_fields if name not in SHOWN_OTHERWISE)


def form_field(info: FieldInfo, name: str, *, concepts: list[tuple[str, str]]) -> forms.Field:
    """Return the form field for a setting: its type, range, title and help text come from the core."""
    kinds = [kind for kind in get_args(info.annotation) or (info.annotation,) if kind is not NoneType]
    common: dict[str, Any] = {"label": info.title or name, "help_text": info.description or ""}
    if name in CONCEPTS:
        return forms.MultipleChoiceField(
            choices=concepts, required=False, widget=forms.CheckboxSelectMultiple, **common
        )
    if get_origin(info.annotation) is Literal:
        widget = forms.RadioSelect if name == "algorithm" else forms.Select
        labels = CHOICE_LABELS.get(name, {})
        return forms.ChoiceField(
            choices=[(one, labels.get(one, one)) for one in kinds], widget=widget, **common
        )
    if kinds == [bool]:
        return forms.BooleanField(required=False, **common)
    low, high = _limits(info)
    is_required = NoneType not in get_args(info.annotation)
    wanted = number_wanted(info)
    common["error_messages"] = dict.fromkeys(("required", "invalid", "min_value", "max_value"), wanted)
    if kinds == [int]:
        field: forms.Field = forms.IntegerField(min_value=low, max_value=high, required=is_required, **common)  # type: ignore[arg-type]  # an integer setting has integer limits
    else:
        field = forms.FloatField(min_value=low, max_value=high, required=is_required, **common)
        field.widget.attrs["step"] = "any"
    if name in UNITS:
        field.unit = UNITS[name] + ("" if is_required else ", optional")  # type: ignore[attr-defined]  # read by the field tag
    return field


def initial_values(preset: str = DEFAULT_PRESET) -> dict[str, Any]:
    """Return what the empty form shows: the core's defaults, a preset over them, and a fresh seed.

    Raises:
        ConfigError: there is no preset of this name.
    """
    if preset not in PRESETS:
        raise ConfigError(f"There is no preset called “{preset}”.", hint=f"Known: {', '.join(PRESETS)}.")
    config = config_from_values(PRESETS[preset].values)
    return config_values(config.model_dump()) | {
        "domain": "driving",
        "run_seed": secrets.randbelow(100_000),
        "suts": list(SutRecord.objects.filter(is_enabled=True).values_list("pk", flat=True)[:1]),
    }


def source_values(slug: str) -> dict[str, Any]:
    """Return what the form shows to search with a picture source: its domain, what it can show."""
    source = PictureSource.objects.select_related("dataset", "api_key").filter(slug=slug).first()
    if source is None:
        return {}
    try:
        domain = checked_domain(source)
        missing = unpictured(source, domain)
        size = shown_size(source, domain)
    except VlmLabError:  # the form says what is wrong with it
        return {"backend": slug}
    values = {"backend": slug, "domain": domain.slug, "excluded_concepts": list(missing)}
    return values if size is None else values | {"max_set_size": size}


def domain_values(slug: str) -> dict[str, Any]:
    """Return what the form shows to search a domain; where nothing built in draws it, with a source."""
    domain = current_domain(slug)
    if not embedded_obstacle(domain):
        return {"domain": slug}
    rows = PictureSource.objects.select_related("dataset").filter(is_enabled=True).order_by("name")
    fitting = [source for source in rows if not obstacle_of(source, domain)]
    fitting.sort(key=lambda one: one.dataset is None)  # photographs of it before what draws anything
    return (source_values(fitting[0].slug) if fitting else {}) | {"domain": slug}


def again_values(trial: Trial) -> dict[str, Any]:
    """Return what the form shows to ask one concept set again, and nothing else, on fresh scenes.

    A random search among the sets that contain these concepts and have no more of them has one set to draw.
    """
    campaign = trial.run.campaign
    kept = {name: campaign.config[name] for name in KEPT_WHEN_ASKED_AGAIN if name in campaign.config}
    step = 1 + secrets.randbelow(100_000)  # never the seed of that run: its scenes would come again
    settings = {
        "algorithm": "random",
        "required_concepts": list(trial.concepts),
        "max_set_size": trial.size,
        "samples_per_set": SCENES_WHEN_ASKED_AGAIN,
        "inference_budget": SCENES_WHEN_ASKED_AGAIN,
    }
    return config_values(kept | settings) | {
        "name": f"Again: {set_words(trial.concepts, campaign.domain_ref)}"[:120],
        "domain": campaign.domain,
        "run_seed": (trial.run.run_seed + step) % 2**53,
        "suts": [trial.run.sut_id],
    }


def config_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return stored settings as form values (width and height become one field)."""
    rest = RevelioConfig().model_dump() | dict(values)
    size = f"{rest.pop('image_width')}x{rest.pop('image_height')}"
    return rest | {"image_size": size if size in IMAGE_SIZES else "448x336"}


def default_name(config: RevelioConfig, domain: Domain) -> str:
    """Return a name that says what is searched: ``Driving, sits, 60 inferences``."""
    algorithm = (
        f"{config.algorithm}, minimal" if config.algorithm == "sits" and config.minimal else config.algorithm
    )
    return f"{domain.title}, {algorithm}, {config.inference_budget:,} inferences"


def _limits(info: FieldInfo) -> tuple[float | None, float | None]:
    low: float | None = None
    high: float | None = None
    for limit in info.metadata:
        low = getattr(limit, "ge", low)
        high = getattr(limit, "le", high)
    return low, high
