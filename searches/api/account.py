"""Who asks, and work that others wait for."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Router

from searches.api.conditional import unchanged
from searches.api.operations import operation, person_of
from searches.api.shapes.common import JobShape, Me, me_of
from searches.models import Job
from vlmlab.web.api_answers import API_NAMESPACE
from vlmlab.web.permissions import permission_table

router = Router(tags=["Account and jobs"])


@operation(router, "GET", "/me", response=Me)
def read_me(request: HttpRequest) -> Me:
    """Read who the token belongs to.

    The cheapest way to check a token. `operations` lists what the role of its owner may call.
    """
    person, head = person_of(request), f"{API_NAMESPACE}:"
    allowed = [name.removeprefix(head) for name, roles in permission_table().items() if person.role in roles]
    return me_of(person, sorted(name for name in allowed if f"{head}{name}" in permission_table()))


@operation(router, "GET", "/jobs/{uuid:job_id}", response=JobShape, errors=(404,))
def read_job(request: HttpRequest, response: HttpResponse, job_id: UUID) -> JobShape | HttpResponse:
    """Read a job.

    Ask again every second or so until `is_ended`; an `If-None-Match` with the last ETag saves the body.
    """
    job = Job.objects.filter(pk=job_id).first()
    if job is None:
        raise Http404("There is no job of this id; jobs are kept for a week.")
    mark = f"{job.pk}-{job.state}-{job.attempts}-{job.result.get('n_answered', 0)}"
    return unchanged(request, response, mark) or JobShape.of(job)
