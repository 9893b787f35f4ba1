"""What people add to findings and test cases: notes, tags, status."""

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from searches.forms.follow_ups import NoteForm, TriageForm, said_wrong
from searches.models import Finding, ModalityCase, Note, User
from searches.services import notes
from vlmlab.core.errors import VlmLabError


@require_POST
def finding_note(request: HttpRequest, pk: int) -> HttpResponse:
    """Write a note beside a finding."""
    return _add(request, get_object_or_404(Finding, pk=pk))


@require_POST
def case_note(request: HttpRequest, pk: int) -> HttpResponse:
    """Write a note beside a test case."""
    return _add(request, get_object_or_404(ModalityCase, pk=pk))


@require_POST
def finding_triage(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what is being done about a finding."""
    return _triage(request, get_object_or_404(Finding, pk=pk))


@require_POST
def case_triage(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what is being done about a test case."""
    return _triage(request, get_object_or_404(ModalityCase, pk=pk))


@require_POST
def note_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a note for good."""
    note = get_object_or_404(Note.objects.select_related("finding", "case"), pk=pk)
    of = note.finding or note.case
    assert of is not None
    try:
        notes.delete_note(note, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The note is deleted.")
    return _back(of)


def _add(request: HttpRequest, of: notes.Noted) -> HttpResponse:
    form = NoteForm(request.POST)
    try:
        if not form.is_valid():
            raise VlmLabError(said_wrong(form))
        notes.add_note(of, form.cleaned_data["text"], by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    return _back(of)


def _triage(request: HttpRequest, of: notes.Noted) -> HttpResponse:
    form = TriageForm(request.POST)
    try:
        if not form.is_valid():
            raise VlmLabError(said_wrong(form))
        said = form.cleaned_data
        notes.set_triage(of, said["triage"], tags=said["tags"], by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Status and tags are saved.")
    return _back(of)


def _back(of: notes.Noted) -> HttpResponse:
    return redirect(f"{of.get_absolute_url()}#notes")
