"""What a domain file in the making would do: how many sets, what is wrong, which rule decides a set."""

from collections.abc import Sequence
from dataclasses import dataclass

from searches.services.domain_drafts import rows_of
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.domain_files import CheckedDomain
from vlmlab.core.scenes.questions import ask_question

PREVIEW_SEED = 1
SHOWN_PROBLEMS = 12


@dataclass(frozen=True)
class PickChip:
    """A concept that a person can put into the tried set."""

    id: str
    label: str
    is_picked: bool


@dataclass(frozen=True)
class Trial:
    """What happens to the tried set.

    Attributes:
        problem: why it is not valid; "" when it is.
        prompt: the text that a system would get.
        expected: label of the expected answer.
        rule_id, rule_title, why: the rule that decides.
    """

    problem: str = ""
    prompt: str = ""
    expected: str = ""
    rule_id: str = ""
    rule_title: str = ""
    why: str = ""


@dataclass(frozen=True)
class DomainPreview:
    """Everything the preview shows.

    Attributes:
        checked: the file as it stands.
        chips: what can be tried.
        trial: None while nothing is picked, or nothing can be decided.
    """

    checked: CheckedDomain
    chips: tuple[PickChip, ...]
    trial: Trial | None

    @property
    def shown_errors(self) -> tuple[object, ...]:
        """The first errors."""
        return self.checked.errors[:SHOWN_PROBLEMS]

    @property
    def hidden_errors(self) -> int:
        """How many more there are."""
        return max(0, len(self.checked.errors) - SHOWN_PROBLEMS)

    @property
    def decided(self) -> dict[str, int]:
        """Rule id -> number of valid sets it decides."""
        return self.checked.sense.decided if self.checked.sense else {}


def preview_domain(checked: CheckedDomain, picked: Sequence[str]) -> DomainPreview:
    """Return what the file would do, and what would happen to a set of ids (unknown ones are left out)."""
    chosen = set(picked)
    chips = tuple(
        PickChip(
            str(row.get("id", "")), str(row.get("label", "")) or str(row.get("id", "")), row["id"] in chosen
        )
        for row in rows_of(checked.content, "concepts")
        if isinstance(row.get("id"), str)
    )
    trial = None
    if checked.domain is not None and checked.sense is not None and checked.sense.sizes:
        key = checked.domain.canonical(one for one in picked if one in checked.domain.index)
        trial = _try(checked.domain, key) if key else None
    return DomainPreview(checked, chips, trial)


def _try(domain: Domain, key: Key) -> Trial:
    reason = domain.why_invalid(key)
    if reason is not None:
        return Trial(problem=reason)
    try:
        question = ask_question(domain, key, seed=PREVIEW_SEED)
    except ConceptError as error:
        return Trial(problem=str(error))
    rule = next(rule for rule in domain.rules if rule.id == question.decision.rule_id)
    return Trial(
        prompt=question.prompt,
        expected=domain.actions[question.decision.action],
        rule_id=rule.id,
        rule_title=rule.words,
        why=question.decision.why,
    )
