"""A run and its system warn when a provider answered with another model than the one that was asked for."""

import pytest
from django.db import connection

from searches.models import Sample, SearchRun, SutVersion
from searches.services.served_models import other_model_warning
from tests.factories import make_finished_run, make_sut
from tests.searches.pages.people import browser_of
from vlmlab.core.suts.kinds import parse_params
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db
WORDS = "Asked for m-1, the provider answered with m-2."


def make_remote_run(*, model: str = "m-1", served: str = "m-2") -> SearchRun:
    params = parse_params("openai_chat", {"model": model}).model_dump(mode="json")
    sut = make_sut("remote", kind="openai_chat", queue="api", params=params, fingerprint="f1")
    SutVersion.objects.create(sut=sut, fingerprint="f1", params=params)
    run = make_finished_run(sut)
    SearchRun.objects.filter(pk=run.pk).update(checkpoint={"fingerprint": "f1"})
    run.samples.update(served_model=served)
    return run


def warning_of(run: SearchRun) -> str:
    return other_model_warning(run.sut, [run.pk])


def test_another_model_is_told_on_the_page_of_the_run_and_of_the_system():
    run = make_remote_run()
    browser = browser_of(Role.REVIEWER)

    pages = [browser.get(path).content.decode() for path in (f"/runs/{run.pk}/", "/suts/remote/")]

    assert [WORDS in page for page in pages] == [True, True]


@pytest.mark.parametrize("served", ["", "m-1", "M-1", "openai/m-1", "m-1-2026-11-01"])
def test_the_same_model_in_another_spelling_is_none(served):
    assert warning_of(make_remote_run(served=served)) == ""


def test_one_answer_of_another_model_among_many_is_enough():
    run = make_remote_run(served="m-1")
    Sample.objects.filter(pk=run.samples.last().pk).update(served_model="a-3")

    assert "answered with a-3." in warning_of(run)


def test_a_run_is_compared_with_the_model_that_it_was_made_with():
    run = make_remote_run(served="m-1")
    run.sut.params["model"] = "m-9"
    run.sut.save()

    assert warning_of(run) == ""


def test_a_version_that_is_not_known_is_taken_for_the_registration():
    run = make_remote_run()
    SutVersion.objects.all().delete()

    assert warning_of(run).startswith(WORDS)


def test_a_system_on_this_machine_is_not_looked_at(django_assert_num_queries):
    run = make_finished_run(make_sut("local"))
    sut = run.sut

    with django_assert_num_queries(0):
        assert other_model_warning(sut, [run.pk]) == ""


def test_the_question_is_one_query_that_reads_no_table_of_samples(django_assert_num_queries):
    run = make_remote_run()
    sut = run.sut

    with django_assert_num_queries(1) as seen:
        assert other_model_warning(sut, [run.pk])

    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("EXPLAIN QUERY PLAN " + seen.captured_queries[0]["sql"])
            plan = [row[3] for row in cursor.fetchall()]
        looks = [step for step in plan if "searches_sa_run_id_8b7ddc_idx (run_id=?" in step]
        assert (len(looks), "SCAN" in " ".join(plan)) == (2, False)
