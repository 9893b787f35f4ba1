"""Why a rule decides a concept set, and why the other rules that matched did not."""

from dataclasses import dataclass

from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.rules import Rule
from vlmlab.web.numbers import write_many


@dataclass(frozen=True)
class LostRule:
    """A rule that matched a set and did not decide.

    Attributes:
        action_label: what it would have expected.
        reason: why another one decided, such as ``lost on priority``.
    """

    rule: Rule
    action_label: str
    reason: str


def lost_rules(domain: Domain, key: Key, deciding_id: str) -> tuple[LostRule, ...]:
    """Return the other rules that match a canonical set, the nearest to deciding first.

    A rule without a condition matches always and is left out.
    """
    matching = domain.matching_rules(key)
    deciding = next((rule for rule in domain.rules if rule.id == deciding_id), None)
    return tuple(
        LostRule(rule, domain.actions[rule.action], _reason(domain, rule, deciding, n_concepts=len(key)))
        for rule in matching
        if rule.id != deciding_id and not rule.is_unconditional
    )


def fit_words(domain: Domain, rule: Rule, key: Key) -> str:
    """Return how much of a set a rule speaks of: ``2 of the 3 concepts``; "" where fit does not decide."""
    return _share(rule, len(key)) if domain.decides_by == "best_fit" else ""


def _reason(domain: Domain, rule: Rule, deciding: Rule | None, *, n_concepts: int) -> str:
    if domain.decides_by == "first" or deciding is None:
        return "lost on priority"
    if len(rule.condition.elements) < len(deciding.condition.elements):
        return f"lost on fit: it speaks of {_share(rule, n_concepts)}"
    if rule.action != deciding.action:
        return f"fits as well, but {domain.actions[deciding.action].lower()} goes first"
    if rule.priority != deciding.priority:
        return f"fits as well and lost on priority ({rule.priority} after {deciding.priority})"
    return "fits as well and comes later by its id"


def _share(rule: Rule, n_concepts: int) -> str:
    spoken_of = min(len(rule.condition.elements), n_concepts)
    if n_concepts == 1:
        return "the only concept"
    return f"{spoken_of} of the {write_many(n_concepts, 'concept')}"
