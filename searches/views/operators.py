"""Pages of operators: pictures and prompts under each at rising severities, one picture, the level map."""

import re

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches.forms.errors import add_lab_error
from searches.forms.operators import OperatorPictureForm, OperatorTextForm, OperatorUploadForm
from searches.services import operator_pages, operator_pictures, operator_texts
from searches.services.operator_pictures import LARGEST_SEED, ShownPicture
from searches.services.word_tables import operators_with
from vlmlab.core.errors import VlmLabError
from vlmlab.core.perturb.image_operators import IMAGE_OPERATORS
from vlmlab.web.asked import asked_number

SHA256 = re.compile(r"[0-9a-f]{64}")
SEVERITY = re.compile(r"0(\.[0-9]{1,6})?|1(\.0{1,6})?")
A_DAY = "private, max-age=86400, immutable"  # another version of the lab may draw otherwise


@require_safe
def operator_list(request: HttpRequest) -> HttpResponse:
    """Show a picture under every operator at five severities, and the map to ImageNet-C."""
    form, picture = _asked_picture(request)
    seed, family = _seed(form), form.cleaned_data.get("family", "")
    strips = operator_pages.operator_strips(picture, seed=seed, family=family) if picture else []
    context = _context(form, picture) | {
        "strips": strips,
        "facts": [] if picture else operator_pages.operators(family),
        "levels": operator_pages.level_rows(),
        "upload_form": OperatorUploadForm(),
        "severities": operator_pages.SEVERITIES,
    }
    return render(request, "searches/operator_list.html", context)


@require_safe
def operator_detail(request: HttpRequest, name: str) -> HttpResponse:
    """Show a picture under one operator, large, with what becomes of its truth."""
    if name not in IMAGE_OPERATORS:
        raise Http404("no such operator")
    form, picture = _asked_picture(request)
    operator = IMAGE_OPERATORS[name]
    strip = operator_pages.operator_strip(operator, picture, seed=_seed(form)) if picture else None
    context = _context(form, picture) | {
        "operator": operator,
        "title": operator_pages.operator_heading(name),
        "sets": operator_pages.setting_words(operator),
        "strip": strip,
        "level": next((row for row in operator_pages.level_rows() if row.name == name), None),
    }
    return render(request, "searches/operator_detail.html", context)


@require_POST
def operator_upload(request: HttpRequest) -> HttpResponse:
    """Take a picture to look at."""
    form = OperatorUploadForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            image = operator_pictures.store_upload(form.cleaned_data["picture"].read())
        except VlmLabError as error:
            form.add_error("picture", str(error))
        else:
            return redirect(f"{reverse('operator_list')}?upload={image.sha256}")
    picture_form, picture = _asked_picture(request)
    context = _context(picture_form, picture) | {"upload_form": form, "levels": operator_pages.level_rows()}
    return render(request, "searches/operator_list.html", context, status=422)


@require_safe
def operator_picture(request: HttpRequest, sha256: str, name: str, severity: str, seed: str) -> HttpResponse:
    """Send a stored picture under one operator as PNG; ``?size=small`` scales it down."""
    number = asked_number(seed, largest=LARGEST_SEED)
    is_sound = SHA256.fullmatch(sha256) and SEVERITY.fullmatch(severity) and name in IMAGE_OPERATORS
    if not is_sound or number is None:
        raise Http404("no such picture")
    try:
        operator_pictures.check_is_kept(sha256)
        png = operator_pictures.operator_png(
            sha256,
            name,
            severity=float(severity),
            seed=number,
            is_small=request.GET.get("size") == "small",
        )
    except VlmLabError as error:
        raise Http404(error.message) from error
    etag = operator_pictures.etag_of(png)
    is_known = request.headers.get("If-None-Match") == etag
    response = HttpResponseNotModified() if is_known else HttpResponse(png, content_type="image/png")
    response["ETag"] = etag
    response["Cache-Control"] = A_DAY
    response["X-Content-Type-Options"] = "nosniff"
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def operator_text(request: HttpRequest) -> HttpResponse:
    """Show a prompt under every operator at five severities; it is sent as a form, because it may be long."""
    form = OperatorTextForm(request.POST if request.method == "POST" else _first_text())
    strips, family = [], ""
    if form.is_valid():
        cleaned = form.cleaned_data
        family = operator_texts.shown_family(cleaned["prompt"], cleaned["family"])
        try:
            strips = operator_texts.text_strips(
                cleaned["prompt"],
                seed=cleaned["seed"] or 0,
                family=family,
                protect=(cleaned["protect"],) if cleaned["protect"] else (),
                operators=operators_with(
                    homophone=cleaned["homophone_table"], synonym=cleaned["synonym_table"]
                ),
            )
        except VlmLabError as error:
            add_lab_error(form, error)
    context = {"form": form, "strips": strips, "is_cut": family != form.cleaned_data.get("family", "")}
    return render(request, "searches/operator_text.html", context, status=422 if form.errors else 200)


@require_safe
def operator_levels(_request: HttpRequest) -> HttpResponse:
    """Send the map between severities and levels as CSV."""
    response = HttpResponse(operator_pages.levels_csv(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="severity-levels.csv"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _first_text() -> dict[str, str]:
    return {"prompt": operator_texts.DEFAULT_PROMPT, "seed": str(operator_texts.DEFAULT_SEED)}


def _asked_picture(request: HttpRequest) -> tuple[OperatorPictureForm, ShownPicture | None]:
    """Return the form of an address and its picture; without a sound address, the first one there is."""
    datasets = operator_pictures.usable_datasets()
    form = OperatorPictureForm(request.GET, datasets=datasets)
    form.is_valid()
    cleaned = form.cleaned_data
    try:
        picture = operator_pictures.chosen_picture(
            datasets,
            slug=cleaned.get("dataset", ""),
            order=cleaned.get("order"),
            upload=cleaned.get("upload", ""),
        )
    except VlmLabError as error:
        add_lab_error(form, error)
        picture = None
    return form, picture


def _seed(form: OperatorPictureForm) -> int:
    return form.cleaned_data.get("seed") or 0


def _context(form: OperatorPictureForm, picture: ShownPicture | None) -> dict[str, object]:
    seed = _seed(form)
    query = operator_pages.query_of(picture, seed=seed)
    return {"form": form, "picture": picture, "seed": seed, "query": query}
