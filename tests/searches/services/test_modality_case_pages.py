"""What the page and the file of a case say: criteria, relatives, beside the minimal case, the command."""

import json

import pytest

from searches.models import ModalityCase
from searches.services.modality_case_files import case_record, case_text, repeat_command
from searches.services.modality_case_pages import case_page, compared_bars, find_case
from tests.factories import make_sut
from tests.searches.modality_factory import (
    Ending,
    make_grid,
    make_minimal_case,
    make_modality_campaign,
    make_seed_dataset,
)

pytestmark = pytest.mark.django_db

SEVERITIES = {"fog": 0.4, "keyboard_typo": 0.2}


def make_case(ending, *, suts=None, regimes=("image", "joint")):
    campaign = make_modality_campaign(make_seed_dataset(1, has_blobs=True))
    make_grid(campaign, suts=suts or [make_sut("pocket")], ended=lambda place: ending, regimes=regimes)
    return find_case(ModalityCase.objects.filter(modality_run__regime=regimes[-1]).first().pk)


def test_criteria_are_told_for_both_readings():
    page = case_page(make_case(Ending(answer="malformed", lenient_answer="boxes", lenient_iou=0.8)))

    assert [(one.name, one.strict, one.lenient) for one in page.criteria] == [
        ("C1", False, False),
        ("C2", False, False),
        ("C3", True, False),
    ]


def test_numbers_outside_their_limits_stand_out():
    case = make_case(Ending(iou=0.2, f2=0.3, f3=0.1, is_faithful=False))

    assert [one.name for one in case_page(case).numbers if one.is_bad] == ["IoU, perturbed", "f2"]


def test_paired_runs_are_those_on_the_same_seed_image_and_label():
    case = make_case(Ending(iou=0.2), suts=[make_sut("a", name="A"), make_sut("b", name="B")])

    page = case_page(case)

    told = [(line.row.sut.name, line.row.regime, line.is_this) for line in page.paired]
    own = (case.modality_run.sut.name, "joint", True)
    assert [one[:2] for one in told] == [("A", "image"), ("A", "joint"), ("B", "image"), ("B", "joint")]
    assert [one for one in told if one[2]] == [own]


def test_a_minimal_case_is_told_beside_the_returned_one():
    case = make_case(Ending(iou=0.2, severities=SEVERITIES))
    minimal = make_minimal_case(case.modality_run, severities={"fog": 0.3})

    returned_page, minimal_page = case_page(case), case_page(find_case(minimal.pk))

    expected = [("fog", 0.4, 0.3, False), ("keyboard_typo", 0.2, 0.0, True)]
    for page in (returned_page, minimal_page):
        told = [(bar.operator, bar.before, bar.severity, bar.is_removed) for bar in compared_bars(page)]
        assert told == expected
    assert (returned_page.other, minimal_page.other) == (minimal, case)
    assert [bar.before for bar in returned_page.bars] == [None, None]


def test_boxes_are_told_in_numbers_too():
    page = case_page(make_case(Ending(iou=0.2)))

    assert [(line.whose, line.corners) for line in page.box_lines] == [
        ("truth", (8.0, 6.0, 24.0, 18.0)),
        ("clean answer", (8.0, 6.0, 24.0, 18.0)),
        ("moved truth", (8.0, 6.0, 24.0, 18.0)),
        ("perturbed answer", (4.0, 3.0, 12.0, 9.0)),
    ]


def test_the_head_says_what_happened():
    below = case_page(make_case(Ending(iou=0.2, severities=SEVERITIES), suts=[make_sut(name="Pocket")]))
    campaign = make_modality_campaign()
    make_grid(campaign, suts=[make_sut(name="Other")], ended=lambda place: Ending(answer="empty"))
    empty = case_page(find_case(ModalityCase.objects.filter(status="empty").first().pk))

    assert below.sentence == (
        "Pocket finds “cup” at IoU 0.900; with fog 0.40 and keyboard typo 0.20 it falls to 0.200."
    )
    assert (
        empty.sentence == "Other finds “cup” at IoU 0.900; with no operator acting it gives an empty answer."
    )


def test_the_file_of_a_case_holds_what_repeats_it():
    case = make_case(Ending(iou=0.2, severities=SEVERITIES))

    record = json.loads(case_text(case))

    assert record == json.loads(json.dumps(case_record(case)))
    assert record["strategy"] == SEVERITIES
    assert record["generator"]["seed_image"] == record["seed_image"]["sha256"]
    assert (record["run"]["run_seed"], record["sut"]["slug"], record["regime"]) == (7, "pocket", "joint")
    assert (record["perturbed"]["iou"], record["clean"]["iou"]) == (0.2, 0.9)


def test_the_shell_command_searches_the_regime_again_with_the_same_seeds():
    case = make_case(Ending(iou=0.2))

    words = repeat_command(case).replace("\\\n", " ").split()

    assert words[:4] == ["python", "manage.py", "run_search", "--method"]
    options = dict(zip(words[3::2], words[4::2], strict=True))
    assert options == {
        "--method": "most",
        "--sut": "pocket",
        "--dataset": case.modality_run.campaign.dataset.slug,
        "--regimes": "joint",
        "--algorithm": "screen",
        "--budget": "500",
        "--seed": "7",
        "--json": "result.json",
    }


def test_settings_of_another_version_have_no_command():
    case = make_case(Ending(iou=0.2))
    case.modality_run.campaign.config = {"algorithm": "annealing"}

    assert repeat_command(case) == ""
