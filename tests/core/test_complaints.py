"""Wrong settings are answered with what to enter instead, in one voice."""

from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vlmlab.core.complaints import checked_settings, config_error, config_errors, range_words
from vlmlab.core.errors import ConfigError


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    count: int = Field(default=1, ge=1, le=1_000_000, title="Count", description="How many.")
    share: float = Field(default=0.5, gt=0, lt=1)
    limit: float | None = Field(default=None, gt=0)
    kind: Literal["linear", "rbf"] = "linear"
    is_on: bool = False
    name: str = Field(max_length=5, min_length=1, pattern="^[a-z]*$")
    parts: tuple[str, ...] = ()
    address: str = Field(default="https://x", min_length=8)


CASES = [
    ({"count": 0}, "count", "Count (count): Enter a whole number from 1 to 1,000,000."),
    ({"count": "many"}, "count", "Count (count): Enter a whole number from 1 to 1,000,000."),
    ({"count": 2.5}, "count", "Count (count): Enter a whole number from 1 to 1,000,000."),
    ({"count": None}, "count", "Count (count): Enter a whole number from 1 to 1,000,000."),
    ({"share": 1}, "share", "share: Enter a number above 0 and below 1."),
    ({"limit": 0}, "limit", "limit: Enter a number above 0, or leave it empty."),
    ({"kind": "round"}, "kind", "kind: Choose one of linear, rbf."),
    ({"is_on": "perhaps"}, "is_on", "is_on: Enter true or false."),
    ({"name": "toolong"}, "name", "name: Enter at most 5 characters."),
    ({"name": ""}, "name", "name: Enter at least one character."),
    ({"address": "x"}, "address", "address: Enter at least 8 characters."),
    ({"name": "A"}, "name", "name: It holds a character that is not allowed here."),
    ({"name": 3}, "name", "name: Enter text."),
    ({"parts": 3}, "parts", "parts: Enter a list."),
    ({"odd": 3}, "odd", "There is no setting called “odd”."),
]


@pytest.mark.parametrize(("values", "field", "message"), CASES)
def test_a_wrong_value_is_answered_with_what_to_enter(values, field, message):
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"name": "a"} | values)

    error = config_error(caught.value, Settings)

    assert (error.message, error.field) == (message, field)


def test_a_missing_value_and_an_unknown_setting_say_what_is_known():
    with pytest.raises(ValidationError) as missing:
        Settings.model_validate({})
    with pytest.raises(ValidationError) as unknown:
        Settings.model_validate({"name": "a", "odd": 1})

    assert config_error(missing.value, Settings).message == "name: Enter a value."
    assert config_error(unknown.value, Settings).hint == (
        "Known: address, count, is_on, kind, limit, name, parts, share."
    )


def test_a_limit_that_is_a_whole_number_is_written_with_all_its_digits():
    seed: int = Field(default=0, ge=0, le=2**63 - 1)

    assert range_words(seed) == "from 0 to 9,223,372,036,854,775,807"


def test_checked_settings_returns_the_model_with_defaults_filled_in():
    assert checked_settings(Settings, {"name": "a", "count": 3}) == Settings(name="a", count=3)


@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        ({"name": "a\x00"}, "name", "'name' holds a character that cannot be stored, such as NUL."),
        (
            {"parts": ["b", "\ud800"], "name": "a"}, "parts",
            "'parts' holds a character that cannot be stored, such as NUL.",
        ),
        ({"o\x00d": 1}, None, "'o\\x00d' holds a character that cannot be stored, such as NUL."),
        ({"name": "a", "count": 0}, "count", "Count (count): Enter a whole number from 1 to 1,000,000."),
        ([("name", "a")], None, "The settings are not a group of names and values."),
    ],
)  # fmt: skip
def test_checked_settings_refuses_what_cannot_be_stored_or_used(values, field, message):
    with pytest.raises(ConfigError) as caught:
        checked_settings(Settings, values)

    assert (caught.value.field, caught.value.message) == (field, message)


def test_ranges_are_written_as_words():
    words = {name: range_words(info) for name, info in Settings.model_fields.items()}

    assert (words["count"], words["share"], words["limit"], words["is_on"]) == (
        "from 1 to 1,000,000", "above 0 and below 1", "above 0", "",
    )  # fmt: skip


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    scale: float = Field(default=1, gt=0, title="Scale")


class Outer(BaseModel):
    inner: Inner = Inner()
    table: dict[str, int] = {}


@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        ({"inner": {"scale": 0}}, "inner.scale", "Scale (inner.scale): Enter a number above 0."),
        ({"inner": {"odd": 1}}, "inner.odd", "There is no setting called “inner.odd”."),
    ],
)
def test_a_wrong_value_inside_a_setting_is_named_with_dots(values, field, message):
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(values)

    error = config_error(caught.value, Outer)

    assert (error.field, error.message) == (field, message)


def test_every_complaint_is_told_in_the_order_of_the_settings():
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"table": 3, "inner": {"scale": "x"}})

    assert [error.field for error in config_errors(caught.value, Outer)] == ["inner.scale", "table"]
