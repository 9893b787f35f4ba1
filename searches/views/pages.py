"""Manual, credits and the components page."""

from types import SimpleNamespace

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from searches.charts.components import sample_chart
from searches.enums import FindingState, RunState
from searches.forms.components import SampleForm
from searches.models import Dataset
from vlmlab.core.scenes.render.credits import ATTRIBUTION_FILE, attributions
from vlmlab.web.manual import manual_contents, manual_page

SOFTWARE = (
    {"name": "htmx", "licence": "0BSD", "use": "parts that refresh.", "address": "https://htmx.org/"},
    {"name": "Plotly.js", "licence": "MIT", "use": "charts.", "address": "https://plotly.com/javascript/"},
    {
        "name": "Aileron, with Pillow",
        "licence": "CC0 1.0",
        "use": "lettering on things in scenes.",
        "address": "https://pillow.readthedocs.io/",
    },
)


@require_safe
def credits_page(request: HttpRequest) -> HttpResponse:
    """Show whose work the lab is made of, or send the list of shapes as a table."""
    if request.GET.get("as") == "tsv":
        response = HttpResponse(ATTRIBUTION_FILE.read_bytes(), content_type="text/tab-separated-values")
        response["Content-Disposition"] = 'attachment; filename="ATTRIBUTION.tsv"'
        return response
    samples = Dataset.objects.filter(is_sample=True).order_by("title")
    context = {"credits": attributions(), "samples": samples, "software": SOFTWARE}
    return render(request, "searches/credits.html", context)


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
        "chart": sample_chart(),
        "concepts": ("cone", "far", "weather_wet"),
    }
    return render(request, "searches/components.html", context)


def _with_label(kind: type[FindingState] | type[RunState], state: str) -> SimpleNamespace:
    return SimpleNamespace(state=state, get_state_display=lambda: str(kind(state).label))
