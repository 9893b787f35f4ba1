"""What a system can be asked about a picture that nobody drew here: the questions of every domain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from searches.services.domain_store import current_domains, find_domain
from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.questions import asked_by_rule
from vlmlab.core.scenes.rules import Rule

DEFAULT_QUESTION = "driving"


@dataclass(frozen=True)
class PictureQuestion:
    """A question that can be asked about any picture.

    Attributes:
        id: ``driving``, or ``indoor:knife_edge`` where rules ask questions of their own.
        words: for the list of choices.
    """

    id: str
    words: str


def question_groups() -> list[tuple[str, list[PictureQuestion]]]:
    """Return the questions of each domain under its title; the same words stand once."""
    return [(domain.title, _questions_of(domain)) for domain in current_domains()]


def question_params(question_id: str) -> dict[str, Any]:
    """Return domain, prompt, options and actions of a question; there is no expected answer.

    Args:
        question_id: of a ``PictureQuestion``; "" is the first domain's.

    Raises:
        ConfigError: there is no such question.
        ConceptError: there is no such domain.
    """
    slug, _, rule_id = (question_id or DEFAULT_QUESTION).partition(":")
    domain = find_domain(slug)
    rule = next((one for one in domain.rules if one.id == rule_id), None) if rule_id else _first_rule(domain)
    if rule is None:
        raise ConfigError(
            f"The domain {domain.title} has no question “{rule_id}”.",
            hint="Name a rule of the domain, as its page lists them.",
            field="question",
        )
    question = asked_by_rule(domain, rule, seed=0)
    return {
        "domain": domain.ref,
        "question_words": rule.question,
        "prompt": question.prompt,
        "options": question.options,
        "actions": question.actions,
    }


def drawn_question_params(drawn: Mapping[str, Any], domain_ref: str) -> dict[str, Any]:
    """Return what a drawn scene asks: its own question, with the expected answer."""
    domain = find_domain(domain_ref)
    options = drawn["question"]["options"]
    actions = {text: action for action, text in domain.option_texts.items()}
    return {
        "domain": domain.ref,
        "question_words": drawn["decision"].get("question", ""),
        "prompt": drawn["question"]["prompt"],
        "options": options,
        "actions": {letter: actions.get(text, "") for letter, text in options.items()},
        "expected_action": drawn["decision"]["action"],
    }


def _first_rule(domain: Domain) -> Rule:
    return domain.rules[0]


def _questions_of(domain: Domain) -> list[PictureQuestion]:
    asked: dict[str, str] = {}
    for rule in domain.rules:
        if rule.question and "{question}" in domain.question:
            asked.setdefault(rule.question, rule.id)
    if not asked:
        return [PictureQuestion(domain.slug, f"The {domain.title.lower()} question")]
    return [PictureQuestion(f"{domain.slug}:{rule_id}", words) for words, rule_id in asked.items()]
