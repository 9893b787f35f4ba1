"""Composing one scene: is the set valid, what would clash, what is asked and what is expected."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from searches.services.domains import ConceptGroup, concept_groups, sets_that_contain
from searches.services.rule_evidence import LostRule, fit_words, lost_rules
from vlmlab.core.scenes.anchors import AnchorGraph, anchor_graph
from vlmlab.core.scenes.concepts import Concept, Constraint, Domain, Key
from vlmlab.core.scenes.kinematics import CollisionVerdict, collision_verdict
from vlmlab.core.scenes.questions import Question, ask_question
from vlmlab.core.scenes.rules import Rule
from vlmlab.core.seeding import derive_seed

SCENE_WIDTH, SCENE_HEIGHT = 448, 336


@dataclass(frozen=True)
class Composition:
    """A set as the compose page shows it.

    Attributes:
        key: canonical ids.
        problem: why it cannot be drawn and what to do; "" when it can.
        clashes: concept id -> what it would exclude; these can only be added after something is taken out.
        valid_sets: how many valid sets contain this one.
        question: what a system is asked; None while the set is not valid.
        graph: what must be in the scene.
    """

    domain: Domain
    key: Key
    groups: tuple[ConceptGroup, ...]
    problem: str
    clashes: Mapping[str, str]
    valid_sets: int
    question: Question | None
    graph: AnchorGraph | None

    @property
    def is_valid(self) -> bool:
        """Whether it can be drawn."""
        return not self.problem

    @property
    def concepts(self) -> tuple[Concept, ...]:
        """The chosen concepts."""
        return tuple(self.domain.concept(one) for one in self.key)

    @property
    def rule(self) -> Rule | None:
        """The rule that decides."""
        if self.question is None:
            return None
        deciding = self.question.decision.rule_id
        return next(rule for rule in self.domain.rules if rule.id == deciding)

    @property
    def rule_title(self) -> str:
        """Title of the rule that decides."""
        return self.rule.words if self.rule else ""

    @property
    def fit_words(self) -> str:
        """How much of the set the deciding rule speaks of; "" where fit does not decide."""
        return fit_words(self.domain, self.rule, self.key) if self.rule else ""

    @property
    def lost(self) -> tuple[LostRule, ...]:
        """The other rules that match."""
        return lost_rules(self.domain, self.key, self.rule.id) if self.rule else ()


@dataclass(frozen=True)
class ActionCheck:
    """What the kinematic check says of one action."""

    action: str
    label: str
    is_expected: bool
    verdict: CollisionVerdict


def compose(domain: Domain, ids: tuple[str, ...], *, scene_seed: int) -> Composition:
    """Return what is known about a set before it is drawn.

    Raises:
        ConceptError: an id is unknown.
    """
    key = domain.canonical(ids)
    problem = (domain.why_invalid(key) or "") if key else ""
    is_complete = bool(key) and not problem
    return Composition(
        domain=domain,
        key=key,
        groups=concept_groups(domain),
        problem=problem,
        clashes=clashes(domain, key),
        valid_sets=sets_that_contain(domain, key) if is_complete else 0,
        question=ask_question(domain, key, seed=options_seed(scene_seed, key)) if is_complete else None,
        graph=anchor_graph(domain, key) if is_complete else None,
    )


def scene_params(domain: Domain, ids: tuple[str, ...], *, scene_seed: int) -> dict[str, Any]:
    """Return the parameters of the job that draws a composed scene."""
    return {
        "domain": domain.ref,
        "concepts": list(domain.canonical(ids)),
        "seed": scene_seed,
        "width": SCENE_WIDTH,
        "height": SCENE_HEIGHT,
    }


def options_seed(scene_seed: int, key: Key) -> int:
    """Return the seed that shuffles the answer options, the same as when the scene is drawn by a job."""
    return derive_seed(scene_seed, "options", *key)


def clashes(domain: Domain, key: Key) -> dict[str, str]:
    """Return for every concept that cannot be added what it would exclude ("" = the set is full)."""
    chosen, found = set(key), {}
    for concept in domain.concepts:
        if concept.id in chosen:
            continue
        excluded = [
            domain.concept(one).label
            for constraint in domain.constraints
            for one in _excluded_by(constraint, concept.id)
            if one in chosen
        ]
        if excluded:
            found[concept.id] = f"excludes {excluded[0].lower()}"
        elif len(key) >= domain.max_size:
            found[concept.id] = ""  # the set is full; one sentence beside the chips says so
    return found


def _excluded_by(constraint: Constraint, concept_id: str) -> tuple[str, ...]:
    if constraint.type == "at_most_one" and concept_id in constraint.ids:
        return constraint.ids
    if constraint.type == "excludes" and concept_id in constraint.ids:
        return constraint.other_ids
    if constraint.type == "excludes" and concept_id in constraint.other_ids:
        return constraint.ids
    return ()


def action_checks(domain: Domain, expected_action: str, *, distance_m: float | None) -> list[ActionCheck]:
    """Return the kinematic check of every action for what stands in the lane; none where nothing drives."""
    kinematics = domain.kinematics
    if kinematics is None:
        return []
    return [
        ActionCheck(
            action,
            label,
            action == expected_action,
            collision_verdict(action, distance_m=distance_m, kinematics=kinematics),
        )
        for action, label in domain.actions.items()
    ]


def lane_distance(description: Mapping[str, Any]) -> float | None:
    """Return the distance to the nearest required object in the lane of a stored scene description."""
    distances = [
        float(item["parameters"].get("distance_m") or 0.0)
        for item in description.get("objects", [])
        if item.get("is_required") and item.get("parameters", {}).get("placement") == "lane"
    ]
    return min(distances, default=None)
