"""Pages of word tables: what is covered, asking for one, its review."""

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches import launch
from searches.forms.errors import add_lab_error
from searches.forms.word_tables import WordTableForm, read_decisions
from searches.models import User, WordTableRecord
from searches.services import word_table_asking, word_table_pages, word_table_review
from searches.views.jobs import job_context
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import asked_number

PAGE_SIZE = 50


@require_safe
def word_table_list(request: HttpRequest) -> HttpResponse:
    """Show what the shipped tables cover, and the lab's own."""
    page = Paginator(word_table_pages.word_table_rows(), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"page_obj": page, "coverage": word_table_pages.coverage()}
    return render(request, "searches/word_table_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def word_table_create(request: HttpRequest) -> HttpResponse:
    """Ask a system for a table."""
    form = WordTableForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            table = launch.start_word_table(
                title=form.cleaned_data["title"],
                kind=form.kind_of_table,
                labels=form.cleaned_data["wanted"],
                sut=form.cleaned_data["sut"],
                by=cast(User, request.user),
            )
        except VlmLabError as error:
            add_lab_error(form, error)
        else:
            return redirect(table)
    return render(
        request, "searches/word_table_form.html", {"form": form}, status=422 if form.errors else 200
    )


@never_cache
@require_safe
def word_table(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one table: how far it is, and a page of its labels with what was proposed."""
    row = _table(slug)
    page = word_table_pages.word_table_page(row)
    part = Paginator(row.labels, word_table_pages.LABELS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "table": row,
        "page_obj": part,
        "lines": word_table_pages.review_lines(page, part.object_list),
    }
    if page.is_at_work and page.job is not None:
        context |= job_context(page.job)
    return render(request, "searches/word_table.html", context)


@require_POST
def word_table_decide(request: HttpRequest, slug: str) -> HttpResponse:
    """Write down a page of the review, or finish, stop, go on, delete."""
    row, by = _table(slug), cast(User, request.user)
    action = request.POST.get("do", "")
    try:
        if action in ("save", "accept", "refuse"):
            word_table_review.decide(row, read_decisions(request.POST), by=by)
        elif action == "finish":
            word_table_review.finish_review(row, by=by)
            messages.success(request, f"The review of {row.title} is finished. Searches can name it now.")
        elif action == "stop":
            word_table_asking.stop_asking(row, by=by)
        elif action == "go-on":
            launch.go_on_with_word_table(row, by=by)
        elif action == "delete":
            word_table_review.delete_word_table(row, by=by)
            messages.success(request, f"The word table {row.title} is deleted.")
            return redirect("word_table_list")
    except VlmLabError as error:
        messages.error(request, str(error))
    number = asked_number(request.POST.get("page", ""), largest=10_000)
    address = reverse("word_table", args=[row.slug])
    return redirect(f"{address}?page={number}#labels" if number else address)


def _table(slug: str) -> WordTableRecord:
    row = word_table_pages.find_word_table(slug)
    if row is None:
        raise Http404("no such word table")
    return row
