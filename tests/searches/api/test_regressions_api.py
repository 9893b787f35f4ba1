"""Regressions over the API: started once, read with their verdict, refused at the field."""

import pytest

from searches.models import Campaign
from searches.services.families import archive_family
from tests.factories import make_sut
from tests.searches.api.asking import Program
from tests.searches.gate_factory import make_family, make_regression
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db
FIXED = ("F" * 36 + "P" * 4, "F" * 6 + "P" * 34)
WORSE = ("P" * 30 + "F" * 10, "F" * 36 + "PPPI")


def test_a_regression_is_started_once_and_says_that_it_is_at_work():
    family, sut, program = make_family(2), make_sut("new"), Program()
    wish = {"family": family.slug, "sut": sut.slug, "scenes": 6, "seed": 7}

    answer = program.post("/regressions", wish)
    again = program.post("/regressions", wish)

    campaign = Campaign.objects.get(kind="regress")
    assert (program.last.status_code, answer["id"], again["id"]) == (201, campaign.pk, campaign.pk)
    assert (answer["family"], answer["baseline"], answer["candidate"]) == (family.slug, "old", "new")
    assert (answer["is_ended"], answer["verdict"], len(answer["modes"])) == (False, "", 2)
    assert campaign.created_by == program.person
    assert set(campaign.runs.values_list("run_seed", flat=True)) == {7}


def test_a_verdict_is_read_with_every_mode():
    campaign = make_regression(make_family(2), {0: FIXED, 1: WORSE})

    answer = Program(role=Role.REVIEWER).get(f"/regressions/{campaign.pk}")

    assert (answer["is_ended"], answer["verdict"]) == (True, "fail")
    assert answer["sentence"] == "New fails more often than before on 1 mode: Debris, near."
    fixed, worse = answer["modes"]
    assert (fixed["verdict"], worse["verdict"], worse["is_new"]) == ("fixed", "worse", True)
    assert (worse["n"], worse["old_fails"], worse["new_fails"]) == (40, 10, 37)
    assert (worse["old_only"], worse["new_only"]) == (3, 30)
    assert 0 < worse["p_holm"] < 1e-5


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"family": "none"}, "family"),
        ({"sut": "none"}, "sut"),
        ({"sut": "old"}, "candidate"),
        ({"baseline": "none"}, "baseline"),
        ({"scenes": 0}, "scenes"),
        ({"seed": -1}, "seed"),
        ({"family": "a\x00b"}, "family"),
        ({"goal": "no_worse"}, "goal"),
    ],
)
def test_what_is_refused_names_its_field_and_starts_nothing(changes, field):
    family, program = make_family(1), Program()
    make_sut("new")

    answer = program.post("/regressions", {"family": family.slug, "sut": "new"} | changes)

    assert (program.last.status_code, answer["field"]) == (422, field)
    assert not Campaign.objects.filter(kind="regress").exists()


def test_an_archived_family_and_a_number_that_is_none_are_refused():
    family, program = make_family(1), Program()
    make_sut("new")
    archive_family(family, is_archived=True, by=None)

    assert "is archived" in program.post("/regressions", {"family": family.slug, "sut": "new"})["message"]
    for number in (0, 10**6, 2**63, 10**30):
        program.get(f"/regressions/{number}")
        assert program.last.status_code == 404
