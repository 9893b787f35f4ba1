"""``manage.py domain``: what it prints, what it stores, how it ends."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from searches.models import DomainRecord, DomainVersion
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.domain_files import check_domain_file, example_text

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> tuple[int, str, str]:
    """Return exit code, what was printed, and the error."""
    out = StringIO()
    try:
        call_command("domain", *arguments, stdout=out)
    except CommandError as error:
        return error.returncode, out.getvalue(), str(error)
    return 0, out.getvalue(), ""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "warehouse.yaml"
    path.write_text(example_text())
    return path


def test_a_good_file_is_counted(file):
    code, printed, _ = run("check", str(file))

    assert (code, printed.split("\n")[:5]) == (
        0,
        [
            "          11 valid sets of 1",
            "          95 valid sets of 2",
            "         389 valid sets of 3",
            "         996 valid sets of 4",
            "The file can be added.",
        ],
    )
    assert DomainRecord.objects.count() == 0


def test_every_problem_of_a_bad_file_is_a_line(file):
    file.write_text(example_text().replace("action: hazard", "action: hazzard"))

    code, printed, error = run("check", str(file))
    as_json = json.loads(run("check", str(file), "--json")[1])

    assert (code, error) == (1, "13 problems must be corrected.")
    assert printed.split("\n")[0] == (
        "line 209, rule 1 “moving_no_vest”, action: “hazzard” is no answer of this domain. "
        "Did you mean hazard?"
    )
    assert (len(printed.strip().split("\n")), len(as_json["problems"])) == (13, 13)


def test_a_domain_is_added_changed_listed_and_exported(file):
    added = run("add", str(file))
    file.write_text(example_text().replace("title: Warehouse", "title: Storehouse"))
    saved = run("save", str(file), "--note", "New name")

    versions = list(DomainVersion.objects.values_list("version", flat=True))
    assert added == (0, f"Warehouse is stored as warehouse@{versions[1]}.\n", "")
    assert saved == (0, f"Version 2 is saved as warehouse@{versions[0]}.\n", "")
    assert f"warehouse                {versions[0]}  Storehouse: 15 concepts, 21 rules\n" in run("list")[1]
    assert [one["slug"] for one in json.loads(run("list", "--json")[1])] == ["driving", "indoor", "warehouse"]
    exported = run("export", "warehouse", "--version", versions[1], "--format", "json")[1]
    assert check_domain_file(exported).domain.version == versions[1]
    assert run("versions", "warehouse")[1] == (
        f"   2  {versions[0]}  0 searches, current  New name\n"
        f"   1  {versions[1]}  0 searches  From warehouse.yaml\n"
    )


def test_a_refused_file_stores_nothing(file):
    run("add", str(file))

    code, printed, error = run("add", str(file))

    assert (code, error, DomainVersion.objects.count()) == (1, "Nothing was stored.", 1)
    assert printed.startswith("slug: There is a domain “warehouse” already.")


def test_built_in_domains_and_the_example_are_exported():
    assert check_domain_file(run("export", "driving")[1]).domain.version == load_domain("driving").version
    assert run("export", "example")[1] == example_text()
    assert run("export", "sailing")[0] == 1


def test_a_file_that_is_not_there_is_a_wrong_argument(tmp_path):
    assert run("check", str(tmp_path / "none.yaml"))[0] == 2
