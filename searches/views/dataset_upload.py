"""The page that uploads photographs as a dataset, and says what of them was refused."""

from typing import cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from searches.forms.dataset_upload import DatasetUploadForm
from searches.models import Dataset, User
from searches.services.dataset_imports import WEB_LIMITS, import_zip
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import asked_slug


@require_http_methods(["GET", "HEAD", "POST"])
def dataset_upload(request: HttpRequest) -> HttpResponse:
    """Take a ZIP archive; ``?done=`` shows what became of one."""
    done = Dataset.objects.filter(slug=asked_slug(request.GET.get("done", ""))).first()
    if done is not None and "upload" in done.recipe:
        return render(request, "searches/dataset_uploaded.html", {"dataset": done})
    form = DatasetUploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        archive = form.cleaned_data["archive"]
        try:
            report = import_zip(
                archive.file, form.wish(), name=archive.name, by=cast(User, request.user), limits=WEB_LIMITS
            )
        except VlmLabError as error:
            form.add_core_error(error)
        else:
            return redirect(f"{reverse('dataset_upload')}?done={report.dataset.slug}")
    context = {"form": form}
    return render(request, "searches/dataset_upload.html", context, status=422 if form.errors else 200)
