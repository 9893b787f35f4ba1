"""Asking in one prompt what a system sees and what it would do: true/false statements before the question.

Each concept of a set gives a true statement and its counterpart, so a system that says the same to
everything is right half of the time. The statements come first: they are answered before the letter is.
"""

from collections.abc import Collection
from dataclasses import dataclass

from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.questions import Question, shuffled_question
from vlmlab.core.seeding import rng_for

STATEMENTS_HEADING = "Say of each statement whether it is true of the picture."
QUESTION_HEADING = "Then answer the question."
STATEMENTS_REQUEST = (
    "Reply first with one line for each statement, its number and T for true or F for false, and then, on a "
    "line of its own, with the letter of one option."
)


@dataclass(frozen=True)
class Statement:
    """One statement about a concept of the scene.

    Attributes:
        text: as the system reads it.
        concept: what it speaks of.
        is_true: whether it is true of a scene that shows the set.
    """

    text: str
    concept: str
    is_true: bool


@dataclass(frozen=True)
class ProbedQuestion:
    """A question behind numbered statements.

    Attributes:
        prompt: the whole text for the system under test.
        statements: in the order of their numbers, from 1.
        question: the question alone; its prompt is not what is asked here.
    """

    prompt: str
    statements: tuple[Statement, ...]
    question: Question


def recognition_statements(domain: Domain, key: Key, *, seed: int) -> tuple[Statement, ...]:
    """Return both statements about each concept of a canonical set, shuffled by the seed."""
    texts = {
        (concept, is_true): text
        for concept in key
        for is_true, text in zip((True, False), domain.statements(key, concept), strict=True)
    }
    silent = frozenset(which for which, text in texts.items() if not text)
    return tuple(
        Statement(texts[concept, is_true], concept, is_true)
        for concept, is_true in statement_order(key, seed=seed, silent=silent)
    )


def statement_order(
    key: Key, *, seed: int, silent: Collection[tuple[str, bool]] = ()
) -> tuple[tuple[str, bool], ...]:
    """Return concept and truth of each statement about a set, in the order shown.

    Args:
        key: a canonical set.
        seed: decides the order.
        silent: (concept, truth) of statements that have no text and are left out.
    """
    rows = [(concept, is_true) for concept in key for is_true in (True, False)]
    order = rng_for(seed, "statements").permutation(len(rows))
    return tuple(rows[int(index)] for index in order if rows[int(index)] not in silent)


def ask_with_statements(domain: Domain, key: Key, *, seed: int) -> ProbedQuestion:
    """Return the question about a set behind statements about its concepts.

    The options are in the order in which ``ask_question`` shows them for the same seed, so that answers with
    and without statements differ in the statements alone.

    Args:
        domain: gives rules, statements and texts.
        key: a canonical, valid set.
        seed: decides the order of the options and of the statements.
    """
    return probed(domain, recognition_statements(domain, key, seed=seed), key, seed=seed)


def probed(domain: Domain, statements: tuple[Statement, ...], key: Key, *, seed: int) -> ProbedQuestion:
    """Return the question about a set behind given statements."""
    question = shuffled_question(
        domain, domain.question, domain.decide(key), seed=seed, request=STATEMENTS_REQUEST
    )
    listed = "\n".join(f"{number}. {one.text}" for number, one in enumerate(statements, 1))
    prompt = f"{STATEMENTS_HEADING}\n{listed}\n{QUESTION_HEADING} {question.prompt}"
    return ProbedQuestion(prompt, statements, question)


def statement_prompt(statement: str) -> str:
    """Return the prompt that asks about one statement alone."""
    return (
        f"Look at the picture. Is this statement true or false?\n\n1. {statement}\n\n"
        "Answer with one letter: T for true, F for false."
    )
