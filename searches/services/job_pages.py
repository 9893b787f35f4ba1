"""What a page shows of a short job: why it waits, and the scene that it drew."""

from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from searches.enums import JobKind, JobState
from searches.models import Job
from searches.services.composing import ActionCheck, action_checks, lane_distance
from searches.services.domain_store import find_domain
from searches.services.navigation import alive_workers
from searches.services.scene_facts import SceneFacts, decided, indented, made_by, scene_lines
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.web.boxed_pictures import BoxedPicture, boxes_of
from vlmlab.web.evidence import set_words

LONG_WAIT_SECONDS = 20


@dataclass(frozen=True)
class JobWait:
    """Why a job has not ended: one sentence, and whether somebody should look after the workers."""

    sentence: str
    is_stuck: bool


@dataclass(frozen=True)
class DrawnScene:
    """A finished scene with its truth.

    Attributes:
        picture: with the boxes of what must be seen.
        distance_m: to the nearest required object in the lane, or None.
        checks: what each action does at that distance.
        facts: what made it, its description, its truth.
    """

    domain: Domain
    picture: BoxedPicture
    prompt: str
    expected_letter: str
    distance_m: float | None
    checks: list[ActionCheck]
    facts: SceneFacts
    seconds: float


def job_wait(job: Job) -> JobWait:
    """Return why a job that has not ended is still waiting."""
    if job.state == JobState.RUNNING:
        return JobWait("A worker is at it.", is_stuck=False)
    waited = (timezone.now() - job.created_at).total_seconds()
    serving = [queues for queues in alive_workers().values_list("queues", flat=True) if job.queue in queues]
    if not serving:
        return JobWait(
            f"No worker serves the {job.get_queue_display()} queue. It is done as soon as one starts.",
            is_stuck=True,
        )
    if waited > LONG_WAIT_SECONDS:
        return JobWait(
            "Every worker is busy. It is next after the batch that is being worked on.", is_stuck=False
        )
    return JobWait("Waiting for a worker.", is_stuck=False)


def drawn_scene(job: Job) -> DrawnScene:
    """Return what a finished drawing job shows."""
    result, params = job.result, job.params
    domain = find_domain(params["domain"])
    labels = {concept.id: concept.label for concept in domain.concepts}
    distance = lane_distance(result["description"])
    action = result["decision"]["action"]
    facts = _facts(job, domain)
    return DrawnScene(
        domain=domain,
        picture=BoxedPicture(
            url=reverse("blob", args=[result["image_sha256"]]),
            alt=f"Scene: {set_words(result['concepts'], domain.ref)}",
            width=int(params["width"]),
            height=int(params["height"]),
            boxes=boxes_of(result["annotations"], labels),
            mask_url=facts.mask_url,
        ),
        prompt=result["question"]["prompt"],
        expected_letter=result["question"]["expected_letter"],
        distance_m=distance,
        checks=action_checks(domain, action, distance_m=distance),
        facts=facts,
        seconds=float(result.get("seconds", 0.0)),
    )


def _facts(job: Job, domain: Domain) -> SceneFacts:
    result = job.result
    masks = result.get("masks", {})
    decision = result["decision"]
    return SceneFacts(
        seed=int(job.params["seed"]),
        attempt=int(result["attempt"]),
        digest=result["digest"],
        made_by=made_by(result.get("backend", {})),
        lines=scene_lines(result["annotations"], domain, masks=masks),
        decision=decided(domain, action=decision["action"], rule_id=decision["rule_id"], why=decision["why"]),
        description=indented(result["description"]),
        json_url=f"{reverse('job_detail', args=[job.pk])}?as=json",
        zip_url=reverse("job_scene", args=[job.pk]),
        mask_url=reverse("job_masks", args=[job.pk]) if masks else "",
    )


def find_scene(job_id: str, domain_slug: str, key: Key) -> Job | None:
    """Return the drawing job of an address, if it still belongs to the set on the page."""
    try:
        wanted = UUID(job_id)
    except ValueError:
        return None
    job = Job.objects.filter(pk=wanted, kind=JobKind.RENDER_SCENE).first()
    if job is None or str(job.params.get("domain")).partition("@")[0] != domain_slug:
        return None
    return job if tuple(job.params.get("concepts", ())) == key else None
