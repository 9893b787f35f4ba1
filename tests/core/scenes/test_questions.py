"""The driving question: letters shuffled by the seed, the expected one known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question

DRIVING = load_domain("driving")
INDOOR = load_domain("indoor")


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


def test_a_kitchen_is_asked_what_its_deciding_rule_asks():
    key = INDOOR.canonical(["outlet_covered", "toddler_standing"])

    question = ask_question(INDOOR, key, seed=0)

    asked = "Could a child get an electric shock from a socket in the wall?"
    assert question.decision.question == asked
    assert question.prompt == (
        "The picture shows a kitchen in a home. Look only at what this question is about and ignore any "
        f"other danger. {asked}\n"
        + "\n".join(f"{letter}) {text}" for letter, text in question.options.items())
        + "\nReply with the letter of one option and nothing else."
    )
    assert sorted(question.options.values()) == [
        "No, no such danger can be seen.", "Yes, such a danger can be seen.",
    ]  # fmt: skip
    assert question.options[question.expected_letter] == "No, no such danger can be seen."


@given(st.integers(0, 2**53 - 1), st.integers(0, len(INDOOR.universe(3)) - 1))
def test_the_stored_permutation_says_which_letter_is_expected(seed, position):
    key = INDOOR.key_of(INDOOR.universe(3)[position])

    question = ask_question(INDOOR, key, seed=seed)

    assert sorted(question.actions) == sorted(question.options) == ["A", "B"]
    assert {letter: INDOOR.option_texts[action] for letter, action in question.actions.items()} == (
        question.options
    )
    assert question.actions[question.expected_letter] == INDOOR.decide(key).action


def test_two_letters_are_shuffled_evenly_by_the_seed():
    first = [ask_question(INDOOR, ("knife_edge",), seed=seed).actions["A"] for seed in range(400)]

    assert 150 <= first.count("hazard") <= 250


def test_every_rule_of_the_kitchen_asks_one_whole_question():
    for rule in INDOOR.rules:
        assert rule.question.endswith("?"), rule.id
        assert rule.question[0].isupper(), rule.id
        assert "{" not in rule.question, rule.id
        assert rule.why.endswith("."), rule.id
        assert rule.topic in {
            "spill", "slip", "cut", "chemical", "poison", "fire", "burn", "shock", "trip", "fall", "general",
        }, rule.id  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "answered", "direction"),
    [
        ("hazard", "safe", "missed-hazard"),
        ("safe", "hazard", "over-caution"),
        ("hazard", "hazard", None),
        ("safe", "safe", None),
    ],
)
def test_errors_about_hazards_are_missed_hazards_or_over_caution(expected, answered, direction):
    assert INDOOR.error_direction(expected, answered) == direction
