"""Makes form fields of the declared settings of a kind, so that a new kind needs no form of its own."""

import json
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

from django import forms

from searches.services.sut_settings import Leaf
from searches.services.sut_words import choice_word
from vlmlab.core.complaints import number_wanted, range_words
from vlmlab.core.suts.asking import PROMPT_STYLES

NOTHING = " "  # stands after a label instead of the word "optional"
LONG_TEXT = 1_000  # from so many characters on, a text has a field of several lines
MOST_JSON_CHARACTERS = 20_000
NOT_A_CHOICE = "“%(value)s” is none of the choices. Take one of the list."
JSON_EXAMPLE = 'such as {"seed": 7}'

# Texts that are chosen from a table of the core.
TABLES: dict[str, Callable[[], list[tuple[str, str]]]] = {
    "asking.prompt_style": lambda: [(style.name, style.title) for style in PROMPT_STYLES.values()],
}
# What a setting's help says in a form beyond its description.
EXTRA_HELP = {
    "asking.convention.scale": "Not used for pixels.",
    "device": "GPU systems wait for a worker that serves the GPU queue.",
    "asking.prompt_style": "What is sent stands in the preview.",
}


class JsonObjectField(forms.CharField):
    """A JSON object, typed as text."""

    def __init__(self, **options: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"})
        super().__init__(max_length=MOST_JSON_CHARACTERS, widget=widget, **options)

    def prepare_value(self, value: Any) -> Any:
        """Return the text of an object; what was typed stays as it was typed."""
        if isinstance(value, dict):
            return json.dumps(value, indent=2, ensure_ascii=False) if value else ""
        return value

    def to_python(self, value: Any) -> dict[str, Any] | None:  # type: ignore[override]  # an object, not text
        """Return the object, or None of an empty field."""
        text = super().to_python(value)
        if not text:
            return None
        try:
            found = json.loads(text, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            raise forms.ValidationError(
                f"This is not JSON (line {error.lineno}, character {error.colno}). "
                f"Write an object {JSON_EXAMPLE}."
            ) from error
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"JSON has no such value. Write an object {JSON_EXAMPLE}.") from error
        if not isinstance(found, dict):
            raise forms.ValidationError(f"Write a JSON object in braces, {JSON_EXAMPLE}.")
        return found


def can_be_typed(leaf: Leaf) -> bool:
    """Whether a setting has a form field; one that has none keeps the value of its preset."""
    return get_origin(leaf.info.annotation) is not tuple


def form_field(leaf: Leaf) -> forms.Field:
    """Return the form field of a setting; limits are judged by the core, so that there is one voice."""
    field = _field(leaf)
    if leaf.default not in (None, "", {}) or leaf.info.is_required() or isinstance(field, forms.ChoiceField):
        field.unit = NOTHING  # type: ignore[attr-defined]  # read by the tag that draws fields
    return field


def shown_value(value: Any) -> Any:
    """Return a stored value as a field shows it: 1000 and not 1000.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _field(leaf: Leaf) -> forms.Field:
    options: dict[str, Any] = {"label": leaf.title, "help_text": help_of(leaf), "required": False}
    kinds = [kind for kind in get_args(leaf.info.annotation) if kind is not type(None)]
    if leaf.path in TABLES:
        return _choice(TABLES[leaf.path](), options)
    if get_origin(leaf.info.annotation) is Literal:
        return _choice([(str(kind), choice_word(leaf.path, str(kind))) for kind in kinds], options)
    plain = kinds[0] if len(kinds) == 1 else leaf.info.annotation
    if plain in (int, float):
        field = forms.IntegerField if plain is int else forms.FloatField
        widget = forms.NumberInput(attrs={"step": "1" if plain is int else "any"})
        return field(widget=widget, error_messages={"invalid": number_wanted(leaf.info)}, **options)
    if plain is bool:
        return forms.BooleanField(**options)
    if get_origin(leaf.info.annotation) is dict:
        return JsonObjectField(**options)
    if _longest(leaf) >= LONG_TEXT:
        return forms.CharField(widget=forms.Textarea(attrs={"rows": 2}), **options)
    return forms.CharField(**options)


def help_of(leaf: Leaf) -> str:
    """Return what a setting means and which numbers it takes."""
    limits = range_words(leaf.info)
    parts = [leaf.info.description or "", EXTRA_HELP.get(leaf.path, "")]
    if limits:
        parts.append(f"{limits[:1].upper()}{limits[1:]}.")
    return " ".join(part for part in parts if part)


def typed_value(leaf: Leaf, value: Any) -> Any:
    """Return the value to store of what was typed; empty is nothing where allowed, else the default."""
    if value not in (None, ""):
        return value
    kinds = get_args(leaf.info.annotation)
    if type(None) in kinds:
        return None
    is_choice = get_origin(leaf.info.annotation) is Literal or leaf.path in TABLES
    may_be_empty = "" in kinds if is_choice else _shortest(leaf) == 0
    return "" if value == "" and (may_be_empty or leaf.default is None) else leaf.default


def _choice(choices: list[tuple[str, str]], options: dict[str, Any]) -> forms.ChoiceField:
    return forms.ChoiceField(choices=choices, error_messages={"invalid_choice": NOT_A_CHOICE}, **options)


def _longest(leaf: Leaf) -> int:
    return next((one.max_length for one in leaf.info.metadata if hasattr(one, "max_length")), 0)


def _shortest(leaf: Leaf) -> int:
    return next((one.min_length for one in leaf.info.metadata if hasattr(one, "min_length")), 0)


def _no_constant(name: str) -> Any:
    raise ValueError(name)
