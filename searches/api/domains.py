"""Domains: what can stand in a scene, and drawing one."""

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router, Status

from searches import launch
from searches.api.operations import operation, person_of
from searches.api.shapes.common import JobShape
from searches.api.shapes.findings import (
    DomainShape,
    DomainWithConcepts,
    NewScene,
    domain_shape,
    domain_values,
)
from searches.enums import JobKind
from searches.services.composing import scene_params
from searches.services.domain_store import current_domains, find_domain
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.concepts import Domain

router = Router(tags=["Domains and scenes"])


@operation(router, "GET", "/domains", response=list[DomainShape])
def list_domains(request: HttpRequest) -> list[dict[str, Any]]:
    """List the domains."""
    return [domain_values(domain) for domain in current_domains()]


@operation(router, "GET", "/domains/{slug:slug}", response=DomainWithConcepts, errors=(404,))
def read_domain(request: HttpRequest, slug: str) -> DomainWithConcepts:
    """Read a domain with its concepts and rules."""
    return domain_shape(_domain(slug))


@operation(
    router, "POST", "/domains/{slug:slug}/scenes", response=JobShape, status=202, errors=(400, 404, 422)
)
def draw_scene(request: HttpRequest, slug: str, payload: NewScene) -> Status[JobShape]:
    """Draw a scene.

    Returns the job. When it is done, its id can be given to `try`, and its `result` names the picture.
    """
    domain = _domain(slug)
    params = scene_params(domain, tuple(payload.concepts), scene_seed=payload.seed)
    reason = domain.why_invalid(tuple(params["concepts"]))
    if reason is not None:
        raise ConceptError(reason, hint="Choose concepts that can occur together.", field="concepts")
    return Status(202, JobShape.of(launch.start_job(JobKind.RENDER_SCENE, params, by=person_of(request))))


def _domain(slug: str) -> Domain:
    try:
        return find_domain(slug)
    except ConceptError as error:
        raise Http404(error.message) from error
