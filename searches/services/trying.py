"""Asking one system, or several, about one picture: what is stored and what is asked."""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from django.db import transaction

from searches.enums import JobKind, JobState, Queue
from searches.models import Blob, Job, SutRecord, User
from searches.services.blobs import open_blob, store_blob, touch_blob
from searches.services.call_counts import count_calls
from searches.services.domain_store import find_domain
from searches.services.job_holds import release
from searches.services.job_queue import start_job
from searches.services.picture_questions import drawn_question_params, question_params
from searches.services.spending import check_may_spend
from searches.services.suts import asking_of, load_sut
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import png_size, read_image
from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.suts.asking import choice_prompt, localization_prompt
from vlmlab.core.suts.base import SutReply, SutRequest
from vlmlab.core.suts.storable import storable_text

if TYPE_CHECKING:
    from vlmlab.core.replies.boxes import BoxItem

AskedFor = Literal["choice", "text", "boxes"]
OFFERED_SCENES = 12
MOST_SHOWN_BOXES = 200
MOST_LABEL_CHARACTERS = 200
MOST_REQUEST_CHARACTERS = 60_000
MOST_PROMPT_CHARACTERS = 20_000
MOST_TARGET_CHARACTERS = 500
Values = dict[str, Any]


@dataclass(frozen=True)
class TryRequest:
    """What a person wants to ask.

    Attributes:
        upload: bytes of a picture, or None.
        scene_id: id of a job that drew a scene, or "".
        same: SHA-256 of a stored picture that was sent before, or "".
        mode: the question of a domain, own words, or the boxes of things.
        question: which question a picture without a truth is asked in the mode ``choice``, as
            ``picture_questions`` names it; "" for the first domain's. A drawn scene has its own.
        own_words: the prompt of the mode ``text``.
        targets: what to find in the mode ``boxes``, such as "the red car".
    """

    upload: bytes | None = None
    scene_id: str = ""
    same: str = ""
    mode: AskedFor = "choice"
    question: str = ""
    own_words: str = ""
    targets: str = ""


@dataclass(frozen=True)
class AskedPicture:
    """The picture to ask about; ``drawn`` is the result of the job that drew it in a domain, or None."""

    sha256: str
    drawn: Mapping[str, Any] | None = None
    domain_ref: str = ""


def drawn_scenes(by: User) -> list[Job]:
    """Return the scenes that a person drew last, newest first, each picture once.

    A job whose result has another shape, from another version of the lab, has no scene to offer.
    """
    jobs = Job.objects.filter(kind=JobKind.RENDER_SCENE, state=JobState.DONE, created_by=by)
    newest: dict[str, Job] = {}
    for job in jobs.order_by("-created_at")[: 4 * OFFERED_SCENES]:
        if _is_scene(job):
            newest.setdefault(job.result["image_sha256"], job)
    return list(newest.values())[:OFFERED_SCENES]


def try_params(sut: SutRecord, wish: TryRequest, *, by: User) -> Values:
    """Store the picture and return the parameters of the job that asks the system.

    Raises:
        VlmLabError: the system is switched off, the picture is refused, or the scene is gone.
    """
    if not sut.is_enabled:
        raise VlmLabError(f"{sut.name} is switched off.", hint="Switch it on, then try again.")
    return asked_params(sut, wish, asked_picture(wish, by=by))


@transaction.atomic
def start_comparison(suts: Sequence[SutRecord], wish: TryRequest, *, by: User) -> uuid.UUID:
    """Store one job a system, all about the same picture and question, and return their group.

    Raises:
        VlmLabError: the picture is refused, or the scene is gone.
    """
    group, picture = uuid.uuid4(), asked_picture(wish, by=by)
    for sut in suts:
        params = asked_params(sut, wish, picture)
        start_job(JobKind.TRY_SUT, params, by=by, queue=Queue(sut.queue), group=group)
    return group


def asked_picture(wish: TryRequest, *, by: User) -> AskedPicture:
    """Store the picture that a person wants to ask about.

    Raises:
        ImageError: the upload is no picture, or too large.
        VlmLabError: the scene is gone, or the disk is full.
    """
    if wish.upload is not None:
        return AskedPicture(store_upload(wish.upload))
    if not wish.scene_id:
        return AskedPicture(_kept(wish.same))
    scene = _scene(wish.scene_id, by)
    touch_blob(scene.result["image_sha256"])
    return AskedPicture(scene.result["image_sha256"], scene.result, scene.params["domain"])


def store_upload(content: bytes) -> str:
    """Store an uploaded picture in its canonical form and return its SHA-256.

    Raises:
        ImageError: it is no picture, or too large.
        StorageError: the disk is full.
    """
    return store_blob(read_image(content).png)


def asked_params(sut: SutRecord, wish: TryRequest, picture: AskedPicture) -> Values:
    """Return the parameters of the job that asks one system in its own way.

    Raises:
        ConfigError: the system's stored settings are not valid any more, or there is no such question.
    """
    asking = asking_of(sut)
    params: Values = {"image_sha256": picture.sha256, "sut": sut.slug, "mode": wish.mode}
    if picture.drawn is not None:
        params |= {"concepts": picture.drawn["concepts"], "domain": find_domain(picture.domain_ref).ref}
    if wish.mode == "text":
        return params | {"prompt": wish.own_words}
    if wish.mode == "boxes":
        convention = asking.convention.model_dump(mode="json")
        prompt = localization_prompt(asking, wish.targets)
        return params | {"prompt": prompt, "targets": wish.targets, "convention": convention}
    if picture.drawn is None:
        asked = question_params(wish.question) | {"question": wish.question}
    else:
        asked = drawn_question_params(picture.drawn, picture.domain_ref)
    return params | asked | {"prompt": choice_prompt(asking, asked["prompt"])}


def find_try(job_id: str, sut: SutRecord) -> Job | None:
    """Return the try of an address, if it asked this system."""
    wanted = read_uuid(job_id)
    if wanted is None:
        return None
    return Job.objects.filter(pk=wanted, kind=JobKind.TRY_SUT, params__sut=sut.slug).first()


def read_uuid(text: str) -> uuid.UUID | None:
    """Return the id of an address, or None where there is none."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def do_try(params: Values, *, job: Job | None = None) -> Values:
    """Ask the system of a job and return the job's result.

    Raises:
        VlmLabError: the system is gone, off or cannot be loaded, or the call failed.
    """
    record = SutRecord.objects.select_related("api_key").filter(slug=params["sut"]).first()
    if record is None:
        raise VlmLabError("This system is not registered any more.")
    with open_blob(params["image_sha256"]) as file:
        image = file.read()
    check_may_spend(record, calls=1, prompt_chars=len(params["prompt"]), size=png_size(image), job=job)
    loading = time.monotonic()
    sut = load_sut(record)
    load_seconds = time.monotonic() - loading
    request = SutRequest(image, params["prompt"])
    [reply] = sut.generate([request])
    with transaction.atomic():
        count_calls(record.pk, [reply])
        if job is not None:
            release(job)
    if reply.is_call_error:
        raise VlmLabError(reply.call_error)
    sent = storable_text(sut.sut.describe_request(request))[:MOST_REQUEST_CHARACTERS]
    return _result(reply, params, png_size(image)) | {
        "load_seconds": load_seconds,
        "request": sent,
        "is_price_unknown": record.is_price_unknown,
    }


def _result(reply: SutReply, params: Values, size: tuple[int, int]) -> Values:
    result: Values = {
        "text": reply.text,
        "finish_reason": reply.finish_reason,
        "latency_ms": reply.latency_ms,
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "reasoning_tokens": reply.reasoning_tokens,
        "cost_usd": reply.cost_usd,
        "n_attempts": reply.n_attempts,
        "served_model": reply.served_model,
        "seen_size": list(reply.seen_size) if reply.seen_size else None,
        "size": list(size),
    }
    return result | read_result(reply, params, size)


def read_result(reply: SutReply, params: Mapping[str, Any], size: tuple[int, int]) -> Values:
    """Return what the readers of today make of a reply; nothing for a question in own words."""
    if params.get("mode") == "choice" and params.get("options"):
        reading = parse_choice(reply.text, options=params["options"], finish_reason=reply.finish_reason)
        return {"reading": {"status": reading.status, "letter": reading.letter or ""}}
    if params.get("mode") == "boxes":
        return {"boxes": _read_boxes(reply, params["convention"], size)}
    return {}


def _read_boxes(reply: SutReply, convention: Mapping[str, Any], size: tuple[int, int]) -> Values:
    from vlmlab.core.replies.boxes import parse_boxes  # only a worker reads boxes

    reading = parse_boxes(
        reply.text,
        convention=convention,
        image_size=size,
        seen_size=reply.seen_size,
        finish_reason=reply.finish_reason,
    )
    return {
        "status": reading.status,
        "reason": reading.reason,
        "flags": list(reading.flags),
        "n_items": len(reading.items),
        "items": [_box_row(item) for item in reading.items[:MOST_SHOWN_BOXES]],
        "salvage": [_box_row(item) for item in reading.salvage[:MOST_SHOWN_BOXES]],
    }


def _box_row(item: "BoxItem") -> Values:
    box = [round(float(value), 2) for value in item.box]
    label = storable_text(item.label or "")[:MOST_LABEL_CHARACTERS]
    return {"label": label, "box": box, "flags": list(item.flags)}


def _kept(sha256: str) -> str:
    if not Blob.objects.filter(pk=sha256, media_type="image/png").exists():
        raise VlmLabError("This picture is not kept any more.", hint="Choose it again.", field="picture")
    touch_blob(sha256)
    return sha256


def _scene(scene_id: str, by: User) -> Job:
    scene = Job.objects.filter(
        pk=scene_id, kind=JobKind.RENDER_SCENE, state=JobState.DONE, created_by=by
    ).first()
    if scene is None or not _is_scene(scene):
        raise VlmLabError("This scene is gone.", hint="Draw it again on the domain's page.", field="scene")
    return scene


def _is_scene(job: Job) -> bool:
    """Whether a result holds what a question about the scene needs."""
    drawn, params = job.result, job.params
    if not isinstance(drawn, dict) or not isinstance(params, dict):
        return False
    question, decision = drawn.get("question"), drawn.get("decision")
    return (
        isinstance(drawn.get("image_sha256"), str)
        and isinstance(drawn.get("concepts"), list)
        and isinstance(params.get("domain"), str)
        and isinstance(question, dict)
        and isinstance(question.get("prompt"), str)
        and isinstance(question.get("options"), dict)
        and isinstance(decision, dict)
        and isinstance(decision.get("action"), str)
    )
