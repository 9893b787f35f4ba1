"""The settings of a kind of system as a flat list of leaves, with words for people."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from searches.models import SutRecord
from searches.services.sut_words import setting_word, with_unit
from vlmlab.core.errors import VlmLabError
from vlmlab.core.suts.kinds import parse_params, sut_kind

TITLES = {
    "max_new_tokens": "Longest reply",
    "dtype": "Number format",
    "image_backend": "Picture library",
    "system_prompt": "System turn",
    "threads": "CPU threads",
}
EMPTY_MEANS = {
    "temperature": "not sent",
    "threads": "the library's choice",
    "system_prompt": "none",
    "requests_per_minute": "no limit of ours",
    "tokens_per_minute": "no limit of ours",
    "input_price_usd": "unknown",
    "output_price_usd": "unknown",
    "spend_cap_usd": "none",
    "extra_body": "none",
    "extra_fields": "none",
    "image_detail": "not sent",
    "media_resolution": "not sent",
    "asking.localization_template": "the words of the style",
    "asking.choice_template": "the question as it stands",
    "asking.convention.scale": "none: pixels",
    "asking.convention.keys": "none",
}
LOCAL_EMPTY_MEANS = {
    "temperature": "not set: the most likely token each time",
    "revision": "the newest",
}


@dataclass(frozen=True)
class Leaf:
    """One setting that holds a value, not further settings.

    Attributes:
        path: name with dots, such as ``asking.convention.scale``.
        title: for people.
        info: its declaration.
        default: its value when nothing is said; None also where a value must be given.
    """

    path: str
    title: str
    info: FieldInfo
    default: Any


@dataclass(frozen=True)
class Setting:
    """An effective setting: its name in words, its value, and whether it is the default."""

    path: str
    name: str
    value: str
    is_default: bool
    help: str


def leaves(model: type[BaseModel], *, prefix: str = "", default: BaseModel | None = None) -> Iterator[Leaf]:
    """Yield the settings of a model in order, those of models inside it in their place."""
    for name, info in model.model_fields.items():
        value = getattr(default, name) if default is not None else _default_of(info)
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            inner_default = value if isinstance(value, BaseModel) else None
            yield from leaves(inner, prefix=f"{prefix}{name}.", default=inner_default)
        else:
            title = info.title or TITLES.get(name, name.replace("_", " ").capitalize())
            yield Leaf(f"{prefix}{name}", title, info, value)


def value_at(values: Mapping[str, Any] | BaseModel, path: str, *, default: Any = None) -> Any:
    """Return the value of a setting by its dotted name."""
    found: Any = values
    for part in path.split("."):
        if isinstance(found, Mapping):
            if part not in found:
                return default
            found = found[part]
        elif isinstance(found, BaseModel):
            found = getattr(found, part)
        else:
            return default
    return found


def with_values(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested settings with the values of dotted names put in; the given ones stay as they are."""
    changed: dict[str, Any] = dict(values)
    for path, value in changes.items():
        first, _, rest = path.partition(".")
        if rest:
            inner = changed.get(first)
            changed[first] = with_values(inner if isinstance(inner, Mapping) else {}, {rest: value})
        else:
            changed[first] = value
    return changed


def effective_settings(sut: SutRecord) -> tuple[tuple[Setting, ...], str]:
    """Return every setting with its effective value, and why they are not valid ("" when they are)."""
    try:
        params = parse_params(sut.kind, sut.params)
    except VlmLabError as error:
        values = sut.params if isinstance(sut.params, dict) else {}
        stored = tuple(
            Setting(name, name, str(value), is_default=False, help="") for name, value in values.items()
        )
        return stored, str(error)
    meanings = EMPTY_MEANS if sut_kind(sut.kind).is_remote else EMPTY_MEANS | LOCAL_EMPTY_MEANS
    return leaf_settings(params, meanings=meanings), ""


def leaf_settings(params: BaseModel, *, meanings: Mapping[str, str] = EMPTY_MEANS) -> tuple[Setting, ...]:
    """Return every setting of checked ones with its effective value; ``meanings`` is for empty ones."""
    rows = []
    for leaf in leaves(type(params)):
        value = value_at(params, leaf.path)
        is_default = not leaf.info.is_required() and value == leaf.default
        rows.append(
            Setting(
                leaf.path, leaf.title, _shown(leaf, value, meanings), is_default, leaf.info.description or ""
            )
        )
    return tuple(rows)


def _shown(leaf: Leaf, value: Any, meanings: Mapping[str, str]) -> str:
    if value in (None, "", (), {}):
        return meanings.get(leaf.path, "not set")
    if get_origin(leaf.info.annotation) is Literal:
        return setting_word(leaf.path, str(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return with_unit(leaf.path, value)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _default_of(info: FieldInfo) -> Any:
    default = info.get_default(call_default_factory=True)
    return None if default is PydanticUndefined else default
