"""The page of a test case: pictures, numbers, relatives, its file, and making it minimal."""

import json
import re

import pytest
from django.test import Client

from searches.enums import JobKind
from searches.models import Blob, Job, ModalityCase
from searches.services.blobs import blob_path
from searches.services.modality_inputs import perturber_of, space_of
from tests.factories import make_sut
from tests.searches.modality_factory import (
    Ending,
    make_grid,
    make_minimal_case,
    make_modality_campaign,
    make_seed_dataset,
)
from vlmlab.web.roles import Role

from .people import browser_of
from .test_modality_runs import SEEN_BY, answers_to, html

pytestmark = pytest.mark.django_db

BROKEN = Ending(iou=0.2, severities={"fog": 0.4, "keyboard_typo": 0.2}, f2=0.1, f3=0.05)


def make_cases(n_pictures=1, *, ended=lambda place: BROKEN, regimes=("joint",), suts=None):
    campaign = make_modality_campaign(make_seed_dataset(n_pictures, has_blobs=True))
    make_grid(campaign, suts=suts or [make_sut(name="Pocket")], ended=ended, regimes=regimes)
    return list(ModalityCase.objects.order_by("pk"))


def test_only_readers_see_a_case_and_only_researchers_make_it_minimal():
    (case,) = make_cases()

    browsers = {"": Client()} | {role.value: browser_of(role) for role in Role}
    path = f"/modality/cases/{case.pk}/"
    seen = {who: one.get(path).status_code for who, one in browsers.items()}
    asked = {who: one.post(f"{path}minimize/").status_code for who, one in browsers.items()}

    assert seen == SEEN_BY
    assert asked == {who: 302 if who in ("", "admin", "researcher") else 403 for who in browsers}


def test_a_case_that_is_not_there_is_not_found():
    browser = browser_of(Role.RESEARCHER)

    assert browser.get("/modality/cases/999/").status_code == 404
    assert browser.get(f"/modality/cases/{'9' * 30}/").status_code == 404
    assert browser.post("/modality/cases/999/minimize/").status_code == 404


def test_both_pictures_stand_side_by_side_with_boxes_of_truth_and_answers():
    (case,) = make_cases()

    page = html(browser_of(Role.RESEARCHER), f"/modality/cases/{case.pk}/")

    assert page.count('class="bx truth"') >= 2
    assert 'class="bx clean" x="8.0"' in page  # the clean answer, dashed
    assert 'class="bx given" x="4.0"' in page  # the perturbed answer, dotted
    assert 'alt="Perturbed picture, 1 true box and 1 box of the perturbed answer"' in page
    assert "Pocket finds “cup” at IoU 0.900; with fog 0.40 and keyboard typo 0.20 it falls to 0.200." in page


def test_a_picture_whose_file_is_gone_is_told():
    (case,) = make_cases()
    Blob.objects.all().delete()

    page = html(browser_of(Role.RESEARCHER), f"/modality/cases/{case.pk}/")

    assert "The file of the seed image is not kept." in page
    assert "The file of the perturbed picture is not kept." in page


def test_a_perturbed_picture_that_is_not_kept_is_made_again():
    (case,) = make_cases()
    client = browser_of(Role.REVIEWER)
    run = case.modality_run
    again = perturber_of(run).perturbed(space_of(run).strategy(case.severities)).png
    ModalityCase.objects.update(image_sha256="f" * 64)

    page = html(client, f"/modality/cases/{case.pk}/")
    answer = client.get(f"/modality/cases/{case.pk}/picture.png")

    assert f'src="/modality/cases/{case.pk}/picture.png"' in page
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
    assert answer.content == again


def test_a_picture_that_cannot_be_made_again_says_why():
    (case,) = make_cases()
    blob_path(case.modality_run.picture.image_sha256).unlink()

    answer = browser_of(Role.REVIEWER).get(f"/modality/cases/{case.pk}/picture.png")

    assert answer.status_code == 404
    assert "is not stored any more" in answer.content.decode()


def test_a_case_takes_the_same_queries_for_any_number_of_relatives(django_assert_max_num_queries):
    counts = []
    for regimes, suts in ((("joint",), 1), (("image", "text", "joint"), 3)):
        ModalityCase.objects.all().delete()
        case = make_cases(regimes=regimes, suts=[make_sut() for _ in range(suts)])[0]
        client = browser_of(Role.RESEARCHER)
        with django_assert_max_num_queries(25) as taken:
            client.get(f"/modality/cases/{case.pk}/")
        counts.append(len(taken))

    assert counts[0] == counts[1]


def test_previous_and_next_stay_within_the_filter_and_its_order():
    endings = [Ending(iou=0.3), Ending(iou=0.8), Ending(iou=0.1), Ending(iou=0.2)]
    cases = make_cases(4, ended=lambda place: endings[place.number])
    query = "outcome=below&sort=iou"

    page = html(browser_of(Role.RESEARCHER), f"/modality/cases/{cases[3].pk}/?{query}")

    escaped = query.replace("&", "&amp;")
    assert f'rel="prev" href="/modality/cases/{cases[2].pk}/?{escaped}"' in page
    assert f'rel="next" href="/modality/cases/{cases[0].pk}/?{escaped}"' in page
    assert "Case 2 of 3 that match the filter." in page


def test_a_case_stands_any_query():
    (case,) = make_cases()

    assert answers_to(f"/modality/cases/{case.pk}/?", "sort", "sut", "outcome", "operator", "as") == {200}


def test_a_case_is_sent_as_a_file():
    (case,) = make_cases()

    answer = browser_of(Role.RESEARCHER).get(f"/modality/cases/{case.pk}/?as=json")

    assert answer.headers["Content-Disposition"] == f'attachment; filename="modality-case-{case.pk}.json"'
    assert json.loads(answer.content)["strategy"] == {"fog": 0.4, "keyboard_typo": 0.2}


def test_what_a_system_or_a_label_says_is_shown_as_text():
    (case,) = make_cases()
    ModalityCase.objects.filter(pk=case.pk).update(raw_text="<script>alert(1)</script>", prompt="<b>find</b>")

    page = html(browser_of(Role.RESEARCHER), f"/modality/cases/{case.pk}/")

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<b>find</b>" not in page


def test_a_researcher_asks_for_the_minimal_perturbation_once():
    (case,) = make_cases()
    client = browser_of(Role.RESEARCHER)
    path = f"/modality/cases/{case.pk}/"

    first = client.post(f"{path}minimize/")
    client.post(f"{path}minimize/")
    page = html(client, path)

    (job,) = Job.objects.filter(kind=JobKind.MINIMIZE_CASE)
    assert (first.status_code, first.headers["Location"]) == (302, f"{path}#minimal")
    assert f'hx-get="/jobs/{job.pk}/"' in page
    assert "Find the minimal perturbation" not in page


def test_a_case_that_holds_cannot_be_made_minimal_and_says_so():
    (case,) = make_cases(ended=lambda place: Ending(iou=0.8))
    client = browser_of(Role.RESEARCHER)

    page = html(client, f"/modality/cases/{case.pk}/")
    refused = client.post(f"/modality/cases/{case.pk}/minimize/", follow=True).content.decode()

    assert "Only boxes below the threshold on an input that is close enough can be made minimal." in page
    assert "Only a failure that a run returned can be made minimal." in refused


def test_the_minimal_case_stands_beside_the_returned_one():
    (case,) = make_cases()
    minimal = make_minimal_case(case.modality_run, severities={"fog": 0.3}, text_budget=0.0)
    client = browser_of(Role.RESEARCHER)

    returned_page = html(client, f"/modality/cases/{case.pk}/")
    minimal_page = html(client, f"/modality/cases/{minimal.pk}/")

    assert f'href="/modality/cases/{minimal.pk}/"' in returned_page
    assert f'href="/modality/cases/{case.pk}/"' in minimal_page
    for page in (returned_page, minimal_page):
        assert re.search(r'<tr role="row" class="removed">.{0,120}keyboard typo', page)
    assert "Minimal case" in minimal_page


def test_a_job_at_work_says_how_many_questions_it_asked_and_asks_at_most():
    (case,) = make_cases()
    client = browser_of(Role.RESEARCHER)
    client.post(f"/modality/cases/{case.pk}/minimize/")
    job = Job.objects.get(kind=JobKind.MINIMIZE_CASE)
    Job.objects.filter(pk=job.pk).update(state="running", result={"n_answered": 4, "n_calls": 200})

    part = client.get(f"/jobs/{job.pk}/", headers={"HX-Request": "true"}).content.decode()

    assert "4 questions asked, at most 200" in part
    assert "<progress" not in part  # most are done long before


def test_a_finished_job_leads_to_the_minimal_case():
    (case,) = make_cases()
    client = browser_of(Role.RESEARCHER)
    client.post(f"/modality/cases/{case.pk}/minimize/")
    minimal = make_minimal_case(case.modality_run)
    job = Job.objects.get(kind=JobKind.MINIMIZE_CASE)
    Job.objects.filter(pk=job.pk).update(state="done", result={"case": minimal.pk, "n_answered": 12})

    answer = client.get(f"/jobs/{job.pk}/", headers={"HX-Request": "true"})
    part = answer.content.decode()

    assert answer.headers["HX-Refresh"] == "true"  # the case is shown beside its minimal one at once
    assert "12 questions asked." in part
    assert f'href="/modality/cases/{minimal.pk}/"' in part


def test_a_failed_job_says_why_and_can_be_started_again():
    (case,) = make_cases()
    client = browser_of(Role.RESEARCHER)
    path = f"/modality/cases/{case.pk}/"
    client.post(f"{path}minimize/")
    Job.objects.update(state="failed", error="The system is away.", hint="Look at its page.")

    page = html(client, path)
    client.post(f"{path}minimize/")

    assert "The system is away." in page
    assert "Try again" in page
    assert Job.objects.filter(kind=JobKind.MINIMIZE_CASE, state="queued").count() == 1
