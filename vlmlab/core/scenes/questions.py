"""The question a system under test gets about a driving scene, and how wrong an answer is."""

from dataclasses import dataclass
from typing import Literal

from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.kinematics import EGO_SPEED_MPS
from vlmlab.core.scenes.rules import Decision
from vlmlab.core.seeding import rng_for

ErrorDirection = Literal["under-reaction", "insufficient", "over-reaction"]
LETTERS = "ABCDEFGH"
SEVERITY = {"continue": 0, "slow_down": 1, "emergency_stop": 2}


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
            option lines and is required, ``{speed}`` for the car's speed in m/s.

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
    order = rng_for(seed, "options").permutation(len(domain.actions))
    shown = [list(domain.actions)[int(index)] for index in order]
    actions = dict(zip(LETTERS, shown, strict=False))
    options = {letter: domain.option_texts[action] for letter, action in actions.items()}
    lines = "\n".join(f"{letter}) {option}" for letter, option in options.items())
    question = text.replace("{speed}", f"{EGO_SPEED_MPS:g}").replace("{options}", lines)
    request = domain.reason_request if ask_reason else domain.answer_request
    decision = domain.decide(key)
    return Question(
        prompt=f"{question}\n{request}",
        options=options,
        actions=actions,
        expected_letter=next(letter for letter, action in actions.items() if action == decision.action),
        decision=decision,
    )


def error_direction(expected_action: str, answered_action: str) -> ErrorDirection | None:
    """Return in which direction an answer is wrong, or None when it is right.

    ``under-reaction``: drives on although something was needed. ``insufficient``: slows down although a
    stop was needed. ``over-reaction``: does more than was needed.
    """
    for name, action in (("expected_action", expected_action), ("answered_action", answered_action)):
        if action not in SEVERITY:
            raise ValueError(f"{name} must be one of {', '.join(SEVERITY)}, got {action!r}")
    difference = SEVERITY[answered_action] - SEVERITY[expected_action]
    if difference == 0:
        return None
    if difference > 0:
        return "over-reaction"
    return "under-reaction" if answered_action == "continue" else "insufficient"
