"""Findings and domains as they are sent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from searches.api.shapes.common import Input
from searches.api.shapes.runs import picture_path
from searches.enums import FindingState, Minimality, TriageStatus
from searches.models import Finding
from searches.services.finding_lists import stops_early
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.stats import clopper_pearson
from vlmlab.web.evidence import set_words


class Rate(Schema):
    """A failure rate with its evidence."""

    value: float = Field(examples=[0.8])
    low: float = Field(description="Lower end of the exact 95 % interval.")
    high: float = Field(description="Upper end of it.")


class FreshShape(Schema):
    """What fresh scenes said of a finding; they are none that it was found on."""

    fails: int
    samples: int
    invalid: int
    rate: float
    low: float | None = Field(description="Lower end of an interval that holds however long was sampled.")
    high: float | None = Field(description="Upper end of it.")
    level: float | None = Field(description="Its level, widened because the set was chosen.")
    log_e_value: float | None = Field(
        description="Natural logarithm of the evidence against a failure rate of at most the threshold."
    )
    family_size: int | None = Field(description="Suspects that share the false discovery rate.")
    settled_at: datetime | None


class FindingShape(Schema):
    """A concept set on which a system fails too often."""

    id: int
    run: int
    set: int = Field(description="Id of its concept set; filters the samples of the run.")
    sut: str
    domain: str
    domain_version: str
    state: FindingState = Field(description="How far it is trusted.")
    words: str = Field(description="The set in words.", examples=["Cone, far + Fog"])
    concepts: list[str] = Field(examples=[["cone", "far", "weather_foggy"]])
    size: int
    fails: int
    samples: int
    invalid: int
    rate: Rate | None = Field(
        description="Of the search; null where sets were stopped early, and once there are fresh scenes: "
        "what a set was found with is biased upwards."
    )
    fresh: FreshShape | None = Field(description="Null before a follow-up has asked fresh scenes.")
    is_minimal: bool = Field(description="Whether no smaller finding of the same run lies inside it.")
    minimality: Minimality = Field(description="What an ablation found out; empty before one.")
    covered_by: int | None = Field(description="Id of a smaller finding that explains it.")
    triage: TriageStatus = Field(description="What people do about it.")
    tags: list[str]
    expected: str
    answered: str
    direction: str
    rule: str
    found_at_inference: int
    reason: str
    pictures: list[str] = Field(description="Paths of some of its scenes.")
    created_at: datetime
    page: str = Field(description="Path of its page on the site.")


class ConceptShape(Schema):
    """One thing that can stand in a scene, or a change to one."""

    id: str = Field(examples=["cone"])
    label: str = Field(examples=["Cone"])
    category: str
    kind: str
    description: str


class RuleShape(Schema):
    """A rule that decides what is expected."""

    id: str = Field(examples=["R1_obstacle_near"])
    title: str
    expected: str = Field(description="Id of the expected answer.")
    why: str
    question: str = Field(description="What it asks; empty where the domain asks the same of every scene.")
    priority: int = Field(description="Among rules that fit equally well the smaller number decides.")
    topic: str


class DomainShape(Schema):
    """A world that searches look through."""

    slug: str = Field(examples=["driving"])
    title: str
    version: str
    max_set_size: int
    actions: dict[str, str] = Field(description="Possible answers: id and label.")
    n_concepts: int
    decides_by: Literal["first", "best_fit"] = Field(
        description="Whether the first rule that fires decides, or the one that speaks of most of the set."
    )


class DomainWithConcepts(DomainShape):
    """A domain with what can stand in its scenes and what is expected there."""

    concepts: list[ConceptShape]
    rules: list[RuleShape]


class NewScene(Input):
    """A scene to draw."""

    concepts: list[str] = Field(min_length=1, max_length=8, description="Ids.", examples=[["cone", "far"]])
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Another seed, another layout.")


def finding_shapes(findings: Sequence[Finding]) -> list[FindingShape]:
    """Return what is sent of findings with run, campaign and system."""
    return [_finding_shape(one) for one in findings]


def domain_values(domain: Domain) -> dict[str, object]:
    """Return what is sent of a domain."""
    return {
        "slug": domain.slug,
        "title": domain.title,
        "version": domain.version,
        "max_set_size": domain.max_size,
        "actions": dict(domain.actions),
        "n_concepts": len(domain.concepts),
        "decides_by": domain.decides_by,
    }


def domain_shape(domain: Domain) -> DomainWithConcepts:
    """Return a domain with its concepts."""
    concepts = [
        ConceptShape(
            id=one.id, label=one.label, category=one.category, kind=one.kind, description=one.description
        )
        for one in domain.concepts
    ]
    rules = [
        RuleShape(
            id=one.id, title=one.title, expected=one.action, why=one.why, question=one.question,
            priority=one.priority, topic=one.topic,
        )
        for one in domain.rules
    ]  # fmt: skip
    return DomainWithConcepts.model_validate(domain_values(domain) | {"concepts": concepts, "rules": rules})


def _finding_shape(finding: Finding) -> FindingShape:
    return FindingShape(
        id=finding.pk,
        run=finding.run_id,
        set=finding.trial_id,
        sut=finding.sut.slug,
        domain=finding.domain,
        domain_version=finding.domain_version,
        state=FindingState(finding.state),
        words=set_words(finding.concepts, finding.domain_ref),
        concepts=finding.concepts,
        size=finding.size,
        fails=finding.fails,
        samples=finding.n,
        invalid=finding.invalid,
        rate=_rate(finding),
        fresh=_fresh(finding),
        is_minimal=finding.is_minimal_in_run,
        minimality=Minimality(finding.minimality),
        covered_by=finding.covered_by_id,
        triage=TriageStatus(finding.triage),
        tags=finding.tags,
        expected=finding.expected_action,
        answered=finding.answered_action,
        direction=finding.direction,
        rule=finding.rule_id,
        found_at_inference=finding.found_at_inference,
        reason=finding.reason_text,
        pictures=[path for one in finding.thumbnails if (path := picture_path(one))],
        created_at=finding.created_at,
        page=finding.get_absolute_url(),
    )


def _fresh(finding: Finding) -> FreshShape | None:
    if not finding.fresh_n:
        return None
    fails = finding.fresh_fails or 0
    return FreshShape(
        fails=fails,
        samples=finding.fresh_n,
        invalid=finding.fresh_invalid or 0,
        rate=fails / finding.fresh_n,
        low=finding.fresh_low,
        high=finding.fresh_high,
        level=finding.fresh_level,
        log_e_value=finding.log_e_value,
        family_size=finding.family_size,
        settled_at=finding.settled_at,
    )


def _rate(finding: Finding) -> Rate | None:
    if finding.n == 0 or finding.fresh_n or finding.is_curtailed or stops_early(finding.run.campaign.config):
        return None
    interval = clopper_pearson(finding.fails, finding.n, 0.95)
    return Rate(value=finding.fails / finding.n, low=interval.low, high=interval.high)
