"""Domain files: check one, store a new domain, save and read versions."""

from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from searches.api.errors import conflict_of
from searches.api.operations import operation, person_of
from searches.api.shapes.common import Input
from searches.services import domain_edits
from searches.services.domain_edits import DomainChangedError
from searches.services.domain_store import content_of
from searches.services.domain_versions import find_record, version_lines
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.domain_files import check_domain_file
from vlmlab.core.scenes.domain_problems import DomainProblem

router = Router(tags=["Domains and scenes"])


class DomainFileText(Input):
    """A domain file."""

    text: str = Field(max_length=1_000_000, description="YAML or JSON.", examples=["slug: desk\n…"])


class NewDomain(DomainFileText):
    """A domain file to store."""

    note: str = Field("", max_length=200, description="Where it is from, or what was changed.")


class NewDomainVersion(NewDomain):
    """A changed domain file to store."""

    base: str = Field(
        "", max_length=16, description="The version it was changed from; another current one is a conflict."
    )


class ProblemLine(Schema):
    """One thing that is wrong with a domain file."""

    place: str = Field(description="Line, row and key.", examples=["line 12, rule 1 “sharp”, when.has"])
    message: str
    hint: str
    is_warning: bool = Field(description="Whether the domain works all the same.")


class DomainCheck(Schema):
    """What a domain file would do."""

    is_valid: bool
    version: str = Field(description="Its version, empty while it is not valid.")
    problems: list[ProblemLine]
    valid_sets: dict[str, int] = Field(description="Concepts in a set -> number of valid sets.")
    decided: dict[str, int] = Field(description="Rule -> number of valid sets that it decides.")


class DomainVersionShape(Schema):
    """One version of a domain."""

    slug: str
    version: str
    number: int = Field(description="1 is the first that is stored here; 0 is the lab's own.")
    note: str
    is_current: bool = Field(description="Whether new searches use it.")
    created_at: datetime | None


class DomainVersionContent(Schema):
    """The content of a version."""

    slug: str
    version: str
    content: dict[str, Any] = Field(description="The parsed domain file.")


@operation(router, "POST", "/domain-files/check", response=DomainCheck, errors=(400, 422))
def check_domain(request: HttpRequest, payload: DomainFileText) -> DomainCheck:
    """Check a domain file without storing it."""
    checked = check_domain_file(payload.text)
    sense = checked.sense
    return DomainCheck(
        is_valid=checked.is_valid,
        version=checked.domain.version if checked.is_valid and checked.domain else "",
        problems=[_problem_line(one) for one in checked.problems],
        valid_sets={str(one.size): one.valid_sets for one in sense.sizes} if sense else {},
        decided=sense.decided if sense else {},
    )


@operation(router, "POST", "/domain-files", response=DomainVersionShape, status=201, errors=(400, 422))
def add_domain(request: HttpRequest, payload: NewDomain) -> Status[DomainVersionShape]:
    """Store a new domain.

    The file is refused as a whole when anything is wrong with it; `check_domain` names everything.
    """
    checked = check_domain_file(payload.text)
    row = domain_edits.add_domain(checked, by=person_of(request), note=payload.note)
    return Status(201, _version(row.slug, row.version))


@operation(router, "GET", "/domains/{slug:slug}/versions", response=list[DomainVersionShape], errors=(404,))
def list_domain_versions(request: HttpRequest, slug: str) -> list[DomainVersionShape]:
    """List the versions of a domain, the newest first."""
    return _versions(slug)


@operation(
    router, "POST", "/domains/{slug:slug}/versions", response=DomainVersionShape, status=201,
    errors=(400, 404, 409, 422),
)  # fmt: skip
def save_domain_version(
    request: HttpRequest, slug: str, payload: NewDomainVersion
) -> Status[DomainVersionShape]:
    """Store a changed domain as a new version, which new searches use."""
    _versions(slug)
    checked = check_domain_file(payload.text)
    try:
        kept = domain_edits.save_domain(
            slug, checked, base=payload.base, by=person_of(request), note=payload.note
        )
    except DomainChangedError as error:
        raise conflict_of(error) from error
    return Status(201, _version(slug, kept.version))


@operation(
    router,
    "GET",
    "/domains/{slug:slug}/versions/{slug:version}",
    response=DomainVersionContent,
    errors=(404,),
)
def read_domain_version(request: HttpRequest, slug: str, version: str) -> DomainVersionContent:
    """Read the file of one version."""
    try:
        content = content_of(slug, version)
    except ConceptError as error:
        raise Http404(error.message) from error
    return DomainVersionContent(slug=slug, version=version, content=content)


def _versions(slug: str) -> list[DomainVersionShape]:
    try:
        lines = version_lines(slug, find_record(slug))
    except ConceptError as error:
        raise Http404(error.message) from error
    return [
        DomainVersionShape(
            slug=slug,
            version=line.version,
            number=line.number,
            note=line.note,
            is_current=line.is_current,
            created_at=line.created_at,
        )
        for line in lines
    ]


def _version(slug: str, version: str) -> DomainVersionShape:
    return next(line for line in _versions(slug) if line.version == version)


def _problem_line(problem: DomainProblem) -> ProblemLine:
    return ProblemLine(
        place=problem.place, message=problem.message, hint=problem.hint, is_warning=problem.is_warning
    )
