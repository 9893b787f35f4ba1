"""Signing in by password or one-time link, signing out, setting one's own password."""

from typing import cast

from django.contrib import messages
from django.contrib.auth import login as start_session
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from searches.forms.people import INPUT, SignInForm
from searches.models import User
from searches.services import people
from vlmlab.web.errors import problem_page

LINK_BACKEND = "django.contrib.auth.backends.ModelBackend"

login = LoginView.as_view(authentication_form=SignInForm, redirect_authenticated_user=True)
logout = LogoutView.as_view()


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Show whom a one-time link is for; sign in on the button.

    The button keeps mail scanners and link previews, which only read, from using the link up.
    """
    try:
        if request.method != "POST":
            return render(request, "registration/sign_in.html", {"person": people.person_of_link(uid, token)})
        person = people.use_sign_in_link(uid, token)
    except people.LinkError as error:
        return problem_page(request, error, status=410)
    start_session(request, person, backend=LINK_BACKEND)
    if not person.has_usable_password():
        messages.info(request, "You have no password yet. Set one on “Your password” to sign in again later.")
    return redirect("home")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def password_set(request: HttpRequest) -> HttpResponse:
    """Let a person set their first password, or change it."""
    person = cast(User, request.user)
    form_type = PasswordChangeForm if person.has_usable_password() else SetPasswordForm
    form = form_type(person, request.POST or None)
    for field in form.fields.values():
        field.widget.attrs.update(INPUT)
    if request.method == "POST" and form.is_valid():
        people.set_password(person, form.cleaned_data["new_password1"])
        update_session_auth_hash(request, person)
        messages.success(request, "Your password is set.")
        return redirect("home")
    return render(request, "registration/password_set.html", {"form": form})
