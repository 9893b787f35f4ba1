"""Systems under test: kinds, presets, registration, switching, calibration, trying."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from ninja import File, Form, Query, Router, Status
from ninja.files import UploadedFile
from pydantic import Field

from searches import launch
from searches.api.operations import operation, person_of
from searches.api.paging import Page, Paging, page_of
from searches.api.shapes.common import JobShape, Received
from searches.api.shapes.suts import KindShape, NewSut, PresetShape, SutChange, SutShape, sut_shapes
from searches.enums import JobKind, Queue
from searches.models import ApiKey, SutRecord
from searches.services import suts
from searches.services.registering import KeyWish, Registration, change, register
from searches.services.trying import (
    MOST_PROMPT_CHARACTERS,
    MOST_TARGET_CHARACTERS,
    TryRequest,
    try_params,
)
from vlmlab.core.errors import ConfigError, ImageError
from vlmlab.core.images import DEFAULT_LIMITS
from vlmlab.core.suts.kinds import SUT_KINDS, SutKind
from vlmlab.core.suts.presets import SUT_PRESETS, SutPreset

router = Router(tags=["Systems under test"])


class SutFilters(Paging):
    """Which systems."""

    kind: str = Field("", max_length=32, description="Only this kind.")
    is_enabled: bool | None = Field(None, description="Only those that are switched on, or off.")


class TryWords(Received):
    """What to ask. Send `picture` or `scene`, and at most one of `prompt` and `targets`."""

    scene: UUID | None = Field(None, description="Id of the job that drew a scene, instead of a picture.")
    prompt: str = Field(
        "",
        max_length=MOST_PROMPT_CHARACTERS,
        description="Own words; empty: the question of the domain.",
    )
    question: str = Field(
        "",
        max_length=120,
        description="Question for a picture without prompt and targets: the short name of a domain, or "
        "domain:rule where rules ask questions of their own; empty: `driving`. A scene brings its own.",
        examples=["driving", "indoor:knife_edge"],
    )
    targets: str = Field(
        "", max_length=MOST_TARGET_CHARACTERS, description="Ask for the boxes of these things instead."
    )


@operation(router, "GET", "/kinds", response=list[KindShape])
def list_kinds(request: HttpRequest) -> list[KindShape]:
    """List the kinds of systems.

    Each with the JSON schema of its settings, which `params` of a registration must fit.
    """
    return [_kind_shape(kind) for kind in SUT_KINDS.values()]


@operation(router, "GET", "/presets", response=list[PresetShape])
def list_presets(request: HttpRequest) -> list[PresetShape]:
    """List ready-made settings for known models.

    A registration may name one instead of a kind and change some of its settings.
    """
    return [PresetShape.model_validate(asdict(preset)) for preset in SUT_PRESETS.values()]


@operation(router, "GET", "/suts", response=Page[SutShape], errors=(422,))
def list_suts(request: HttpRequest, filters: Query[SutFilters]) -> dict[str, Any]:
    """List the registered systems, newest first."""
    rows = _suts()
    rows = rows.filter(kind=filters.kind) if filters.kind else rows
    rows = rows.filter(is_enabled=filters.is_enabled) if filters.is_enabled is not None else rows
    return page_of(rows, filters, request, shape=sut_shapes)


@operation(router, "POST", "/suts", response=SutShape, status=201, errors=(400, 422))
def register_sut(request: HttpRequest, payload: NewSut) -> Status[SutShape]:
    """Register a system.

    Its folder or address is looked at; nothing is loaded and nothing is asked. A `secret` is stored sealed,
    under a name of its own, and can never be read again.
    """
    preset = _preset(payload.preset) if payload.preset else None
    wish = Registration(
        slug=payload.slug,
        name=payload.name or payload.slug,
        kind=payload.kind or (preset.kind if preset else ""),
        params={**(preset.params if preset else {}), **payload.params},
        description=payload.description,
        queue=payload.queue,
        key=_key_wish(payload.api_key, payload.secret, payload.key_name or payload.slug),
        preset=payload.preset,
    )
    return Status(201, _shape(register(wish, by=person_of(request)).slug))


@operation(router, "GET", "/suts/{slug:slug}", response=SutShape, errors=(404,))
def read_sut(request: HttpRequest, slug: str) -> SutShape:
    """Read one system."""
    return _shape(slug)


@operation(router, "PATCH", "/suts/{slug:slug}", response=SutShape, errors=(400, 404, 422))
@transaction.atomic
def change_sut(request: HttpRequest, slug: str, payload: SutChange) -> SutShape:
    """Change a system.

    What is left out stays. Results found before keep the fingerprint they were found with.
    """
    # Held, because what is left out is taken from it: of two changes at once, both shall last.
    SutRecord.objects.select_for_update().filter(slug=slug).first()
    sut, sent = _sut(slug), payload.model_dump(exclude_unset=True)
    key = _key_wish(payload.api_key, payload.secret, payload.key_name or slug)
    if "api_key" not in sent and not payload.secret:
        key = KeyWish(stored=sut.api_key_id)
    wish = Registration(
        name=payload.name or sut.name,
        params=_merged(sut.params, payload.params or {}),
        description=sut.description if payload.description is None else payload.description,
        queue=payload.queue or Queue(sut.queue),
        key=key,
    )
    change(sut, wish, by=person_of(request))
    return _shape(slug)


@operation(router, "POST", "/suts/{slug:slug}/enable", response=SutShape, errors=(404,))
def enable_sut(request: HttpRequest, slug: str) -> SutShape:
    """Switch a system on."""
    suts.set_enabled(_sut(slug), is_enabled=True, by=person_of(request))
    return _shape(slug)


@operation(router, "POST", "/suts/{slug:slug}/disable", response=SutShape, errors=(404,))
def disable_sut(request: HttpRequest, slug: str) -> SutShape:
    """Switch a system off.

    It takes no new work; a run at work with it fails with a sentence and can be resumed later.
    """
    suts.set_enabled(_sut(slug), is_enabled=False, by=person_of(request))
    return _shape(slug)


@operation(router, "POST", "/suts/{slug:slug}/calibrate", response=JobShape, status=202, errors=(404, 422))
def calibrate_sut(request: HttpRequest, slug: str) -> Status[JobShape]:
    """Calibrate a system.

    Forty calls: twenty pictures of one rectangle, asked for its box and with lettered options. It shows at
    the same time that the system can be reached and how fast it answers. Returns the job.
    """
    return Status(202, JobShape.of(launch.start_calibration(_sut(slug), by=person_of(request))))


@operation(router, "POST", "/suts/{slug:slug}/try", response=JobShape, status=202, errors=(404, 422))
def try_sut(
    request: HttpRequest, slug: str, words: Form[TryWords], picture: File[UploadedFile | None] = None
) -> Status[JobShape]:
    """Ask a system about one picture.

    Send a `picture` (PNG, JPEG or WebP, as multipart form data) or the id of a drawn `scene`. Returns the
    job; its `result` holds the text and how it was read. Nothing of it counts in a run.
    """
    sut, person = _sut(slug), person_of(request)
    _refuse_unknown(request)
    if picture is None and words.scene is None:
        raise ConfigError("There is nothing to ask about.", hint="Send picture or scene.", field="picture")
    if words.prompt.strip() and words.targets.strip():
        raise ConfigError("Send prompt or targets, not both.", field="prompt")
    wish = TryRequest(
        upload=_bytes_of(picture) if picture else None,
        scene_id=str(words.scene or ""),
        mode="boxes" if words.targets.strip() else "text" if words.prompt.strip() else "choice",
        question=words.question.strip(),
        own_words=words.prompt.strip(),
        targets=words.targets.strip(),
    )
    try:
        params = try_params(sut, wish, by=person)
    except ImageError as error:
        raise ImageError(error.message, hint=error.hint, field="picture") from error
    return Status(
        202, JobShape.of(launch.start_job(JobKind.TRY_SUT, params, by=person, queue=Queue(sut.queue)))
    )


def _refuse_unknown(request: HttpRequest) -> None:
    """Refuse form fields that we do not know, as a body of JSON does.

    Raises:
        ConfigError: the first of them, by its name.
    """
    known = [*TryWords.model_fields]
    for name in [*request.POST, *request.FILES]:
        if name == "picture" and name not in request.FILES:
            raise ConfigError("picture: This is no file.", hint="Send it as a file of the form.", field=name)
        if name not in (*known, "picture"):
            shown = name[:80]
            raise ConfigError(
                f"{shown}: There is no field called “{shown}”.",
                hint="Take it away; the schema lists the fields.",
                field=shown,
            )


def _suts() -> QuerySet[SutRecord]:
    return SutRecord.objects.select_related("api_key").defer("api_key__secret")


def _sut(slug: str) -> SutRecord:
    sut = _suts().filter(slug=slug).first()
    if sut is None:
        raise Http404(f"There is no system “{slug}”.")
    return sut


def _shape(slug: str) -> SutShape:
    [shape] = sut_shapes([_sut(slug)])
    return shape


def _kind_shape(kind: SutKind) -> KindShape:
    return KindShape(
        name=kind.name,
        title=kind.title,
        description=kind.description,
        is_remote=kind.is_remote,
        can_be_registered=kind.is_web_registrable,
        key=kind.key_words,
        is_key_required=kind.is_key_required,
        params=kind.params.model_json_schema(),
    )


def _preset(name: str) -> SutPreset:
    if name not in SUT_PRESETS:
        raise ConfigError(f"There is no preset “{name}”.", hint="GET presets lists them.", field="preset")
    return SUT_PRESETS[name]


def _key_wish(stored: int | str | None, secret: str, name: str) -> KeyWish:
    """Return which key is meant: a stored one by id or name, or a new one.

    Raises:
        ConfigError: both are given, or there is no such key.
    """
    if stored is None:
        return KeyWish(new_name=name, secret=secret)
    if secret:
        raise ConfigError("Send api_key or secret, not both.", field="secret")
    by_what = {"pk": stored} if isinstance(stored, int) else {"name": stored}
    found = ApiKey.objects.filter(**by_what).values_list("pk", flat=True).first()
    if found is None:
        raise ConfigError(f"There is no key “{stored}”.", hint="Send secret to store one.", field="api_key")
    return KeyWish(stored=found)


def _merged(stored: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = {**stored, **changes}
    return {name: value for name, value in merged.items() if name not in changes or value is not None}


def _bytes_of(picture: UploadedFile) -> bytes:
    if (picture.size or 0) > DEFAULT_LIMITS.max_bytes:
        raise ImageError(
            f"The picture has more than {DEFAULT_LIMITS.max_bytes / 1e6:.0f} MB.",
            hint="Save it smaller or as JPEG.",
            field="picture",
        )
    content: bytes = picture.read()
    return content
