"""The question that a system under test gets about a scene."""

from dataclasses import dataclass

from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.rules import Decision, Rule
from vlmlab.core.seeding import rng_for

LETTERS = "ABCDEFGH"


@dataclass(frozen=True)
class Question:
    """A question with shuffled options.

    Attributes:
        prompt: the whole text for the system under test.
        options: letter -> option text, in the order shown.
        actions: letter -> action id; the stored permutation.
        expected_letter: the right one.
        decision: the expected action and the rule that gave it.
    """

    prompt: str
    options: dict[str, str]
    actions: dict[str, str]
    expected_letter: str
    decision: Decision


def ask_question(
    domain: Domain, key: Key, *, seed: int, ask_reason: bool = False, template: str | None = None
) -> Question:
    """Return the question about a concept set.

    Args:
        domain: gives rules and texts.
        key: a canonical, valid set.
        seed: decides the order of the options.
        ask_reason: also ask for one sentence of reason on a second line.
        template: a text of one's own in place of the domain's question; ``{options}`` stands for the
            option lines and is required, ``{question}`` for what the deciding rule asks, ``{speed}`` for the
            car's speed in m/s.

    Raises:
        ConfigError: the template has no place for the options.
    """
    text = domain.question if template is None else template
    if "{options}" not in text:
        raise ConfigError(
            "The question has no place for the answer options.",
            hint="Write {options} where the options shall stand.",
            field="template",
        )
    request = domain.reason_request if ask_reason else domain.answer_request
    return shuffled_question(domain, text, domain.decide(key), seed=seed, request=request)


def asked_by_rule(domain: Domain, rule: Rule, *, seed: int, ask_reason: bool = False) -> Question:
    """Return what a rule asks, about a picture whose truth is unknown: the expected letter means nothing."""
    decision = Decision(rule.id, rule.action, rule.why, rule.question)
    request = domain.reason_request if ask_reason else domain.answer_request
    return shuffled_question(domain, domain.question, decision, seed=seed, request=request)


def shuffled_question(domain: Domain, text: str, decision: Decision, *, seed: int, request: str) -> Question:
    """Return a question from its text, with the options in the order of the seed and the request below.

    Args:
        domain: gives actions, option texts and speed.
        text: with ``{options}``, and perhaps ``{question}`` and ``{speed}``.
        decision: what is right and what the deciding rule asks.
        seed: decides the order of the options.
        request: last line: what to reply with.
    """
    order = rng_for(seed, "options").permutation(len(domain.actions))
    shown = [list(domain.actions)[int(index)] for index in order]
    actions = dict(zip(LETTERS, shown, strict=False))
    options = {letter: domain.option_texts[action] for letter, action in actions.items()}
    lines = "\n".join(f"{letter}) {option}" for letter, option in options.items())
    question = text.replace("{question}", decision.question).replace("{options}", lines)
    if domain.kinematics is not None:
        question = question.replace("{speed}", f"{domain.kinematics.ego_speed_mps:g}")
    return Question(
        prompt=f"{question}\n{request}",
        options=options,
        actions=actions,
        expected_letter=next(letter for letter, action in actions.items() if action == decision.action),
        decision=decision,
    )
