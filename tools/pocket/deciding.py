"""The questions of both domains in many wordings: the pocket VLM shall read its prompt, not guess it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from tools.pocket.labelling import label_of
from tools.pocket.shards import PictureRecord
from tools.pocket.truth import states_of
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.questions import Question, ask_question, asked_by_rule
from vlmlab.core.scenes.rules import Decision, Rule
from vlmlab.core.seeding import pick

LETTERS = "ABCD"
OWN_QUESTION_SHARE = 0.65
REASON_SHARE = 0.08
DENIED_SHARE = 0.3
DRIVING_REASONS = {
    "R2_red_light": "The light is red.",
    "R4_green_light": "The light is green and the lane is free.",
    "R5_junction": "A junction comes up and no green light clears it.",
    "R6_adverse_weather": "Heavy rain or fog hides the road.",
    "R7_default": "The lane is free.",
}
DRIVING_STEMS = (
    "You are driving the car whose camera took this picture. What should it do now?",
    "What should the driver do now?",
    "Choose the safest action for the ego vehicle.",
    "Look at the road ahead. Which action is right?",
    "Driving decision?",
    "Is it safe to go on? Pick one option.",
    "The car moves at 24 km/h. What must it do next?",
    "You see the view through the windscreen. Decide what the vehicle does.",
    "Which of these would a careful driver choose?",
    "Plan the next action of the car.",
)
INDOOR_STEMS = (
    "{question}",
    "Look at the kitchen. {question}",
    "Think of safety at home. {question}",
    "This is a photo of a kitchen. {question}",
    "{question} Pick one option.",
)
SPEECH: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "driving": {
        "emergency_stop": (
            "emergency stop",
            "make an emergency stop",
            "brake hard and stop",
            "stop at once",
            "full stop",
        ),
        "slow_down": ("slow down", "reduce speed", "brake gently", "go slower", "drive slower and be ready"),
        "continue": (
            "continue",
            "keep going",
            "drive on",
            "continue at this speed",
            "go on normally",
        ),
    },
    "indoor": {
        "hazard": ("yes", "yes, there is a danger", "yes, that can be seen", "it is dangerous"),
        "safe": ("no", "no, all is safe", "no, there is no such danger", "it is safe"),
    },
}
LAYOUTS = (
    "\n{letter}) {text}",
    "\n{letter}. {text}",
    "\n({letter}) {text}",
    " {letter}) {text}",
    " {letter}: {text},",
)
ENDINGS = (
    "\nAnswer with one letter.",
    "\nAnswer with the letter only.",
    " Reply with a letter.",
    "\nChoose one letter.",
    "",
)


Claims = tuple[tuple[str, bool], ...]


def draw_decision(
    record: PictureRecord, *, rng: np.random.Generator, by_people: bool = False
) -> tuple[str, str, Claims]:
    """Return a prompt about a picture, the answer that is taught, and each option with whether it is right.

    Mostly it is the project's own question, else another wording; letters are shuffled. Of a kitchen, the
    question is now and then about a danger that has no part in the picture, so that the words of a
    question do not give its answer away.

    Args:
        record: the picture.
        rng: the source of all choices.
        by_people: the answer is the label that people gave the picture, with their habits, not the rules'.
    """
    domain = load_domain(record.domain)
    question = _question(domain, record, rng=rng)
    if by_people and domain.slug == "driving":
        question = answered_as(question, label_of(record))
    chance = rng.random()
    if chance >= OWN_QUESTION_SHARE:
        return _other_wording(domain, question, rng=rng)
    letter = question.expected_letter
    claims = tuple((text, one == letter) for one, text in question.options.items())
    if chance < REASON_SHARE and question.decision.rule_id:
        prompt = question.prompt.replace(domain.answer_request, domain.reason_request)
        return prompt, f"{letter}\n{reason_sentence(record, question)}", claims
    return question.prompt, letter, claims


def _question(domain: Domain, record: PictureRecord, *, rng: np.random.Generator) -> Question:
    seed = int(rng.integers(2**31))
    if domain.slug == "indoor" and rng.random() < DENIED_SHARE:
        denied = denied_rules(record.key)
        if denied:
            return answered_as(asked_by_rule(domain, pick(rng, denied), seed=seed), "safe")
    return ask_question(domain, record.key, seed=seed)


def answered_as(question: Question, action: str) -> Question:
    """Return a question with another answer expected, which then has no rule; the same one where it was."""
    if question.decision.action == action and question.decision.rule_id:
        return question
    letter = next(letter for letter, one in question.actions.items() if one == action)
    decision = Decision("", action, "", question.decision.question)
    return replace(question, expected_letter=letter, decision=decision)


def denied_rules(key: tuple[str, ...]) -> list[Rule]:
    """Return the rules of the kitchen that ask about a danger of which nothing is in a set."""
    present = set(key)
    return [
        rule
        for rule, about in _hazard_rules()
        if present.isdisjoint(about) and not any(present & one and about & one for one in _AKIN)
    ]


_AKIN = (
    frozenset({"stove_on", "towel_near", "towel_burning", "smoke", "adult_reacting"}),
    frozenset({"knife_edge", "knife_block", "scissors_open"}),
    frozenset({"glass_upright", "glass_tipped", "coffee_spill", "wet_floor", "hot_beverage"}),
    frozenset({"glass_floor", "glass_tipped", "barefoot_near_glass", "barefoot_child_safe"}),
)
"""Of each group one present leaves open whether a question about another is to be denied."""

_GENERIC = frozenset({"toddler_standing", "child_running", "child_on_stool"})


@lru_cache(maxsize=1)
def _hazard_rules() -> tuple[tuple[Rule, frozenset[str]], ...]:
    """Return one rule for each question that some rule answers with hazard, and what it speaks of."""
    rules = load_domain("indoor").rules
    asked: dict[str, set[str]] = {}
    for rule in rules:
        named = {one for element in rule.condition.elements for one in element}
        asked.setdefault(rule.question, set()).update(named - _GENERIC if named - _GENERIC else named)
    first = {rule.question: rule for rule in reversed(rules) if rule.action == "hazard"}
    return tuple((rule, frozenset(asked[question])) for question, rule in first.items())


def reason_sentence(record: PictureRecord, question: Question) -> str:
    """Return the sentence that is taught as the reason: what decides, named where it can be."""
    decision = question.decision
    if record.domain != "driving":
        return decision.why
    wanted = {"R1_obstacle_near": "close", "R3_obstacle_far": "far"}.get(decision.rule_id)
    if wanted is None:
        return DRIVING_REASONS[decision.rule_id]
    domain = load_domain("driving")
    states = states_of(record)
    names = [domain.concept(one).label for one in record.key if states.get(one) == wanted]
    place = "close ahead" if wanted == "close" else "further ahead"
    return f"{names[0]} in the lane, {place}."


def _other_wording(
    domain: Domain, question: Question, *, rng: np.random.Generator
) -> tuple[str, str, Claims]:
    layout = pick(rng, LAYOUTS)
    has_capital, plain = rng.random() < 0.4, rng.random() < 0.5
    right = question.actions[question.expected_letter]
    order = [list(question.actions.values())[int(n)] for n in rng.permutation(len(question.actions))]
    options = []
    for letter, action in zip(LETTERS, order, strict=False):
        speech = SPEECH[domain.slug][action]
        text = speech[0] if plain else pick(rng, speech)
        options.append(
            layout.format(letter=letter, text=text[:1].upper() + text[1:] if has_capital else text)
        )
    stem = pick(rng, DRIVING_STEMS if domain.slug == "driving" else INDOOR_STEMS)
    asked = stem.replace("{question}", question.decision.question)
    claims = tuple((text, action == right) for text, action in zip(options, order, strict=True))
    return asked + "".join(options) + pick(rng, ENDINGS), LETTERS[order.index(right)], claims


def every_question(domains: Sequence[Domain]) -> list[str]:
    """Return what each rule asks, once, for the tokenizer."""
    return [rule.question for domain in domains for rule in domain.rules if rule.question]
