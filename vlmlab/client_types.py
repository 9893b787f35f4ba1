"""What the client of the REST API returns: small frozen records, each with all that the lab sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

Raw = Mapping[str, Any]
Record = TypeVar("Record", bound="_Record")


class LabError(Exception):
    """The lab refused a request, or was not reached.

    Attributes:
        status: HTTP status; 0 when there was no answer.
        message: what happened.
        hint: what to do about it; may be empty.
        field: field of the request it belongs to, if any.
    """

    def __init__(self, status: int, message: str, hint: str = "", field: str | None = None) -> None:
        super().__init__(f"{message} {hint}".strip())
        self.status, self.message, self.hint, self.field = status, message, hint, field


class LabTimeout(LabError):  # noqa: N818 - an end of waiting, not an error of the lab
    """What was waited for did not end in time; it goes on in the lab."""


@dataclass(frozen=True)
class _Record:
    """Attributes: raw: everything the lab sent, also what this version of the client does not know."""

    raw: Raw = field(repr=False)


@dataclass(frozen=True)
class Person(_Record):
    """Who a token belongs to."""

    username: str
    role: str
    operations: list[str] = field(repr=False)


@dataclass(frozen=True)
class Sut(_Record):
    """A registered system."""

    slug: str
    name: str
    kind: str
    params: Raw = field(repr=False)
    is_enabled: bool
    calibration: Raw | None
    spend_usd: float


@dataclass(frozen=True)
class Job(_Record):
    """Short work of a worker."""

    id: str
    kind: str
    state: str
    is_ended: bool
    result: Raw = field(repr=False)
    error: str
    hint: str


@dataclass(frozen=True)
class Dataset(_Record):
    """Annotated pictures; ``recipe`` holds the ``digest`` of one that was drawn and is complete."""

    slug: str
    title: str
    origin: str
    state: str
    n_pictures: int
    recipe: Raw = field(repr=False)
    licence: str
    credits: str = field(repr=False)
    error: str
    page: str


@dataclass(frozen=True)
class Run(_Record):
    """One search on one system."""

    id: int
    sut: str
    state: str
    is_final: bool
    stage: str
    ending: str
    error: str
    hint: str
    progress: Raw
    spending: Raw
    page: str


@dataclass(frozen=True)
class Campaign(_Record):
    """What one search request started; ``runs`` is empty in lists."""

    id: int
    name: str
    domain: str
    config: Raw = field(repr=False)
    runs: list[Run]


@dataclass(frozen=True)
class Finding(_Record):
    """A concept set on which a system fails too often.

    Attributes:
        rate: of the search, with ``value``, ``low`` and ``high``; None where sets were stopped early and once
            there are fresh scenes, because ``fails`` of ``samples`` is biased upwards.
        fresh: what fresh scenes said, with ``fails``, ``samples``, ``rate``, ``low``, ``high`` and ``level``;
            None before a follow-up has asked any.
        minimality: what an ablation found out: minimal, reducible, undetermined, or "".
    """

    id: int
    run: int
    sut: str
    state: str
    words: str
    concepts: list[str]
    fails: int
    samples: int
    rate: Raw | None
    fresh: Raw | None
    expected: str
    answered: str
    direction: str
    is_minimal: bool
    minimality: str
    page: str


def record_of(kind: type[Record], raw: Raw) -> Record:
    """Return a record of what the lab sent.

    Raises:
        LabError: a field is missing, so it was sent by something else.
    """
    values: dict[str, Any] = {one.name: raw.get(one.name) for one in fields(kind) if one.name != "raw"}
    missing = [name for name in values if name not in raw and name != "runs"]
    if missing:
        raise LabError(
            0, f"The answer has no “{missing[0]}”.", "The lab may be older or newer than this client."
        )
    if "runs" in values:
        values["runs"] = [record_of(Run, run) for run in raw.get("runs", [])]
    return kind(raw=raw, **values)
