"""Manual, credits and the components page."""

from types import SimpleNamespace

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from searches.enums import FindingState, RunState
from searches.forms.components import SampleForm
from vlmlab.core.scenes.render.packs import attributions
from vlmlab.web.figures import Chart, Column, end_label, line_trace
from vlmlab.web.manual import manual_contents, manual_page


@require_safe
def credits_page(request: HttpRequest) -> HttpResponse:
    """Show whose work the scenes are made of."""
    return render(request, "searches/credits.html", {"credits": attributions()})


@require_safe
def manual(request: HttpRequest, page: str) -> HttpResponse:
    """Show a page of the manual."""
    folder = settings.BASE_DIR / "docs"
    found = manual_page(folder, page)
    if found is None:
        raise Http404("no such page of the manual")
    return render(request, "searches/manual.html", {"page": found, "contents": manual_contents(folder)})


@require_safe
def components(request: HttpRequest) -> HttpResponse:
    """Show one of each component, to build and to test against."""
    form = SampleForm(data=SampleForm.wrong_example())
    if not request.GET:
        messages.success(request, "Run 231 is paused.")
    context = {
        "form": form,
        "finding_states": [_with_label(FindingState, state) for state in FindingState],
        "run_states": [_with_label(RunState, state) for state in RunState],
        "chart": _sample_chart(),
        "concepts": ("cone", "far", "weather_wet"),
    }
    return render(request, "searches/components.html", context)


def _with_label(kind: type[FindingState] | type[RunState], state: str) -> SimpleNamespace:
    return SimpleNamespace(state=state, get_state_display=lambda: str(kind(state).label))


def _sample_chart() -> Chart:
    inferences = [0, 100, 200, 300, 400, 500, 600]
    first, second = [0, 1, 3, 4, 6, 8, 9], [0, 0, 1, 2, 2, 3, 4]
    return Chart(
        slug="sample-modes",
        title="Failure modes against inferences",
        note="sample numbers",
        spec={
            "data": [
                line_trace("sits", inferences, y=first, place=0, is_step=True),
                line_trace("random", inferences, y=second, place=1, is_step=True),
            ],
            "layout": {
                "showlegend": False,
                "margin": {"r": 70},
                "xaxis": {"title": {"text": "inferences"}},
                "yaxis": {"rangemode": "tozero"},
                "annotations": [end_label("sits", 600, y=9), end_label("random", 600, y=4)],
            },
        },
        sentence="After 600 inferences sits has found 9 failure modes and random 4.",
        columns=(Column("Inferences"), Column("sits"), Column("random")),
        rows=tuple(zip(inferences, first, second, strict=True)),
    )
