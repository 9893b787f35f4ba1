"""Asking one system about one picture, and what it answered."""

from collections.abc import Sequence
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.datastructures import MultiValueDict
from django.views.decorators.http import require_http_methods

from searches import launch
from searches.enums import JobKind, Queue
from searches.forms.errors import add_lab_error
from searches.forms.sut_try import QuestionForm, TrySutForm
from searches.models import Job, SutRecord, User
from searches.services.trying import TryRequest, drawn_scenes, find_try, store_upload, try_params
from searches.views.jobs import job_context
from vlmlab.core.errors import ImageError, VlmLabError
from vlmlab.web.evidence import set_words


@require_http_methods(["GET", "HEAD", "POST"])
def sut_try(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask a system about one picture; ``?job=`` shows the answer, ``?scene=`` chooses a scene."""
    sut = get_object_or_404(SutRecord, slug=slug)
    person = cast(User, request.user)
    scenes = drawn_scenes(person)
    tried = find_try(request.GET.get("job", ""), sut)
    form = TrySutForm(
        request.POST or None,
        request.FILES or None,
        scenes=scene_choices(scenes),
        initial=asked_before(tried, scenes)
        if tried
        else {"scene": request.GET.get("scene", ""), "mode": "choice"},
    )
    if request.method == "POST" and form.is_valid():
        try:
            params = try_params(sut, wish_of(form), by=person)
            job = launch.start_job(JobKind.TRY_SUT, params, by=person, queue=Queue(sut.queue))
        except ImageError as error:
            form.add_error("picture", str(error))
        except VlmLabError as error:
            add_lab_error(form, error)
        else:
            return redirect(f"{request.path}?job={job.pk}#answer")
    if request.method == "POST":
        keep_upload(form)
    context = {"form": form, "sut": sut, "scenes": scenes} | (job_context(tried) if tried else {})
    return render(request, "searches/sut_try.html", context, status=422 if form.errors else 200)


def wish_of(form: QuestionForm) -> TryRequest:
    """Return what a valid form asks."""
    cleaned = form.cleaned_data
    upload = cleaned["picture"]
    return TryRequest(
        upload=upload.read() if upload else None,
        scene_id=cleaned["scene"],
        same=cleaned["same"],
        mode=cleaned["mode"],
        question=cleaned["question"],
        own_words=cleaned["prompt"].strip(),
        targets=" ".join(cleaned["targets"].split()),
    )


def scene_choices(scenes: Sequence[Job]) -> list[tuple[str, str]]:
    """Return the scenes of a person as choices: id, words."""
    return [(str(job.pk), _scene_words(job)) for job in scenes]


def asked_before(job: Job, scenes: Sequence[Job]) -> dict[str, Any]:
    """Return the form as it was sent, so that the same picture can be asked something else."""
    picture, mode = job.params["image_sha256"], job.params["mode"]
    scene = next((str(one.pk) for one in scenes if one.result["image_sha256"] == picture), "")
    return {
        "scene": scene,
        "same": "" if scene else picture,
        "mode": mode,
        "question": job.params.get("question", ""),
        "prompt": job.params["prompt"] if mode == "text" else "",
        "targets": job.params.get("targets", ""),
    }


def keep_upload(form: QuestionForm) -> None:
    """Store the picture of a form that has errors elsewhere, so that nobody must choose it again."""
    upload = form.files.get("picture")
    if not form.errors or upload is None or "picture" in form.errors:
        return
    upload.seek(0)
    try:
        kept = store_upload(upload.read())
    except VlmLabError as error:
        form.add_error("picture", str(error))
        return
    form.data = MultiValueDict({**dict(cast(QueryDict, form.data).lists()), "same": [kept]})


def _scene_words(job: Job) -> str:
    words = set_words(job.result["concepts"], job.params["domain"])
    return f"{words}, layout {job.params['seed']}"
