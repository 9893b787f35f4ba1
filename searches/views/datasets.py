"""Pages of datasets: list, make, one with its pictures, one picture, download, stop, go on, delete."""

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches import launch
from searches.forms.datasets import DatasetForm
from searches.forms.errors import add_lab_error
from searches.models import Dataset, DatasetPicture, User
from searches.services import dataset_pages, datasets
from searches.services.dataset_exports import dataset_export
from searches.services.dataset_gallery import GalleryFilter, gallery
from searches.services.dataset_index import dataset_index
from searches.services.dataset_making import stop_dataset
from searches.services.mask_pictures import paint_masks
from searches.services.scene_archives import SceneExport, export_zip
from searches.services.scene_facts import indented
from searches.services.stored_shapes import reading_stored
from searches.views.jobs import job_context
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.strata import STRATA
from vlmlab.web.downloads import send_description
from vlmlab.web.streaming import stream_zip

PAGE_SIZE = 50
MOST_FILTER_CHARACTERS = 120
A_DAY = "private, max-age=86400"


@require_safe
def dataset_list(request: HttpRequest) -> HttpResponse:
    """Show every dataset."""
    page = Paginator(dataset_pages.dataset_rows(), PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "searches/dataset_list.html", {"page_obj": page})


@require_http_methods(["GET", "HEAD", "POST"])
def dataset_create(request: HttpRequest) -> HttpResponse:
    """Ask for a dataset drawn from scenes."""
    form = DatasetForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and form.recipe is not None:
        try:
            dataset = launch.start_dataset(
                form.recipe,
                title=form.cleaned_data["title"],
                text=form.cleaned_data["description"],
                by=cast(User, request.user),
            )
        except VlmLabError as error:
            add_lab_error(form, error)
        else:
            return redirect(dataset)
    context = {"form": form, "strata": STRATA.values()}
    return render(request, "searches/dataset_form.html", context, status=422 if form.errors else 200)


@never_cache
@require_safe
def dataset_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a dataset: how it came to be, what is in it, its pictures."""
    dataset = _dataset(slug)
    names = ("stratum", "concept", "label")
    wanted = GalleryFilter(**{name: request.GET.get(name, "")[:MOST_FILTER_CHARACTERS] for name in names})
    with reading_stored("dataset", hint="Make it again."):
        index = dataset_index(dataset)
        page = dataset_pages.dataset_page(dataset, index)
        part = gallery(dataset, index, wanted, number=request.GET.get("page"))
    context = {"page": page, "dataset": dataset, "part": part, "wanted": wanted, "page_obj": part.page}
    if page.is_at_work and page.job is not None:
        context |= job_context(page.job)
    return render(request, "searches/dataset_detail.html", context)


@require_safe
def dataset_picture(request: HttpRequest, slug: str, order: int) -> HttpResponse:
    """Show one picture with its truth, or send its scene description."""
    dataset = _dataset(slug)
    row = _picture(dataset, order)
    if request.GET.get("as") == "json" and row.description:
        return send_description(indented(row.description), name=f"{dataset.slug}-{order}")
    with reading_stored("picture", hint="Make the dataset again."):
        page = dataset_pages.picture_page(dataset, row)
    context = {"page": page, "dataset": dataset, "facts": page.facts}
    return render(request, "searches/dataset_picture.html", context)


@require_safe
def dataset_masks(request: HttpRequest, slug: str, order: int) -> HttpResponse:
    """Send the masks of a picture as one transparent picture."""
    row = _picture(_dataset(slug), order)
    masks = [one["mask"] for one in row.annotations if one.get("mask")]
    return send_masks(masks, width=row.width, height=row.height)


@require_safe
def dataset_export_zip(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Send a dataset as one archive."""
    return send_scenes(dataset_export(_dataset(slug)))


@require_POST
def dataset_stop(request: HttpRequest, slug: str) -> HttpResponse:
    """Stop the drawing of a dataset."""
    dataset = _dataset(slug)
    try:
        stop_dataset(dataset, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    return redirect(dataset)


@require_POST
def dataset_go_on(request: HttpRequest, slug: str) -> HttpResponse:
    """Draw what is left of a dataset."""
    dataset = _dataset(slug)
    try:
        launch.go_on_with_dataset(dataset, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    return redirect(dataset)


@require_POST
def dataset_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete a dataset that nothing uses."""
    dataset = _dataset(slug)
    try:
        datasets.delete_dataset(dataset, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(dataset)
    messages.success(request, f"The dataset {dataset.title} is deleted.")
    return redirect("dataset_list")


def send_scenes(export: SceneExport) -> HttpResponseBase:
    """Send scenes as one archive, piece by piece."""
    name = f"{export.name}-{timezone.localdate():%Y-%m-%d}.zip"
    return stream_zip(export_zip(export), name=name)


def send_masks(masks: list[str], *, width: int, height: int) -> HttpResponse:
    """Send masks as one transparent picture."""
    try:
        png = paint_masks(masks, width=width, height=height)
    except ValueError as error:
        raise Http404("no such masks") from error
    response = HttpResponse(png, content_type="image/png")
    response["Cache-Control"] = A_DAY
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _dataset(slug: str) -> Dataset:
    dataset = datasets.find_dataset(slug)
    if dataset is None:
        raise Http404("no such dataset")
    return dataset


def _picture(dataset: Dataset, order: int) -> DatasetPicture:
    row = dataset_pages.find_picture(dataset, order) if order < 2**31 else None
    if row is None:
        raise Http404("no such picture")
    return row
