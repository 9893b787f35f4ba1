"""People: list, invite by link, change role, deactivate."""

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches.forms.people import InviteForm, PersonForm
from searches.models import User
from searches.services import people
from searches.services.tokens import n_usable
from vlmlab.core.errors import VlmLabError

PAGE_SIZE = 50


@require_safe
def people_list(request: HttpRequest) -> HttpResponse:
    """Show everybody, active ones first."""
    everybody = User.objects.order_by("-is_active", "username")
    page = Paginator(everybody, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "people/list.html", {"page": page})


@require_http_methods(["GET", "HEAD", "POST"])
def person_create(request: HttpRequest) -> HttpResponse:
    """Invite a person: their first way in is the link shown afterwards."""
    form = InviteForm(request.POST or None, initial={"role": "researcher"})
    if request.method == "POST" and form.is_valid():
        try:
            person = people.invite_person(
                form.cleaned_data["username"], form.person_values(), by=cast(User, request.user)
            )
        except VlmLabError as error:
            form.add_error(error.field, str(error))
        else:
            return _show_link(request, person, people.sign_in_path(person))
    return render(request, "people/create.html", {"form": form})


@require_http_methods(["GET", "HEAD", "POST"])
def person_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a person's name, role or state."""
    person = get_object_or_404(User, pk=pk)
    form = PersonForm(request.POST or None, initial=PersonForm.values_of(person))
    if request.method == "POST" and form.is_valid():
        try:
            people.change_person(person, form.person_values(), by=cast(User, request.user))
        except VlmLabError as error:
            form.add_error(error.field, str(error))
        else:
            messages.success(request, f"{person.username}: changes saved.")
            return redirect("people_list")
    context = {"form": form, "person": person, "n_tokens": n_usable(person)}
    return render(request, "people/edit.html", context)


@require_POST
def person_link(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a new one-time sign-in link for a person and show it once."""
    person = get_object_or_404(User, pk=pk)
    return _show_link(request, person, people.renew_link(person, by=cast(User, request.user)))


@never_cache
def _show_link(request: HttpRequest, person: User, path: str) -> HttpResponse:
    context = {"person": person, "link": request.build_absolute_uri(path)}
    return render(request, "people/link.html", context)
