"""Pages of provider keys: list, add, replace, delete; no page ever shows a secret."""

from typing import cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches.forms.errors import add_lab_error
from searches.forms.keys import KeyForm, SecretForm
from searches.models import ApiKey, User
from searches.services import keys
from vlmlab.core.errors import VlmLabError

PAGE_SIZE = 50


@require_safe
def key_list(request: HttpRequest) -> HttpResponse:
    """Show the stored keys by name and last characters."""
    page = Paginator(keys.keys_with_uses(), PAGE_SIZE).get_page(request.GET.get("page"))
    lines = keys.key_lines(list(page.object_list), by=cast(User, request.user))
    return render(request, "searches/key_list.html", {"page_obj": page, "lines": lines})


@sensitive_post_parameters("secret")
@sensitive_variables("form", "cleaned")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def key_create(request: HttpRequest) -> HttpResponse:
    """Store a key."""
    form = KeyForm(request.POST or None, initial={"kind": request.GET.get("kind", "")})
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        try:
            key = keys.create_key(
                name=cleaned["name"],
                kind=cleaned["kind"],
                secret=cleaned["secret"],
                by=cast(User, request.user),
                address=cleaned["base_url"],
            )
        except VlmLabError as error:
            add_lab_error(form, error)
            form.remind_of_secret()
        else:
            messages.success(request, f"The key {key.name} is stored.")
            return redirect("key_list")
    return render(request, "searches/key_form.html", {"form": form}, status=422 if form.errors else 200)


@sensitive_post_parameters("secret")
@sensitive_variables("form")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def key_replace(request: HttpRequest, pk: int) -> HttpResponse:
    """Put a new secret under an old name."""
    key = _changeable(request, pk)
    form = SecretForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            keys.replace_key(key, secret=form.cleaned_data["secret"], by=cast(User, request.user))
        except VlmLabError as error:
            add_lab_error(form, error)
        else:
            messages.success(request, f"The key {key.name} is replaced.")
            return redirect("key_list")
    context = {"form": form, "key": key, "suts": key.suts.order_by("name")}
    return render(request, "searches/key_form.html", context, status=422 if form.errors else 200)


@require_POST
def key_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a key that no system uses."""
    key = _changeable(request, pk)
    try:
        keys.delete_key(key, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The key {key.name} is deleted.")
    return redirect("key_list")


def _changeable(request: HttpRequest, pk: int) -> ApiKey:
    key = get_object_or_404(ApiKey.objects.defer("secret"), pk=pk)
    if not keys.may_change(key, by=cast(User, request.user)):
        raise PermissionDenied
    return key
