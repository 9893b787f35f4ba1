"""Short work a page waits for: drawing a scene, trying a system on a picture."""

import json
import logging
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.db.models.functions import Now

from searches.enums import JobKind, JobState, Queue
from searches.models import Job, Sample, SutRecord, User
from searches.services.audit import record
from searches.services.blobs import open_blob, store_blob
from searches.services.leases import JobLease, own_job
from searches.services.live import config_of
from searches.services.scene_sources import scene_source
from searches.services.suts import count_calls, load_sut
from vlmlab.core.errors import VlmLabError
from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.seeding import derive_seed
from vlmlab.core.suts.base import SutRequest

logger = logging.getLogger(__name__)

Values = dict[str, Any]

AUDIT_VERBS = {JobKind.RENDER_SCENE: "asked for a scene", JobKind.TRY_SUT: "asked a system"}
UNFINISHED = (JobState.QUEUED, JobState.RUNNING)
AUDITED = ("sut", "domain", "concepts", "seed", "image_sha256", "mode")


@transaction.atomic
def start_job(kind: JobKind, params: Mapping[str, Any], *, by: User | None, queue: Queue = Queue.CPU) -> Job:
    """Store a job for the next free worker."""
    job = Job.objects.create(kind=kind, params=dict(params), queue=queue, created_by=by)
    record(by, AUDIT_VERBS[kind], job, after={name: params[name] for name in AUDITED if name in params})
    return job


def redraw_job(sample: Sample, *, by: User | None) -> Job:
    """Store a job that draws a picture again that was not kept; the same job serves all who ask."""
    campaign = sample.run.campaign
    config = config_of(sample.run)
    params = {
        "domain": campaign.domain,
        "concepts": sample.trial.concepts,
        "seed": sample.scene_seed,
        "width": config.image_width,
        "height": config.image_height,
    }
    waiting = Job.objects.filter(kind=JobKind.RENDER_SCENE, params=params, state__in=UNFINISHED)
    return waiting.first() or start_job(JobKind.RENDER_SCENE, params, by=by)


def run_job(lease: JobLease) -> None:
    """Do a claimed job; what went wrong is stored in it as a sentence."""
    try:
        job = own_job(lease).first()
        if job is None:
            return
        values = _outcome(job)
        own_job(lease).update(lease_expires=None, finished_at=Now(), **values)
    except DatabaseError as error:  # the lease runs out and the job is done again
        logger.warning("job %s: the database did not answer: %s", lease.job_id, error)
        connection.close()


def _outcome(job: Job) -> Values:
    try:
        result = _WORK[JobKind(job.kind)](job.params)
    except VlmLabError as error:
        return {"state": JobState.FAILED, "error": error.message, "hint": error.hint}
    except DatabaseError:
        raise
    except Exception:  # the edge of the work: a bug must not take the worker with it
        reference = uuid.uuid4().hex[:8]
        logger.exception("job %s failed, reference %s", job.pk, reference)
        hint = f"Try again; if it stays, look for {reference} in the worker's log."
        return {"state": JobState.FAILED, "error": "Something went wrong inside the lab.", "hint": hint}
    return {"state": JobState.DONE, "result": result, "error": "", "hint": ""}


def _render_scene(params: Values) -> Values:
    domain = load_domain(params["domain"])
    key = domain.canonical(params["concepts"])
    reason = domain.why_invalid(key)
    if reason is not None:
        raise VlmLabError(reason, hint="Choose concepts that can occur together.", field="concepts")
    seed = int(params["seed"])
    source = scene_source(domain.slug, width=int(params["width"]), height=int(params["height"]))
    started = time.monotonic()
    scene = source.generate(key, seed=seed)
    seconds = time.monotonic() - started
    question = ask_question(domain, key, seed=derive_seed(seed, "options", *key))
    return {
        "image_sha256": store_blob(scene.image_png),
        "concepts": list(key),
        "description": json.loads(scene.description.to_json()),
        "annotations": [asdict(one) for one in scene.annotations],
        "attempt": scene.description.attempt,
        "digest": scene.description.digest,
        "backend": scene.provenance,
        "seconds": seconds,
        "question": {
            "prompt": question.prompt,
            "options": question.options,
            "expected_letter": question.expected_letter,
        },
        "decision": asdict(question.decision),
    }


def _try_sut(params: Values) -> Values:
    record = SutRecord.objects.filter(slug=params["sut"]).first()
    if record is None:
        raise VlmLabError("This system is not registered any more.")
    with open_blob(params["image_sha256"]) as file:
        image = file.read()
    loading = time.monotonic()
    sut = load_sut(record)
    load_seconds = time.monotonic() - loading
    [reply] = sut.generate([SutRequest(image, params["prompt"])])
    count_calls(record.pk, [reply])
    if reply.is_call_error:
        raise VlmLabError(reply.call_error)
    result: Values = {
        "text": reply.text,
        "finish_reason": reply.finish_reason,
        "latency_ms": reply.latency_ms,
        "load_seconds": load_seconds,
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "cost_usd": reply.cost_usd,
    }
    if params.get("mode") == "choice" and params.get("options"):
        reading = parse_choice(reply.text, options=params["options"], finish_reason=reply.finish_reason)
        result["reading"] = {"status": reading.status, "letter": reading.letter or ""}
    return result


_WORK: dict[JobKind, Callable[[Values], Values]] = {
    JobKind.RENDER_SCENE: _render_scene,
    JobKind.TRY_SUT: _try_sut,
}
