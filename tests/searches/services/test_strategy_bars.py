"""Strategies for people: the order in which operators act, and what another strategy had before."""

import pytest

from searches.services.strategy_bars import named_severities, strategy_bars


def test_bars_stand_in_the_order_in_which_operators_act_image_before_text():
    bars = strategy_bars({"casing": 0.1, "fog": 0.3, "rotate": 0.2, "jpeg_compression": 0.0})

    assert [(bar.operator, bar.modality, bar.length) for bar in bars] == [
        ("rotate", "image", 20.0),
        ("fog", "image", 30.0),
        ("casing", "text", 10.0),
    ]
    assert [bar.before for bar in bars] == [None, None, None]


def test_bars_tell_what_was_lowered_and_what_was_removed():
    bars = strategy_bars({"fog": 0.1}, before={"fog": 0.3, "casing": 0.2})

    told = [(bar.title, bar.before, bar.severity, bar.is_removed) for bar in bars]
    assert told == [("fog", 0.3, 0.1, False), ("casing", 0.2, 0.0, True)]


def test_an_operator_that_this_version_does_not_know_is_told_last():
    bars = strategy_bars({"sandstorm": 0.4, "casing": 0.1})

    assert [bar.operator for bar in bars] == ["casing", "sandstorm"]


def test_a_stored_strategy_names_its_acting_operators():
    assert named_severities([0.0, 0.25, 0], ("fog", "rain", "casing")) == {"rain": 0.25}
    with pytest.raises(ValueError, match="shorter"):
        named_severities([0.5], ("fog", "rain"))
