"""Pages of a domain's versions: list, differences, download, make another one current, archive."""

from typing import cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from searches.models import User
from searches.services import domain_edits
from searches.services.domain_store import content_of, current_domain
from searches.services.domain_versions import changes_between, find_record, version_lines
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS
from vlmlab.core.scenes.domain_files import FILE_FORMATS, write_domain_file

CONTENT_TYPES = {"yaml": "application/yaml; charset=utf-8", "json": "application/json"}


@require_safe
def domain_versions(request: HttpRequest, slug: str) -> HttpResponse:
    """Show every version, and with ``?before=&after=`` what changed between two."""
    try:
        record = find_record(slug)
        domain = current_domain(slug)
        lines = version_lines(slug, record)
        before, after = request.GET.get("before", ""), request.GET.get("after", "")
        changes = changes_between(slug, before, after) if before and after else None
    except ConceptError as error:
        raise Http404(error.message) from error
    names = {line.version: f"version {line.number}" if line.number else "the lab's own" for line in lines}
    context = {
        "domain": domain,
        "record": record,
        "is_built_in": slug in DOMAIN_SLUGS,
        "lines": lines,
        "changes": changes,
        "before": before,
        "after": after,
        "before_name": names.get(before, before),
        "after_name": names.get(after, after),
    }
    return render(request, "searches/domain_versions.html", context)


@require_safe
def domain_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Send a version as a file; ``?version=`` and ``?format=yaml|json``."""
    file_format = request.GET.get("format", FILE_FORMATS[0])
    if file_format not in FILE_FORMATS:
        raise Http404("no such format")
    try:
        version = request.GET.get("version", "") or current_domain(slug).version
        text = write_domain_file(content_of(slug, version), file_format)
    except ConceptError as error:
        raise Http404(error.message) from error
    answer = HttpResponse(text, content_type=CONTENT_TYPES[file_format])
    answer["Content-Disposition"] = f'attachment; filename="{slug}-{version}.{file_format}"'
    return answer


@require_POST
def domain_use(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a stored version, or the lab's own, the one that new searches use."""
    version = request.POST.get("version", "")
    try:
        find_record(slug)
        domain = domain_edits.use_version(slug, version, by=cast(User, request.user))
    except ConceptError as error:
        if error.field in ("domain", "version"):
            raise Http404(error.message) from error
        messages.error(request, str(error))
    else:
        messages.success(request, f"New searches on {domain.title} use version {domain.version}.")
    return redirect("domain_versions", slug)


@require_POST
def domain_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Take an own domain out of every choice, or bring it back."""
    is_archived = request.POST.get("archive") == "1"
    try:
        find_record(slug)
    except ConceptError as error:
        raise Http404(error.message) from error
    try:
        row = domain_edits.set_archived(slug, is_archived=is_archived, by=cast(User, request.user))
    except ConceptError as error:
        messages.error(request, str(error))
    else:
        words = "is archived; its runs go on and its findings stay" if row.is_archived else "is back"
        messages.success(request, f"{row.title} {words}.")
    return redirect("domain_versions", slug)
