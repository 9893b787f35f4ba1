"""True/false statements before the question: both of each concept, and the question unchanged."""

import pytest

from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.scenes.recognition import (
    QUESTION_HEADING,
    STATEMENTS_HEADING,
    STATEMENTS_REQUEST,
    Statement,
    ask_with_statements,
    probed,
    recognition_statements,
    statement_prompt,
)

DRIVING, INDOOR = load_domain("driving"), load_domain("indoor")
FAR_CONE = DRIVING.canonical(["cone", "far"])
SETS = pytest.mark.parametrize(
    ("domain", "key"), [(DRIVING, FAR_CONE), (INDOOR, ("knife_edge",))], ids=["driving", "indoor"]
)


@SETS
def test_options_stand_in_the_order_of_the_plain_question_of_the_same_seed(domain, key):
    for seed in range(30):
        plain, behind = ask_question(domain, key, seed=seed), ask_with_statements(domain, key, seed=seed)

        assert list(behind.question.options.items()) == list(plain.options.items())
        assert behind.question.actions == plain.actions
        assert behind.question.expected_letter == plain.expected_letter
        assert behind.question.decision == plain.decision


def test_both_statements_of_every_concept_are_asked_with_the_entity_named():
    statements = recognition_statements(DRIVING, FAR_CONE, seed=4)

    assert sorted(statements, key=lambda one: (one.concept, not one.is_true)) == [
        Statement("A traffic cone is ahead of the car.", "cone", is_true=True),
        Statement("There is no traffic cone ahead of the car.", "cone", is_true=False),
        Statement("The cone is more than ten metres ahead of the car.", "far", is_true=True),
        Statement("The cone is less than five metres ahead of the car.", "far", is_true=False),
    ]


def test_the_seed_shuffles_the_statements_and_nothing_else_does():
    orders = {recognition_statements(DRIVING, FAR_CONE, seed=seed) for seed in range(200)}

    assert len(orders) == 24
    assert ask_with_statements(DRIVING, FAR_CONE, seed=9) == ask_with_statements(DRIVING, FAR_CONE, seed=9)


def test_the_prompt_has_numbered_statements_then_the_question_then_what_to_reply():
    asked = ask_with_statements(INDOOR, ("knife_edge",), seed=2)
    listed = [f"{number}. {one.text}" for number, one in enumerate(asked.statements, 1)]

    lines = asked.prompt.splitlines()
    assert lines[:3] == [STATEMENTS_HEADING, *listed]
    assert lines[3].startswith(f"{QUESTION_HEADING} The picture shows a kitchen in a home. ")
    assert lines[4:6] == [f"{letter}) {text}" for letter, text in asked.question.options.items()]
    assert lines[6:] == [STATEMENTS_REQUEST]
    assert INDOOR.answer_request not in asked.prompt


@SETS
def test_a_reply_is_read_back_with_every_statement_and_the_letter(domain, key):
    asked = ask_with_statements(domain, key, seed=5)
    lines = [f"{number}. {'T' if one.is_true else 'F'}" for number, one in enumerate(asked.statements, 1)]

    reading = parse_choice(
        "\n".join([*lines, asked.question.expected_letter]),
        options=asked.question.options,
        n_statements=len(asked.statements),
    )

    assert reading.status == "answered"
    assert reading.letter == asked.question.expected_letter
    assert reading.statements == [one.is_true for one in asked.statements]


def test_given_statements_are_asked_in_their_order():
    rows = (Statement("It is dry.", "weather_hard_rain", is_true=True),)

    asked = probed(DRIVING, rows, FAR_CONE, seed=1)

    assert asked.statements == rows
    assert asked.prompt.startswith(f"{STATEMENTS_HEADING}\n1. It is dry.\n{QUESTION_HEADING} ")


def test_one_statement_alone_is_asked_for_a_letter():
    assert statement_prompt("It is dry.") == (
        "Look at the picture. Is this statement true or false?\n\n1. It is dry.\n\n"
        "Answer with one letter: T for true, F for false."
    )
