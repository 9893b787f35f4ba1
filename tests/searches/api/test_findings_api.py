"""Findings and exports over the API: the same rows and the same files as the pages."""

import json

import pytest

from searches.models import Finding
from searches.services import exports
from tests.factories import make_campaign, make_finding, make_finished_run, make_run, make_sut, make_trial
from tests.searches.api.asking import Program
from tests.searches.follow_up_factory import make_confirmation, make_suspects
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def program():
    return Program(role=Role.REVIEWER)


def text_of(response):
    return b"".join(response.streaming_content).decode()


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_asks_the_database_the_same_whatever_its_length(program, count, django_assert_num_queries):
    for _ in range(count):
        make_finding(make_trial(make_run()))

    with django_assert_num_queries(2):  # token, findings
        answer = program.get("/findings")

    assert len(answer["items"]) == count


def test_a_full_set_has_a_rate_with_its_interval_and_a_curtailed_one_has_none(program):
    run = make_finished_run()

    curtailed, full = program.get(f"/findings?run={run.pk}")["items"]

    assert (full["fails"], full["samples"], full["rate"]["value"]) == (4, 5, 0.8)
    assert (round(full["rate"]["low"], 3), round(full["rate"]["high"], 3)) == (0.284, 0.995)
    assert curtailed["rate"] is None


def test_sets_of_a_search_that_stops_early_have_no_rate(program):
    run = make_finished_run(campaign=make_campaign(config={"algorithm": "sits"}))

    assert {one["rate"] for one in program.get(f"/findings?run={run.pk}")["items"]} == {None}


def test_findings_can_be_narrowed(program):
    run = make_finished_run(make_sut("toy"))
    make_finding(make_trial(make_run(), ("child", "fog")), is_minimal_in_run=False, state="confirmed")

    def found(query):
        return [one["concepts"] for one in program.get(f"/findings?{query}")["items"]]

    assert found("state=confirmed") == [["child", "fog"]]
    assert found("sut=toy") == found(f"run={run.pk}") == found("is_minimal=true")
    assert found("sut=toy") == found(f"campaign={run.campaign_id}") == [["cone", "fog"], ["cone", "far"]]
    assert found("q=cone+%2B+far") == [["cone", "far"]]


def test_one_finding_names_its_set_and_its_page(program):
    make_finished_run()
    finding = Finding.objects.earliest("pk")

    answer = program.get(f"/findings/{finding.pk}")

    assert (answer["set"], answer["page"]) == (finding.trial_id, f"/findings/{finding.pk}/")
    assert (answer["words"], answer["expected"], answer["direction"]) == (
        "Cone, far",
        "stop",
        "under-reaction",
    )
    assert len(answer["pictures"]) == 4


def test_an_unknown_finding_is_told(program):
    problem = program.get("/findings/7")

    assert (program.status, problem["message"]) == (404, "There is no finding 7.")


@pytest.mark.parametrize(("what", "fmt"), sorted(exports.RUN_EXPORTS))
def test_an_exported_run_is_the_file_of_its_page(program, what, fmt):
    run = make_finished_run()

    response = program.get(f"/runs/{run.pk}/export/{what}.{fmt}")

    assert response["Content-Disposition"].startswith(f'attachment; filename="vlmlab-run-{run.pk}-{what}-')
    assert response["Content-Type"] == f"{exports.MEDIA_TYPES[fmt]}; charset=utf-8"
    assert text_of(response) == "".join(exports.RUN_EXPORTS[what, fmt](run))


@pytest.mark.parametrize(
    ("path", "status"), [("run.csv", 404), ("run.xml", 422), ("weights.json", 422), ("../run.json", 404)]
)
def test_a_file_that_there_is_not_is_told(program, path, status):
    run = make_finished_run()

    problem = program.get(f"/runs/{run.pk}/export/{path}")

    assert program.status == status
    assert problem["message"]


def test_exported_findings_are_those_of_the_filters(program):
    make_finished_run(make_sut("toy"))
    make_finished_run(make_sut("other"))

    rows = json.loads(text_of(program.get("/findings/export.json?sut=toy")))
    table = text_of(program.get("/findings/export.csv?sut=toy")).splitlines()

    assert {row["sut__slug"] for row in rows} == {"toy"}
    assert len(rows) == len(table) - 1 == 2


def test_a_finding_says_what_fresh_scenes_said_and_gives_the_biased_rate_no_more(program):
    confirmed = make_confirmation().items.first().finding

    sent = program.get(f"/findings/{confirmed.pk}")

    assert (sent["state"], sent["rate"], sent["minimality"], sent["triage"]) == (
        "confirmed",
        None,
        "",
        "open",
    )
    fresh = {name: sent["fresh"][name] for name in ("fails", "samples", "invalid", "rate", "family_size")}
    assert fresh == {"fails": 9, "samples": 10, "invalid": 1, "rate": 0.9, "family_size": 3}


def test_findings_can_be_narrowed_by_status_tag_and_minimality(program):
    first, second, third = make_suspects()
    Finding.objects.filter(pk=first.pk).update(triage="accepted", tags=["night"])
    Finding.objects.filter(pk=second.pk).update(minimality="minimal")

    def ids(query: str) -> list[int]:
        return [one["id"] for one in program.get(f"/findings?{query}")["items"]]

    assert ids("triage=accepted") == [first.pk]
    assert ids("tag=night") == [first.pk]
    assert ids("minimality=minimal") == [second.pk]
    assert ids("triage=open") == [third.pk, second.pk]
