"""Domain files over the API: checking, storing, versions."""

import pytest

from searches.models import AuditEntry, DomainVersion
from tests.searches.api.asking import Program
from vlmlab.core.scenes.catalogue import built_in_content, load_domain
from vlmlab.core.scenes.domain_files import example_text
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def program():
    return Program()


def test_a_file_is_checked_without_being_stored(program):
    good = program.post("/domain-files/check", {"text": example_text()})
    bad = program.post("/domain-files/check", {"text": "slug: a\nconcepts: []\n"})

    assert (good["is_valid"], good["problems"]) == (True, [])
    assert good["valid_sets"] == {"1": 11, "2": 95, "3": 389, "4": 996}
    assert good["decided"]["spill_cone"] == 65
    assert (bad["is_valid"], bad["version"]) == (False, "")
    assert bad["problems"][0] == {
        "place": "actions",
        "message": "“actions” is missing.",
        "hint": "Write it.",
        "is_warning": False,
    }
    assert DomainVersion.objects.count() == 0


def test_a_domain_is_stored_and_listed_with_its_version(program):
    added = program.post("/domain-files", {"text": example_text(), "note": "From  a program"})

    assert program.status == 201
    assert (added["slug"], added["number"], added["note"], added["is_current"]) == (
        "warehouse",
        1,
        "From a program",
        True,
    )
    assert program.get("/domains/warehouse/versions") == [added]
    assert program.get("/domains")[-1]["version"] == added["version"]
    content = program.get(f"/domains/warehouse/versions/{added['version']}")["content"]
    assert content["title"] == "Warehouse"
    assert AuditEntry.objects.get(verb="added").actor == program.person


def test_a_wrong_file_is_refused_with_the_first_problem(program):
    problem = program.post("/domain-files", {"text": "slug: a"})

    assert (program.status, problem["field"]) == (422, "text")
    assert problem["message"] == "actions: “actions” is missing."
    assert problem["hint"] == "Write it. 3 more problems were found."


def test_a_new_version_over_somebody_elses_is_a_conflict(program):
    first = program.post("/domain-files", {"text": example_text()})["version"]
    second = example_text().replace("max_size: 4", "max_size: 3")
    saved = program.post("/domains/warehouse/versions", {"text": second, "base": first})

    third = example_text().replace("max_size: 4", "max_size: 2")
    program.post("/domains/warehouse/versions", {"text": third, "base": first})

    assert (saved["number"], program.status, DomainVersion.objects.count()) == (2, 409, 2)


def test_a_built_in_domain_has_its_own_version(program):
    version = load_domain("driving").version

    assert [one["number"] for one in program.get("/domains/driving/versions")] == [0]
    assert program.get(f"/domains/driving/versions/{version}")["content"] == built_in_content("driving")


@pytest.mark.parametrize("path", ["/domains/sailing/versions", "/domains/driving/versions/000000000000"])
def test_what_does_not_exist_is_not_found(program, path):
    program.get(path)

    assert program.status == 404


def test_a_reviewer_may_read_versions_and_store_nothing():
    program = Program(role=Role.REVIEWER)

    program.get("/domains/driving/versions")
    assert program.status == 200
    for path in ("/domain-files", "/domain-files/check", "/domains/driving/versions"):
        program.post(path, {"text": example_text()})
        assert program.status == 403
