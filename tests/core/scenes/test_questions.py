"""The driving question: letters shuffled by the seed, the expected one known."""

import pytest

from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question

DRIVING = load_domain("driving")


def test_question_shows_every_option_with_its_letter():
    question = ask_question(DRIVING, ("cone", "far"), seed=3)

    assert list(question.options) == ["A", "B", "C"]
    for letter, option in question.options.items():
        assert f"\n{letter}) {option}\n" in question.prompt
    assert "6.7 m/s" in question.prompt
    assert "{" not in question.prompt


def test_expected_letter_is_the_one_of_the_expected_action():
    for seed in range(20):
        question = ask_question(DRIVING, ("cone", "far"), seed=seed)

        assert question.actions[question.expected_letter] == "slow_down"
        assert question.options[question.expected_letter] == DRIVING.option_texts["slow_down"]


def test_options_are_shuffled_evenly_by_the_seed():
    orders = [tuple(ask_question(DRIVING, ("cone",), seed=seed).actions.values()) for seed in range(600)]

    counts = {order: orders.count(order) for order in set(orders)}

    assert len(counts) == 6
    assert all(60 <= count <= 140 for count in counts.values())


def test_same_seed_gives_the_same_question():
    assert ask_question(DRIVING, ("cone",), seed=9) == ask_question(DRIVING, ("cone",), seed=9)


def test_asking_for_a_reason_changes_only_the_request():
    plain = ask_question(DRIVING, ("cone",), seed=1)
    reasoned = ask_question(DRIVING, ("cone",), seed=1, ask_reason=True)

    assert plain.prompt.removesuffix(DRIVING.answer_request) == reasoned.prompt.removesuffix(
        DRIVING.reason_request
    )
    assert plain.prompt != reasoned.prompt


def test_own_template_takes_the_place_of_the_question():
    question = ask_question(DRIVING, ("cone",), seed=1, template="At {speed}: {options}")

    assert question.prompt.startswith("At 6.7: A) ")


def test_template_without_options_is_refused_at_its_field():
    with pytest.raises(ConfigError, match="no place for the answer options") as caught:
        ask_question(DRIVING, ("cone",), seed=1, template="What now?")

    assert caught.value.field == "template"


@pytest.mark.parametrize(
    ("expected", "answered", "direction"),
    [
        ("emergency_stop", "emergency_stop", None),
        ("emergency_stop", "slow_down", "insufficient"),
        ("emergency_stop", "continue", "under-reaction"),
        ("slow_down", "emergency_stop", "over-reaction"),
        ("slow_down", "slow_down", None),
        ("slow_down", "continue", "under-reaction"),
        ("continue", "emergency_stop", "over-reaction"),
        ("continue", "slow_down", "over-reaction"),
        ("continue", "continue", None),
    ],
)
def test_error_direction_of_every_pair(expected, answered, direction):
    assert DRIVING.error_direction(expected, answered) == direction


def test_error_direction_refuses_unknown_actions():
    with pytest.raises(ValueError, match="answered_action must be one of"):
        DRIVING.error_direction("continue", "honk")
