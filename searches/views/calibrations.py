"""Pages of calibrations: what the probe of a system found, and starting another one."""

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from searches import launch
from searches.charts.fits import fits_chart
from searches.models import Calibration, SutRecord, User
from searches.services.calibration_pages import calibration_page, calibrations_of
from searches.services.calibrations import calibration_of, find_calibration_job, use_convention
from searches.views.jobs import job_context
from vlmlab.core.errors import VlmLabError

PAGE_SIZE = 25


@require_POST
def sut_calibrate(request: HttpRequest, slug: str) -> HttpResponse:
    """Start a calibration; a second click finds the one that waits."""
    sut = get_object_or_404(SutRecord, slug=slug)
    try:
        job = launch.start_calibration(sut, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(sut)
    return redirect(f"{_list_url(sut)}?job={job.pk}")


@require_safe
def sut_calibrations(request: HttpRequest, slug: str) -> HttpResponse:
    """Show every calibration of a system; ``?job=`` shows one at work, and leads on once it is done."""
    sut = get_object_or_404(SutRecord, slug=slug)
    job = find_calibration_job(request.GET.get("job", ""), sut)
    if job is not None:
        done = Calibration.objects.select_related("sut").filter(job=job).first()
        if done is not None:
            return redirect(done)
    page = Paginator(calibrations_of(sut), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"sut": sut, "page_obj": page, "state": calibration_of(sut)}
    context |= job_context(job) if job else {}
    return render(request, "searches/sut_calibrations.html", context)


@require_safe
def sut_calibration(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show what one calibration found: verdicts, conventions, the pictures."""
    calibration = _calibration(slug, pk)
    page = calibration_page(calibration)
    context = {"sut": calibration.sut, "page": page, "chart": fits_chart(page.fits)}
    return render(request, "searches/sut_calibration.html", context)


@require_POST
def sut_use_convention(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Declare the convention that fitted best, because a person says so."""
    calibration = _calibration(slug, pk)
    try:
        name = use_convention(calibration, request.POST.get("convention", ""), by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(calibration)
    messages.success(request, f"{calibration.sut.name} now declares {name}. Calibrate it again to check.")
    return redirect(_list_url(calibration.sut))


def _calibration(slug: str, pk: int) -> Calibration:
    rows = Calibration.objects.select_related("sut", "created_by")
    return get_object_or_404(rows, pk=pk, sut__slug=slug)


def _list_url(sut: SutRecord) -> str:
    return reverse("sut_calibrations", args=[sut.slug])
