"""Systems under test as they are sent and received; no key of a provider is ever sent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from searches.api.shapes.common import Input
from searches.enums import CalibrationStatus, Queue
from searches.models import SutRecord
from searches.services.calibrations import CalibrationState, calibration_states

Params = Annotated[
    dict[str, Any],
    Field(
        description="Settings of its kind; `GET kinds` gives their schema.",
        examples=[{"model": "Qwen/Qwen3-VL-2B-Instruct", "base_url": "http://127.0.0.1:8000/v1"}],
    ),
]
SLUG = r"^[a-z0-9][a-z0-9-]*$"


class KeyShape(Schema):
    """A stored key of a provider, by name; its secret is never sent."""

    id: int
    name: str = Field(examples=["OpenAI, team budget"])
    origin: str = Field(description="The one server that it is sent to.", examples=["https://api.openai.com"])


class CalibrationShape(Schema):
    """What the newest calibration probe says of a system."""

    id: int
    boxes: CalibrationStatus = Field(description="Whether its boxes can be read as declared.")
    answers: CalibrationStatus = Field(description="Whether its lettered answers can be read.")
    is_current: bool = Field(description="Whether it was made with the system as it is now.")
    created_at: datetime


class SutShape(Schema):
    """A registered system under test."""

    slug: str = Field(description="Short name; it stands in addresses.", examples=["pocket"])
    name: str = Field(examples=["Pocket VLM"])
    kind: str = Field(examples=["openai_chat"])
    params: dict[str, Any] = Field(description="Its settings, all of them.")
    api_key: KeyShape | None = Field(description="The key it uses.")
    preset: str
    queue: Queue = Field(description="Which workers serve it.")
    description: str
    fingerprint: str = Field(description="Identity as it was last loaded; empty before.")
    details: dict[str, Any] = Field(description="What loading it showed.")
    is_enabled: bool
    is_sample: bool = Field(description="Whether it came with the lab.")
    calibration: CalibrationShape | None = Field(description="The newest one; null when there is none.")
    n_calls: int
    n_call_errors: int
    mean_latency_ms: float | None = Field(description="Mean time of an answered call.")
    input_tokens: int
    output_tokens: int
    spend_usd: float
    last_error: str
    last_error_at: datetime | None
    last_used_at: datetime | None
    created_at: datetime


class KindShape(Schema):
    """A kind of system: what it is for and which settings it takes."""

    name: str = Field(examples=["openai_chat"])
    title: str
    description: str
    is_remote: bool = Field(description="Whether it answers over a network.")
    can_be_registered: bool = Field(description="Whether a program may register one.")
    key: str = Field(description="What its secret is called; empty when it takes none.")
    is_key_required: bool
    params: dict[str, Any] = Field(description="JSON schema of its settings.")


class PresetShape(Schema):
    """Settings for a known model, to start a registration from."""

    name: str
    title: str
    family: str
    kind: str
    params: dict[str, Any]
    note: str
    source: str


class NewSut(Input):
    """A system to register: a kind with its settings, or a preset with changes."""

    slug: str = Field(
        min_length=1,
        max_length=64,
        pattern=SLUG,
        description="Short name: small letters, digits and hyphens.",
        examples=["qwen3-vl-2b"],
    )
    name: str = Field("", max_length=120, description="For people; empty: the short name.")
    kind: str = Field(
        "", max_length=32, description="May be left out with a preset.", examples=["openai_chat"]
    )
    preset: str = Field("", max_length=64, description="Name of one of `GET presets`.")
    params: Params = Field(default_factory=dict)
    description: str = Field("", max_length=4_000, description="For people.")
    queue: Queue = Field(Queue.CPU, description="For checkpoints; remote systems have a queue of their own.")
    api_key: int | str | None = Field(None, description="Id or name of a stored key.")
    secret: str = Field("", max_length=4_000, description="A new key to store; write-only.", repr=False)
    key_name: str = Field("", max_length=80, description="Name of the new key; empty: the short name.")


class SutChange(Input):
    """What to change; what is left out stays."""

    name: str | None = Field(None, min_length=1, max_length=120, description="For people.")
    params: Params | None = Field(None, description="Only the settings to change; null removes one.")
    description: str | None = Field(None, max_length=4_000, description="For people.")
    queue: Queue | None = Field(None, description="For checkpoints.")
    api_key: int | str | None = Field(None, description="Id or name of a stored key; null: none.")
    secret: str = Field("", max_length=4_000, description="A new key to store; write-only.", repr=False)
    key_name: str = Field("", max_length=80, description="Name of the new key; empty: the short name.")


def sut_shapes(suts: Sequence[SutRecord]) -> list[SutShape]:
    """Return what is sent of systems whose key is fetched (one query more for all their calibrations)."""
    states = calibration_states(suts)
    return [_sut_shape(sut, states[sut.pk]) for sut in suts]


def _sut_shape(sut: SutRecord, state: CalibrationState) -> SutShape:
    apart = ("api_key", "calibration")
    own = {name: getattr(sut, name) for name in SutShape.model_fields if name not in apart}
    own["params"] = sut.params if isinstance(sut.params, dict) else {}
    key, found = sut.api_key, state.calibration
    return SutShape(
        **own,
        api_key=KeyShape(id=key.pk, name=key.name, origin=key.origin) if key else None,
        calibration=CalibrationShape(
            id=found.pk,
            boxes=CalibrationStatus(found.boxes_status),
            answers=CalibrationStatus(found.answers_status),
            is_current=state.standing == "current",
            created_at=found.created_at,
        )
        if found
        else None,
    )
