"""Shapes that several operations share."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict, Field, field_validator

from searches.enums import JobKind, JobState
from searches.models import Job, User
from vlmlab.core.storable_values import is_storable
from vlmlab.web.roles import Role


class Received(Schema):
    """Something received, of which every text can be stored and looked for."""

    @field_validator("*", mode="before")
    @classmethod
    def _is_storable(cls, value: Any) -> Any:
        if not is_storable(value):
            raise ValueError("it holds a character that cannot be stored, such as NUL")
        return value


class Input(Received):
    """The body of a request: a field that we do not know is refused, never overlooked."""

    model_config = ConfigDict(extra="forbid")


class Me(Schema):
    """Who the token belongs to, and what they may do."""

    username: str = Field(examples=["ada"])
    name: str = Field(description="Full name, or the username.", examples=["Ada Lovelace"])
    role: Role = Field(description="Decides what the token may do.")
    operations: list[str] = Field(description="Names of the operations that this role may call.")


class JobShape(Schema):
    """Short work of a worker: drawing a scene, asking or calibrating a system. Ask again until it ended."""

    id: UUID
    kind: JobKind
    state: JobState = Field(description="`done` and `failed` are final.")
    is_ended: bool
    result: dict[str, Any] = Field(
        description="What came out; before that, how far it is: `n_answered` of `n_calls`."
    )
    error: str = Field(description="Why it failed, one sentence.")
    hint: str = Field(description="What to do about it.")
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, job: Job) -> "JobShape":
        """Return what is sent of a job."""
        return cls(
            id=job.pk,
            kind=JobKind(job.kind),
            state=JobState(job.state),
            is_ended=job.state in (JobState.DONE, JobState.FAILED),
            result=job.result if job.state == JobState.DONE else _progress(job),
            error=job.error,
            hint=job.hint,
            created_at=job.created_at,
            finished_at=job.finished_at,
        )


def _progress(job: Job) -> dict[str, Any]:
    return {name: job.result[name] for name in ("n_answered", "n_calls") if name in job.result}


def me_of(person: User, operations: list[str]) -> Me:
    """Return who asks."""
    return Me(
        username=person.username,
        name=person.get_full_name() or person.username,
        role=Role(person.role),
        operations=operations,
    )
