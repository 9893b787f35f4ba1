"""Trying a system on one picture: what is stored, what is asked, what the page shows of the answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from searches.enums import JobKind, JobState
from searches.models import Job, SutRecord, User
from searches.services.blobs import store_blob, touch_blob
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import read_image
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question, error_direction

OFFERED_SCENES = 12


@dataclass(frozen=True)
class TryRequest:
    """What a person wants to ask.

    Attributes:
        upload: bytes of a picture, or None.
        scene_id: id of a job that drew a scene, or "".
        own_words: the prompt; "" asks the driving question.
    """

    upload: bytes | None
    scene_id: str
    own_words: str


@dataclass(frozen=True)
class TriedAnswer:
    """What a finished try shows."""

    is_choice: bool
    is_read: bool
    letter: str
    action_label: str
    expected_label: str
    direction: str


def drawn_scenes(by: User) -> list[Job]:
    """Return the scenes that a person drew last, newest first, each picture once."""
    jobs = Job.objects.filter(kind=JobKind.RENDER_SCENE, state=JobState.DONE, created_by=by)
    newest: dict[str, Job] = {}
    for job in jobs.order_by("-created_at")[: 4 * OFFERED_SCENES]:
        newest.setdefault(job.result["image_sha256"], job)
    return list(newest.values())[:OFFERED_SCENES]


def try_params(sut: SutRecord, wish: TryRequest, *, by: User) -> dict[str, Any]:
    """Store the picture and return the parameters of the job that asks the system.

    Raises:
        VlmLabError: the system is switched off, the picture is refused, or the scene is gone.
    """
    if not sut.is_enabled:
        raise VlmLabError(f"{sut.name} is switched off.", hint="Switch it on, then try again.")
    if wish.upload is not None:
        picture = read_image(wish.upload)
        params: dict[str, Any] = {"image_sha256": store_blob(picture.png)}
        question = None
    else:
        scene = _scene(wish.scene_id, by)
        touch_blob(scene.result["image_sha256"])
        params = {"image_sha256": scene.result["image_sha256"], "concepts": scene.result["concepts"]}
        question = scene.result
    params |= {"sut": sut.slug, "domain": "driving"}
    if wish.own_words:
        return params | {"mode": "text", "prompt": wish.own_words}
    return params | _question_params(question)


def find_try(job_id: str, sut: SutRecord) -> Job | None:
    """Return the try of an address, if it asked this system."""
    try:
        wanted = UUID(job_id)
    except ValueError:
        return None
    return Job.objects.filter(pk=wanted, kind=JobKind.TRY_SUT, params__sut=sut.slug).first()


def read_answer(job: Job) -> TriedAnswer | None:
    """Return what a finished try says, or None where there is no lettered question."""
    reading, params = job.result.get("reading"), job.params
    if job.state != JobState.DONE or not reading:
        return None
    actions = load_domain(params.get("domain", "driving")).actions
    answered = params.get("actions", {}).get(reading["letter"], "")
    expected = params.get("expected_action", "")
    direction = error_direction(expected, answered) if expected and answered else None
    return TriedAnswer(
        is_choice=True,
        is_read=reading["status"] == "answered",
        letter=reading["letter"],
        action_label=actions.get(answered, ""),
        expected_label=actions.get(expected, ""),
        direction=direction or "",
    )


def _scene(scene_id: str, by: User) -> Job:
    scene = Job.objects.filter(
        pk=scene_id, kind=JobKind.RENDER_SCENE, state=JobState.DONE, created_by=by
    ).first()
    if scene is None:
        raise VlmLabError("This scene is gone.", hint="Draw it again on the domain's page.", field="scene")
    return scene


def _question_params(drawn: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return prompt, options and, for a drawn scene, the expected action."""
    domain = load_domain("driving")
    if drawn is None:
        question = ask_question(domain, ("town_town01",), seed=0)
        return {
            "mode": "choice",
            "prompt": question.prompt,
            "options": question.options,
            "actions": question.actions,
        }
    options = drawn["question"]["options"]
    labels = {text: action for action, text in domain.option_texts.items()}
    return {
        "mode": "choice",
        "prompt": drawn["question"]["prompt"],
        "options": options,
        "actions": {letter: labels.get(text, "") for letter, text in options.items()},
        "expected_action": drawn["decision"]["action"],
    }
