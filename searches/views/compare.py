"""The page that sets two runs side by side."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from searches.charts.convergence import Curve, convergence_chart
from searches.services.comparison import ComparePage, compare_page, find_pair, runs_to_compare
from vlmlab.web.asked import asked_number
from vlmlab.web.figures import Chart


@require_safe
def run_compare(request: HttpRequest) -> HttpResponse:
    """Compare the runs ``?a=`` and ``?b=``; without them, let the person choose."""
    chosen = [request.GET.get(name, "") for name in ("a", "b")]
    first, second = map(asked_number, chosen)
    context: dict[str, Any] = {"runs": list(runs_to_compare()), "a": chosen[0], "b": chosen[1]}
    if first is not None and second is not None:
        pair = find_pair(first, second)
        if pair is None:
            context["problem"] = (
                "Choose two different runs." if first == second else "One of these runs does not exist."
            )
        else:
            page = compare_page(*pair)
            context |= {"page": page, "chart": _chart(page)}
    return render(request, "searches/compare.html", context)


def _chart(page: ComparePage) -> Chart:
    curves = [
        Curve(f"Run {side.run.pk}, {side.config.algorithm}", curve.modes)
        for side, curve in zip((page.first, page.second), page.curves, strict=True)
    ]
    budget = max(page.first.config.inference_budget, page.second.config.inference_budget)
    slug = f"runs-{page.first.run.pk}-{page.second.run.pk}-failure-modes"
    return convergence_chart(curves, budget=budget, slug=slug, note="suspected, before fresh scenes")
