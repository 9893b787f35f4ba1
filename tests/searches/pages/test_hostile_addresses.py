"""Nothing that somebody writes into an address or a form breaks a page."""

from urllib.parse import quote

import pytest

from searches.models import SearchRun
from tests.factories import make_finished_run, make_sut
from vlmlab.web.roles import Role

from .people import browser_of
from .test_run_create import errors, start

pytestmark = pytest.mark.django_db

HOSTILE = ["abc", "-1", "9" * 40, str(2**63), "²", "٣", "\x00", "1.5", "nan", "../..", "<script>", "'\"--"]
QUERIES = {
    "/runs/": ("page", "state", "sut", "algorithm", "campaign"),
    "/runs/new/": ("preset", "sut"),
    "/runs/estimate/": ("suts", "inference_budget", "run_seed", "required_concepts", "image_size", "domain"),
    "/runs/compare/": ("a", "b"),
    "/findings/": ("page", "q", "sut", "domain", "state", "sort", "size", "run", "minimal"),
    "/suts/": ("page", "q", "kind", "is_enabled"),
    "/operators/": ("dataset", "order", "seed", "family", "upload"),
    "/operators/on-pictures/fog/": ("dataset", "order", "seed", "upload"),
    "/operators/word-tables/": ("page",),
    "/audit/": ("page",),
    "/people/": ("page",),
}


@pytest.mark.parametrize(("path", "names"), QUERIES.items())
def test_lists_and_forms_stand_any_query(path, names):
    make_sut()
    browser = browser_of(Role.ADMIN)

    answers = {
        (name, value): browser.get(f"{path}?{name}={quote(value)}&a=1&b=1").status_code
        for name in names
        for value in HOSTILE
    }

    assert {asked: code for asked, code in answers.items() if code != 200} == {}


@pytest.mark.parametrize(
    ("path", "names"),
    {
        "/runs/{pk}/": ("page",),
        "/runs/{pk}/progress/": ("modes",),
        "/runs/{pk}/log/": ("before",),
        "/runs/{pk}/sets/": ("after", "status", "expected", "size"),
        "/runs/{pk}/sets/{trial}/": ("sample", "job", "show"),
    }.items(),
)
def test_pages_of_a_run_stand_any_query(path, names):
    run = make_finished_run()
    trial = run.trials.first()
    browser = browser_of(Role.RESEARCHER)

    answers = {
        (name, value): browser.get(
            f"{path.format(pk=run.pk, trial=trial.pk)}?{name}={quote(value)}"
        ).status_code
        for name in names
        for value in HOSTILE
    }

    assert {asked: code for asked, code in answers.items() if code not in (200, 286)} == {}


def test_an_export_stands_a_run_number_that_no_database_holds():
    browser = browser_of(Role.RESEARCHER)

    for fmt in ("csv", "json"):
        answer = browser.get(f"/findings/export.{fmt}?run={'9' * 40}")
        assert (answer.status_code, bool(b"".join(answer.streaming_content))) == (200, True)


@pytest.mark.parametrize("number", ["9" * 40, str(2**63), "²", "٣", "-1", "\x00", ""])
def test_a_system_number_that_names_no_system_is_refused_at_its_field(number):
    answer = start(make_sut(), suts=[number])

    assert (answer.status_code, list(errors(answer))) == (422, ["suts"])
    assert not SearchRun.objects.exists()


@pytest.mark.parametrize("number", ["9" * 40, "²", "\x00"])
def test_a_source_that_does_not_exist_is_no_source(number):
    start(make_sut(), cloned_from=number)

    assert SearchRun.objects.get().cloned_from is None
