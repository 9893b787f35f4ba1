"""The page that uploads seed images, and the table of what an import refused."""

from typing import cast

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from searches import launch
from searches.forms.seed_upload import SeedUploadForm
from searches.models import User
from searches.services.datasets import find_dataset
from searches.services.seed_import_report import refusals_csv, seed_import_of
from vlmlab.core.errors import VlmLabError
from vlmlab.core.seed_images.importing import FORMATS
from vlmlab.web.streaming import stream_file


@require_http_methods(["GET", "HEAD", "POST"])
def seed_upload(request: HttpRequest) -> HttpResponse:
    """Take a ZIP archive of annotated pictures; a worker imports it."""
    form = SeedUploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["archive"].name
        try:
            dataset = launch.start_seed_import(form.file, form.wish(), name=name, by=cast(User, request.user))
        except VlmLabError as error:
            form.add_core_error(error)
        else:
            return redirect(dataset)
    context = {"form": form, "formats": FORMATS.values()}
    return render(request, "searches/seed_upload.html", context, status=422 if form.errors else 200)


@require_safe
def dataset_refusals(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Send what an import refused as a table."""
    dataset = find_dataset(slug)
    seeds = seed_import_of(dataset) if dataset is not None else None
    if dataset is None or seeds is None:
        raise Http404("no such import")
    name = f"vlmlab-{dataset.slug}-refused-{timezone.localdate():%Y-%m-%d}.csv"
    return stream_file(refusals_csv(seeds), name=name, media_type="text/csv")
