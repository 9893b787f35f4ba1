"""The same picture and question for several systems, side by side."""

from typing import Any, cast

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from searches import launch
from searches.forms.errors import add_lab_error
from searches.forms.sut_compare import CompareSutsForm
from searches.models import User
from searches.services.stored_shapes import reading_stored
from searches.services.sut_comparison import Comparison, comparison_of
from searches.services.sut_pages import enabled_suts
from searches.services.trying import drawn_scenes, read_uuid
from searches.views.sut_try import asked_before, keep_upload, scene_choices, wish_of
from vlmlab.core.errors import ImageError, VlmLabError
from vlmlab.web.errors import is_fragment_request


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sut_compare(request: HttpRequest) -> HttpResponse:
    """Ask several systems the same; ``?group=`` shows their answers, ``?sut=`` chooses systems."""
    comparison = _comparison(request.GET.get("group", ""))
    if comparison is not None and is_fragment_request(request):
        return render(request, "searches/sut_compare_columns.html", {"comparison": comparison})
    person = cast(User, request.user)
    scenes, offered = drawn_scenes(person), enabled_suts()
    form = CompareSutsForm(
        request.POST or None,
        request.FILES or None,
        offered=offered,
        scenes=scene_choices(scenes),
        initial=_initial(request, comparison, scenes),
    )
    if request.method == "POST" and form.is_valid():
        try:
            group = launch.start_comparison(form.cleaned_data["suts"], wish_of(form), by=person)
        except ImageError as error:
            form.add_error("picture", str(error))
        except VlmLabError as error:
            add_lab_error(form, error)
        else:
            return redirect(f"{request.path}?group={group}#answers")
    if request.method == "POST":
        keep_upload(form)
    context = {"form": form, "scenes": scenes, "offered": offered, "comparison": comparison}
    return render(request, "searches/sut_compare.html", context, status=422 if form.errors else 200)


def _comparison(group: str) -> Comparison | None:
    """Return the comparison of an address, or None where the address names none."""
    if not group:
        return None
    wanted = read_uuid(group)
    with reading_stored("comparison", hint="Compare the systems again."):
        found = comparison_of(wanted) if wanted else None
    if found is None:
        raise Http404("no such comparison")
    return found


def _initial(request: HttpRequest, comparison: Comparison | None, scenes: list[Any]) -> dict[str, Any]:
    if comparison is not None:
        job = comparison.columns[0].job
        return asked_before(job, scenes) | {"suts": [column.slug for column in comparison.columns]}
    return {
        "scene": request.GET.get("scene", ""),
        "mode": "choice",
        "suts": request.GET.getlist("sut"),
    }
