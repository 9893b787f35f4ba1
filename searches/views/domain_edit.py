"""Pages that make and change domains: a new one, the editor, and its live preview."""

from typing import Any, cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches.forms.domain import EXAMPLE, CopyDomainForm, UploadDomainForm
from searches.forms.domain_editor import DomainEditor
from searches.forms.errors import add_lab_error
from searches.models import User
from searches.services import domain_edits
from searches.services.domain_diffs import compare_contents
from searches.services.domain_edits import DomainChangedError
from searches.services.domain_previews import preview_domain
from searches.services.domain_store import content_of, current_domain, current_domains
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.domain_files import CheckedDomain, check_content, check_domain_file, example_text
from vlmlab.core.scenes.domain_problems import DomainFileError
from vlmlab.web.numbers import write_many

NEW_PAGE = "searches/domain_new.html"


@require_http_methods(["GET", "HEAD", "POST"])
def domain_new(request: HttpRequest) -> HttpResponse:
    """Add a domain: from a file, from a copy, or from the text of a refused file once it is corrected."""
    sources = [(domain.slug, domain.title) for domain in current_domains()]
    copied = {"source": request.GET.get("from", EXAMPLE)}
    context: dict[str, Any] = {
        "upload": UploadDomainForm(),
        "copy": CopyDomainForm(sources=sources, initial=copied),
    }
    if request.method != "POST":
        return render(request, NEW_PAGE, context)
    do = request.POST.get("do", "")
    if do == "copy":
        context["copy"] = form = CopyDomainForm(request.POST, sources=sources)
        return _copy(request, form, context)
    if do == "store":
        return _store(request, request.POST.get("text", ""), context, note="Written in the browser")
    context["upload"] = upload = UploadDomainForm(request.POST, request.FILES)
    if not upload.is_valid():
        return render(request, NEW_PAGE, context, status=422)
    file = upload.cleaned_data["file"]
    return _store(request, file.read(), context, note=f"Uploaded {file.name}")


@require_http_methods(["GET", "HEAD", "POST"])
def domain_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change a domain row by row or as text; saving makes a new version."""
    try:
        domain = current_domain(slug)
        content = content_of(slug)
    except ConceptError as error:
        raise Http404(error.message) from error
    context: dict[str, Any] = {"domain": domain}
    status = 200
    if request.method == "POST":
        editor = DomainEditor.of_post(request.POST)
        if editor.is_saving and not editor.has_wrong_row:
            try:
                return _save(request, slug, editor)
            except DomainChangedError as error:
                status = 409
                context |= _conflict(slug, editor, current=content, error=error)
            except ConceptError as error:
                status = 422
                context["refusal"] = error
        editor.act()
        status = 422 if editor.has_wrong_row else status
    else:
        editor = DomainEditor.of_content(content, base=domain.version, section=request.GET.get("show", ""))
    context |= {"editor": editor, "preview": preview_domain(editor.check(), editor.picks)}
    return render(request, "searches/domain_edit.html", context, status=status)


@require_POST
def domain_preview(request: HttpRequest) -> HttpResponse:
    """Show what the text in the editor would do, without storing anything."""
    editor = DomainEditor.of_post(request.POST)
    context = {"preview": preview_domain(editor.check(), editor.picks), "editor": editor}
    return render(request, "searches/domain_preview.html", context)


@require_safe
def domain_example(request: HttpRequest) -> HttpResponse:
    """Send the example file, with its comments."""
    answer = HttpResponse(example_text(), content_type="application/yaml; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="warehouse.yaml"'
    return answer


def _store(request: HttpRequest, text: str | bytes, context: dict[str, Any], *, note: str) -> HttpResponse:
    checked = check_domain_file(text)
    try:
        row = domain_edits.add_domain(checked, by=cast(User, request.user), note=note)
    except DomainFileError as error:
        shown = text if isinstance(text, str) else text.decode("utf-8", "replace").replace("\x00", "�")
        context |= {"problems": error.problems, "text": shown, "warnings": checked.warnings}
        return render(request, NEW_PAGE, context, status=422)
    return _added(request, row.slug, row.title, checked)


def _copy(request: HttpRequest, form: CopyDomainForm, context: dict[str, Any]) -> HttpResponse:
    if form.is_valid():
        cleaned = form.cleaned_data
        names = {"slug": cleaned["slug"], "title": cleaned["title"]}
        try:
            if cleaned["source"] == EXAMPLE:
                content: dict[str, Any] = check_domain_file(example_text()).content | names
            else:
                content = {**content_of(cleaned["source"]), **names}
            checked = check_content(content)
            note = f"Copied from {form.sources[cleaned['source']]}"
            row = domain_edits.add_domain(checked, by=cast(User, request.user), note=note)
        except DomainFileError as error:
            problem = error.problems[0]
            add_lab_error(form, ConceptError(problem.message, hint=problem.hint, field=problem.field))
        except ConceptError as error:
            add_lab_error(form, error, fields={"domain": "source"})
        else:
            return _added(request, row.slug, row.title, checked)
    return render(request, NEW_PAGE, context, status=422)


def _added(request: HttpRequest, slug: str, title: str, checked: CheckedDomain) -> HttpResponse:
    found = checked.warnings
    words = f" {write_many(len(found), 'thing looks,things look')} odd: see the preview." if found else ""
    messages.success(request, f"{title} is stored as version 1.{words}")
    return redirect("domain_edit", slug)


def _save(request: HttpRequest, slug: str, editor: DomainEditor) -> HttpResponse:
    kept = domain_edits.save_domain(
        slug, editor.check(), base=editor.base, by=cast(User, request.user), note=editor.note
    )
    messages.success(request, f"Version {kept.number} is saved. New searches use it; runs keep theirs.")
    return redirect("domain_versions", slug)


def _conflict(
    slug: str, editor: DomainEditor, *, current: dict[str, object], error: ConceptError
) -> dict[str, Any]:
    """Return both changes since the version that the person began with; saving again puts theirs on top."""
    checked = editor.check()
    try:
        began_with = content_of(slug, editor.base)
    except ConceptError:
        began_with = current
    theirs, mine = compare_contents(began_with, current), compare_contents(began_with, checked.content)
    editor.base = current_domain(slug).version
    return {"refusal": error, "theirs": theirs, "mine": mine}
