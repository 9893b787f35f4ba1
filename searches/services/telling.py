"""Can you tell? A person names what pictures show, without being told; each concept's hit rate is kept."""

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Count, Q

from searches.enums import KEY_SEPARATOR, JobKind, JobState
from searches.models import ConceptNaming, Job, User
from searches.services.composing import scene_params
from searches.services.domain_store import find_domain
from searches.services.job_queue import start_job
from vlmlab.core.errors import ConceptError, VlmLabError
from vlmlab.core.scenes.blind import blind_items
from vlmlab.core.scenes.concepts import Domain

ROUND = 10
GOAL = 0.9


@dataclass(frozen=True)
class Telling:
    """A round as its page shows it.

    Attributes:
        number: of the picture in hand, from 1; ``total`` pictures in all, without those that were not drawn.
        problem: why pictures could not be drawn, "" when none failed.
        job: that draws the picture in hand; None when the round is over.
        last: what was answered before.
    """

    group: UUID
    domain: Domain
    number: int
    total: int
    job: Job | None
    last: ConceptNaming | None
    n_right: int
    problem: str = ""

    @property
    def is_drawn(self) -> bool:
        """Whether the picture in hand can be seen."""
        return self.job is not None and self.job.state == JobState.DONE


@dataclass(frozen=True)
class ToldConcept:
    """How often a concept was named where it was drawn, and what was named instead."""

    concept_id: str
    pictures: int
    named: int
    confused_with: tuple[tuple[str, int], ...]


def start_telling(domain: Domain, *, by: User) -> UUID:
    """Store the jobs that draw a round of pictures of the concepts that were shown least, in random order."""
    shown = Counter(
        dict(
            ConceptNaming.objects.filter(domain=domain.slug)
            .order_by()
            .values_list("concept")
            .annotate(shown=Count("pk"))
        )
    )
    items = blind_items(domain, repeats=1, seed=secrets.randbits(31))
    chosen = sorted(items, key=lambda item: shown[item.concept])[:ROUND]
    group = uuid4()
    with transaction.atomic():
        for item in secrets.SystemRandom().sample(chosen, len(chosen)):
            params = scene_params(domain, item.key, scene_seed=item.scene_seed)
            start_job(JobKind.RENDER_SCENE, params | {"asked": item.concept}, by=by, group=group)
    return group


def telling(group: UUID, *, by: User) -> Telling | None:
    """Return a person's round, or None when there is none; pictures that cannot be drawn are left out."""
    asked = list(
        Job.objects.filter(group=group, kind=JobKind.RENDER_SCENE, created_by=by).order_by("created_at")
    )
    if not asked or "asked" not in asked[0].params:
        return None
    jobs = [job for job in asked if job.state != JobState.FAILED]
    failed = next((job for job in asked if job.state == JobState.FAILED), None)
    answers = {one.job_id: one for one in ConceptNaming.objects.filter(job_id__in=[job.pk for job in jobs])}
    waiting = [job for job in jobs if job.pk not in answers]
    return Telling(
        group=group,
        domain=find_domain(asked[0].params["domain"]),
        number=len(answers) + 1,
        total=len(jobs),
        job=waiting[0] if waiting else None,
        last=max(answers.values(), key=lambda one: one.pk, default=None),
        n_right=sum(one.is_right for one in answers.values()),
        problem=f"{failed.error} {failed.hint}".strip() if failed else "",
    )


def tell(job: Job, names: Sequence[str], *, by: User) -> ConceptNaming:
    """Store what a person named in a picture; the first answer counts.

    Raises:
        VlmLabError: the picture is not drawn, or the names cannot all be in one picture.
        ConceptError: a name is unknown.
    """
    if job.state != JobState.DONE:
        raise VlmLabError("This picture is not drawn yet.", hint="Wait until you can see it.")
    domain = find_domain(job.params["domain"])
    named = domain.canonical(names)
    _check_names(domain, named)
    drawn = tuple(job.params["concepts"])
    asked = job.params["asked"]
    provenance = job.result.get("backend", {})
    row, _ = ConceptNaming.objects.get_or_create(
        job_id=job.pk,
        defaults={
            "domain": domain.slug,
            "domain_version": domain.version,
            "backend": provenance.get("backend", "embedded"),
            "backend_version": provenance.get("version", ""),
            "concept": asked,
            "key": KEY_SEPARATOR.join(drawn),
            "scene_seed": int(job.params["seed"]),
            "image_sha256": job.result["image_sha256"],
            "named": list(named),
            "invented": [one for one in named if one not in drawn],
            "is_right": asked in named,
            "user": by,
        },
    )
    return row


def told_concepts(domain: Domain) -> tuple[ToldConcept, ...]:
    """Return how often each concept of a domain was told, in catalogue order."""
    counts: dict[str, tuple[int, int]] = {
        row["concept"]: (row["pictures"], row["right"])
        for row in ConceptNaming.objects.filter(domain=domain.slug)
        .order_by()
        .values("concept")
        .annotate(pictures=Count("pk"), right=Count("pk", filter=Q(is_right=True)))
    }
    wrong: dict[str, Counter[str]] = {}
    misses = ConceptNaming.objects.filter(domain=domain.slug, is_right=False)
    for concept, invented in misses.values_list("concept", "invented").iterator(chunk_size=2000):
        wrong.setdefault(concept, Counter()).update(invented or ["cannot tell"])
    return tuple(
        ToldConcept(
            concept.id,
            *counts.get(concept.id, (0, 0)),
            tuple(wrong.get(concept.id, Counter()).most_common(3)),
        )
        for concept in domain.concepts
    )


def _check_names(domain: Domain, named: Sequence[str]) -> None:
    """Refuse names that exclude each other: whoever names both has not told them apart."""
    if len(named) > domain.max_size:
        raise ConceptError(
            f"A picture shows at most {domain.max_size} concepts, you named {len(named)}.",
            hint="Keep those that you can see.",
            field="c",
        )
    for constraint in domain.constraints:
        both = [domain.concept(one).label for one in constraint.ids if one in named]
        others = [domain.concept(one).label for one in constraint.other_ids if one in named]
        clash = both[:2] if constraint.type == "at_most_one" and len(both) > 1 else []
        if constraint.type == "excludes" and both and others:
            clash = [both[0], others[0]]
        if clash:
            raise ConceptError(
                f"“{clash[0]}” and “{clash[1]}” are never in one picture.",
                hint="Keep the one that you see.",
                field="c",
            )
