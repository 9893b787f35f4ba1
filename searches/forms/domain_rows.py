"""The fields of each row of a domain file, and the form that edits one row."""

from collections.abc import Mapping
from typing import Any

from django import forms

from searches.forms.domain_values import LONG_KINDS, ChoiceList, FieldPlan, read_value, write_value
from searches.forms.sut_fields import NOTHING
from searches.services.domain_drafts import CONSTRAINT_WORDS, rows_of
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS

IDS = "Ids, with commas between them."
KINDS: ChoiceList = (
    ("object", "Object: a thing that can be pointed at"),
    ("agent", "Agent: a person or an animal"),
    ("state", "State: something that has happened, such as a spill"),
    ("entity", "Entity: stands at a place and distance"),
    ("scene", "Scene: where it is"),
    ("map", "Map: a town"),
    ("signal", "Signal: a light or a junction"),
    ("modifier", "Modifier: weather, place or distance"),
)
GLYPHS: ChoiceList = tuple(
    (one, one.capitalize())
    for one in (
        "obstacle", "person", "vehicle", "prop", "signal", "map", "weather", "modifier",
        "room", "liquid", "blade", "chemical", "fire", "electric", "heat", "glass",
    )
)  # fmt: skip
STANCES: ChoiceList = (("", "Not said"), ("hazard", "Hazard"), ("safe", "Safe"), ("neutral", "Neutral"))
DECIDES: ChoiceList = (
    ("first", "The first rule that holds"),
    ("best_fit", "The rule that speaks of the most concepts"),
)
WORDS: ChoiceList = (
    ("reaction", "Under-reaction, insufficient, over-reaction"),
    ("hazard", "Missed hazard, over-caution"),
)
WORLDS: ChoiceList = (
    ("", "Nothing: pictures come from a picture source"),
    *((one, one.capitalize()) for one in DOMAIN_SLUGS),
)

PLANS: Mapping[str, tuple[FieldPlan, ...]] = {
    "facts": (
        FieldPlan(("title",), "Title"),
        FieldPlan(("max_size",), "Largest set", "whole", "Concepts in one picture, at most 8."),
        FieldPlan(("decides_by",), "Which rule decides", "choice", choices=DECIDES),
        FieldPlan(("error_words",), "Wrong answers are called", "choice", choices=WORDS),
        FieldPlan(("draws_as",), "Drawn by the built-in world", "choice", choices=WORLDS),
        FieldPlan(
            ("default_weather",), "Weather where a set names none",
            help="An id; only for driving.", is_rare=True,
        ),
        FieldPlan(
            ("question",), "Question", "text",
            "{options}: the answers. {question}: what the deciding rule asks. {speed}: speed of the car.",
            is_wide=True,
        ),
        FieldPlan(("answer_request",), "How to answer", "text", is_wide=True),
        FieldPlan(("reason_request",), "How to answer with a reason", "text", is_wide=True),
        FieldPlan(
            ("kinematics", "ego_speed_mps"), "Speed of the car, m/s", "number",
            "Only for driving.", is_rare=True,
        ),
        FieldPlan(("kinematics", "full_braking_mps2"), "Full braking, m/s²", "number", is_rare=True),
        FieldPlan(
            ("kinematics", "brake_share"), "How hard each answer brakes", "numbers",
            "One a line, from 0 to 1: “slow_down: 0.5”.", is_rare=True,
        ),
        FieldPlan(
            ("distances_m",), "Distances in metres", "ranges", "One a line: “near: 2, 4”.", is_rare=True,
        ),
        FieldPlan(("macros",), "Macros", "lists", "One a line: “child: id, id”; rules write @child."),
        FieldPlan(
            ("aliases",), "Other names of concepts", "texts", "One a line: “other name: id”.", is_rare=True,
        ),
    ),
    "actions": (
        FieldPlan(("id",), "Id"),
        FieldPlan(("label",), "Label", help="As tables show it."),
        FieldPlan(("option",), "Text of the answer", help="What the system reads.", is_wide=True),
    ),
    "concepts": (
        FieldPlan(("id",), "Id", help="Small letters, digits and underscores."),
        FieldPlan(("label",), "Label"),
        FieldPlan(("category",), "Heading"),
        FieldPlan(("kind",), "Kind", "choice", choices=KINDS),
        FieldPlan(("glyph",), "Sign", "choice", choices=GLYPHS),
        FieldPlan(("stance",), "By itself it is", "choice", choices=STANCES),
        FieldPlan(("description",), "Description", "text", "One sentence.", is_wide=True),
        FieldPlan(("snippet",), "Words for image models", is_wide=True),
        FieldPlan(("statement_true",), "True where it is present", is_wide=True),
        FieldPlan(("statement_false",), "False where it is present", is_wide=True),
        FieldPlan(("group",), "Group", help="Concepts of one group fill the same place.", is_rare=True),
        FieldPlan(("implies",), "Brings along", "ids", IDS, is_rare=True),
        FieldPlan(("placement",), "Placement", is_rare=True),
        FieldPlan(("distance",), "Distance", is_rare=True),
        FieldPlan(("cls",), "Class", is_rare=True),
        FieldPlan(
            ("sets",), "Changes its entity", "texts", "One a line: “placement: sidewalk”.", is_rare=True,
        ),
        FieldPlan(("modifiable",), "Place and distance change it", "yes", is_rare=True),
        FieldPlan(("adverse",), "This weather is a reason to slow down", "yes", is_rare=True),
    ),
    "constraints": (
        FieldPlan(("id",), "Id"),
        FieldPlan(("type",), "Kind", "choice", choices=tuple(CONSTRAINT_WORDS.items())),
        FieldPlan(("ids",), "Concepts", "ids", f"{IDS} For “at most one” and “not together”.", is_wide=True),
        FieldPlan(("other_ids",), "Not together with", "ids", IDS, is_wide=True),
        FieldPlan(("if",), "Where one of these is there", "ids", f"{IDS} Empty: always.", is_wide=True),
        FieldPlan(("any",), "One of these is needed", "ids", IDS, is_wide=True),
        FieldPlan(("explanation",), "Why", is_wide=True),
        FieldPlan(("advice",), "What to do", is_wide=True),
    ),
    "rules": (
        FieldPlan(("id",), "Id"),
        FieldPlan(("title",), "Title"),
        FieldPlan(("action",), "Expected answer", "choice"),
        FieldPlan(("topic",), "Topic"),
        FieldPlan(
            ("when", "elements"), "Speaks of", "elements",
            "Ids, with commas; “a | b” where one is enough; @name for a macro.", is_wide=True,
        ),
        FieldPlan(("when", "has"), "All of these are there", "ids", IDS),
        FieldPlan(("when", "has_any"), "One of these is there", "ids", IDS),
        FieldPlan(("when", "lacks"), "None of these is there", "ids", IDS),
        FieldPlan(("when", "no_adverse_weather"), "The weather is not adverse", "yes", is_rare=True),
        FieldPlan(("when", "any_entity", "placement"), "Something stands (placement)", is_rare=True),
        FieldPlan(("when", "any_entity", "distance"), "At one of these distances", "ids", is_rare=True),
        FieldPlan(("question",), "Its question", help="Put in place of {question}.", is_wide=True),
        FieldPlan(("why",), "Why this answer is right", "text", is_wide=True),
        FieldPlan(("priority",), "Priority", "whole", "Among equal rules the smaller one decides."),
    ),
}  # fmt: skip


class RowForm(forms.Form):
    """One row of a domain file; what a person does not touch stays as it is in the file.

    Args:
        section: key of ``PLANS``.
        row: the row, or the whole content for ``facts``.
        content: the whole file, for choices.
        data: what was sent, if anything.
    """

    def __init__(
        self,
        section: str,
        row: Mapping[str, Any],
        *,
        content: Mapping[str, Any],
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(data, prefix="row")
        self.row, self.plans = row, PLANS[section]
        for plan in self.plans:
            choices = plan.choices
            if plan.path == ("action",):
                choices = tuple(
                    (str(one.get("id", "")), str(one.get("label") or one.get("id", "")))
                    for one in rows_of(content, "actions")
                )
            self.fields[plan.name] = _form_field(plan, write_value(plan, plan.read(row)), choices)

    @property
    def rows(self) -> list[tuple[forms.BoundField, str]]:
        """The bound fields that every row needs, with the class that places each."""
        return self._rows(is_rare=False)

    @property
    def rare_rows(self) -> list[tuple[forms.BoundField, str]]:
        """The bound fields that few rows need."""
        return self._rows(is_rare=True)

    @property
    def has_rare_values(self) -> bool:
        """Whether the fold must be open: something stands in it, or is wrong."""
        return any(
            plan.is_rare and (plan.name in self.errors or write_value(plan, plan.read(self.row)))
            for plan in self.plans
        )

    def _rows(self, *, is_rare: bool) -> list[tuple[forms.BoundField, str]]:
        return [
            (self[plan.name], "full" if plan.is_wide else "")
            for plan in self.plans
            if plan.is_rare == is_rare
        ]

    def clean(self) -> dict[str, Any]:
        """Read each changed field; ``changed_row`` is then complete."""
        cleaned = super().clean() or {}
        for plan in self.plans:
            if plan.name in self.errors:
                continue
            text = (
                str(cleaned.get(plan.name) or "")
                if plan.kind != "yes"
                else ("on" if cleaned.get(plan.name) else "")
            )
            try:
                cleaned[plan.name] = read_value(plan, text)
            except forms.ValidationError as error:
                self.add_error(plan.name, error)
        return cleaned

    def changed_row(self) -> dict[str, Any]:
        """Return the row with what was changed; an emptied field leaves the row."""
        row: dict[str, Any] = _copied(self.row)
        for plan in self.plans:
            new = self.cleaned_data.get(plan.name)
            shown = write_value(plan, plan.read(self.row))
            said = write_value(plan, new)
            if said != shown.replace("\r\n", "\n").strip():
                _put(row, plan.path, new)
        return row


def _form_field(plan: FieldPlan, shown: str, choices: ChoiceList) -> forms.Field:
    settings: dict[str, Any] = {
        "label": plan.label,
        "required": False,
        "help_text": plan.help,
        "initial": shown,
    }
    if plan.kind == "yes":
        return forms.BooleanField(**settings | {"initial": shown == "on"})
    if plan.kind == "choice":
        known = [name for name, _ in choices]
        if shown not in known:
            # "" = left out: what the file does not say is filled in; an unknown value stays to be corrected.
            choices = ((shown, shown or "As usual"), *choices)
        chosen = forms.ChoiceField(choices=choices, **settings)
        chosen.unit = NOTHING  # type: ignore[attr-defined]  # "" stands among the choices
        return chosen
    if plan.kind in LONG_KINDS:
        rows = min(8, max(2, shown.count("\n") + 1 + len(shown) // 90))
        widget = forms.Textarea(
            attrs={"rows": rows, "spellcheck": "true" if plan.kind == "text" else "false"}
        )
        field = forms.CharField(widget=widget, strip=False, **settings)
    else:
        field = forms.CharField(widget=forms.TextInput(attrs={"autocomplete": "off"}), **settings)
    field.unit = NOTHING  # type: ignore[attr-defined]  # nearly every field may be empty
    return field


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value


def _put(row: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    key, rest = path[0], path[1:]
    if not rest:
        if value is None:
            row.pop(key, None)
        else:
            row[key] = value
        return
    inner = row.get(key) if isinstance(row.get(key), dict) else {}
    assert isinstance(inner, dict)
    _put(inner, rest, value)
    if inner or key == "when":
        row[key] = inner
    else:
        row.pop(key, None)
