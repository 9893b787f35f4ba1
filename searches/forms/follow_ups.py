"""Forms around findings: start a follow-up, plan one, flag a scene, write a note, say what is done."""

from collections.abc import Mapping
from typing import Any, cast

from django import forms

from searches.enums import FollowUpName, SceneFlagKind, TriageStatus
from searches.forms.run import form_field
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import VlmLabError
from vlmlab.core.verdicts.config import FOLLOW_UP_CONFIGS, FollowUpConfig, FollowUpKind

STARTED_HERE = (FollowUpName.CONFIRM, FollowUpName.ABLATE, FollowUpName.PROBE)
"""The kinds that start from findings; the others start from pairs, families, envelopes and matrices."""

SHOWN: Mapping[str, tuple[str, ...]] = {
    "confirm": ("protocol", "max_samples", "fdr_level"),
    "ablate": ("pairs", "level", "margin", "reduces", "reduce_scenes"),
    "probe": ("scenes",),
}
FINE: Mapping[str, tuple[str, ...]] = {
    "confirm": ("paper_samples", "paper_top", "later_share", "coverage", "futility")
}
BUDGET = ("inference_budget", "spend_cap_usd", "wall_clock_budget_s", "slots")
WHICH = (
    ("all", "All suspects"),
    ("minimal", "Only minimal ones"),
    ("top", "Only those that failed most"),
)
PROTOCOLS = {
    "sequential": "Until the evidence decides",
    "paper": "As published: a fixed number of scenes",
}


class FollowUpForm(forms.Form):
    """Settings of one kind of follow-up; ``cleaned_data["values"]`` holds them by name.

    ``fixed`` are those that an earlier one has decided: they are shown, and nobody can change them.
    """

    name = forms.CharField(
        label="Name", max_length=120, required=False, help_text="Left empty, it says what is looked at."
    )

    accepts_changed_system = forms.BooleanField(
        label="Also ask a system that was changed since",
        required=False,
        help_text="Its answers then say nothing about the system that the search asked.",
    )

    def __init__(
        self,
        *args: Any,
        kind: str,
        has_choice: bool,
        fixed: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        config_type = FOLLOW_UP_CONFIGS[cast(FollowUpKind, kind)]
        for name in self.names:
            field = form_field(config_type.model_fields[name], name, concepts=[])
            if name == "protocol":
                field = forms.ChoiceField(
                    label=field.label,
                    choices=list(PROTOCOLS.items()),
                    widget=forms.RadioSelect,
                    help_text="Only the first bounds the share of false discoveries. The second asks the "
                    "top sets, see the fine settings.",
                )
            self.fields[name] = field
            if fixed and name in fixed:
                field.disabled, field.initial = True, fixed[name]
                field.help_text = "As in the first confirmation of this search: they share one error rate."
                self.initial[name] = fixed[name]
        if has_choice:
            self.fields["which"] = forms.ChoiceField(label="Which", choices=WHICH, widget=forms.RadioSelect)
            self.fields["top"] = forms.IntegerField(
                label="How many of those",
                min_value=1,
                max_value=10_000,
                required=False,
                help_text="Read only with “Only those that failed most”.",
            )
        self.config_type = config_type

    @property
    def names(self) -> tuple[str, ...]:
        """The settings that the form shows."""
        return (*SHOWN[self.kind], *FINE.get(self.kind, ()), *BUDGET)

    def clean(self) -> dict[str, Any]:
        """Check the settings together; what is wrong with one stands at its field."""
        cleaned = super().clean() or {}
        if cleaned.get("which") == "top" and not cleaned.get("top") and "top" not in self.errors:
            self.add_error("top", "Say how many.")
        if self.errors:
            return cleaned
        values = {name: cleaned[name] for name in self.names}
        try:
            checked_settings(self.config_type, values)
        except VlmLabError as error:
            self.add_error(error.field if error.field in self.fields else None, str(error))
        cleaned["values"] = values
        return cleaned

    @property
    def shown(self) -> list[forms.BoundField]:
        """The settings of the kind, without checkboxes and radio buttons."""
        return [self[name] for name in SHOWN[self.kind] if name not in ("protocol", "reduces")]

    @property
    def fine(self) -> list[forms.BoundField]:
        """Settings that few people change."""
        return [self[name] for name in FINE.get(self.kind, ())]

    @property
    def budget(self) -> list[forms.BoundField]:
        """What it may spend."""
        return [self[name] for name in BUDGET]


def initial_values(kind: str) -> dict[str, Any]:
    """Return what the empty form of a kind shows: the core's defaults."""
    config: FollowUpConfig = FOLLOW_UP_CONFIGS[cast(FollowUpKind, kind)]()
    return config.model_dump() | {"which": "all", "top": 10}


class PlannerForm(forms.Form):
    """What a person assumes before asking how many fresh scenes settle a set."""

    tau = forms.FloatField(
        label="Failure rate threshold", min_value=0.01, max_value=0.99, initial=0.6,
        help_text="Above it a set is a failure mode.",
    )  # fmt: skip
    rate = forms.FloatField(
        label="Assumed failure rate", min_value=0.01, max_value=1.0, initial=0.85,
        help_text="What you think is true. Take less than the search saw: its counts are too high.",
    )  # fmt: skip
    family = forms.IntegerField(
        label="Sets in the family", min_value=1, max_value=10_000, initial=10,
        help_text="Suspects that are settled together; more of them need more scenes each.",
    )  # fmt: skip
    level = forms.FloatField(
        label="False discovery rate", min_value=0.001, max_value=0.5, initial=0.1,
        help_text="Share of confirmed sets that may be false, on average.",
    )  # fmt: skip
    others = forms.IntegerField(
        label="Others that are confirmed", min_value=0, max_value=10_000, initial=0,
        help_text="Each suspect that is confirmed as well lowers the bar. 0 is the safe guess.",
    )  # fmt: skip
    max_samples = forms.IntegerField(
        label="Most scenes a set", min_value=5, max_value=1_000, initial=100,
        help_text="After as many a set stays undetermined.",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("tau", "rate", "level"):
            self.fields[name].widget.attrs["step"] = "any"


class NoteForm(forms.Form):
    """A note beside a finding or a test case."""

    text = forms.CharField(
        label="Add a note", max_length=4_000, widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Write a few words."},
    )  # fmt: skip


class TriageForm(forms.Form):
    """What is being done about a finding, and its tags."""

    triage = forms.ChoiceField(label="Status", choices=TriageStatus.choices)
    tags = forms.CharField(
        label="Tags", required=False, max_length=500, help_text="Separated by commas, such as: night, cones."
    )

    def clean_tags(self) -> list[str]:
        """Return the tags one by one."""
        return str(self.cleaned_data["tags"]).split(",")


class FlagForm(forms.Form):
    """What is wrong with a generated scene."""

    kinds = forms.MultipleChoiceField(
        label="What is wrong?", choices=SceneFlagKind.choices, widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one."},
    )  # fmt: skip
    comment = forms.CharField(
        label="In your words", required=False, max_length=2_000, widget=forms.Textarea(attrs={"rows": 2})
    )


def said_wrong(form: forms.Form) -> str:
    """Return everything that is wrong with a form in one line, for pages that cannot draw it again."""
    return " ".join(str(text) for texts in form.errors.values() for text in texts)
