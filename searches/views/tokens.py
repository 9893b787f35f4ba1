"""Pages of a person's own API tokens: list, make, revoke."""

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches.forms.tokens import TokenForm
from searches.models import User
from searches.services import tokens
from vlmlab.core.errors import VlmLabError

PAGE_SIZE = 25


@require_safe
def token_list(request: HttpRequest) -> HttpResponse:
    """Show a person's tokens; none of them can be shown in full."""
    rows = tokens.tokens_of(cast(User, request.user))
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "account/token_list.html", {"page": page, "now": timezone.now()})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_create(request: HttpRequest) -> HttpResponse:
    """Make a token and show it, this once."""
    form = TokenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            new = tokens.create_token(
                by=cast(User, request.user), name=form.cleaned_data["name"], days=form.lifetime()
            )
        except VlmLabError as error:
            form.add_error(error.field, str(error))
        else:
            context = {"token": new, "address": request.build_absolute_uri("/api/v1/me")}
            return render(request, "account/token_made.html", context)
    return render(request, "account/token_form.html", {"form": form}, status=422 if form.errors else 200)


@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke one of a person's own tokens."""
    person = cast(User, request.user)
    token = get_object_or_404(tokens.tokens_of(person), pk=pk)
    tokens.revoke_token(token, by=person)
    messages.success(request, f"The token {token.name} is revoked. Programs that use it get 401 from now on.")
    return redirect("token_list")
