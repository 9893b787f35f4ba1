"""Rows of modality runs: outcomes, order, and the cases around one."""

import pytest

from searches.models import Blob, ModalityCase
from searches.services.modality_outcomes import OUTCOMES, having_outcome
from searches.services.modality_run_lists import campaign_runs, neighbours, run_lines, sorted_by
from tests.factories import make_sut
from tests.searches.modality_factory import (
    Ending,
    make_grid,
    make_minimal_case,
    make_modality_campaign,
    make_seed_dataset,
)

pytestmark = pytest.mark.django_db

ENDINGS = [
    Ending(iou=0.2, f2=0.1, severities={"fog": 0.3}),
    Ending(iou=0.5),  # at the threshold is not below it
    Ending(answer="empty"),
    Ending(answer="malformed"),
    Ending("baseline_failure", clean_iou=0.2),
    Ending("call_error"),
    Ending("unfinished"),
]


@pytest.fixture
def campaign():
    campaign = make_modality_campaign(make_seed_dataset(len(ENDINGS)))
    make_grid(campaign, suts=[make_sut()], ended=lambda place: ENDINGS[place.number], regimes=("image",))
    return campaign


def places(rows):
    return [row.picture.order for row in rows]


def test_every_run_has_one_outcome_and_each_can_be_asked_for(campaign):
    rows = sorted_by(campaign_runs(campaign), "")
    told = [line.outcome for line in run_lines(list(rows), campaign=campaign)]
    asked = {outcome: places(rows.filter(having_outcome(outcome, iou_threshold=0.5))) for outcome in OUTCOMES}

    assert told == ["below", "held", "empty", "malformed", "baseline_failure", "call_error", "unfinished"]
    assert asked == {
        "below": [0],
        "held": [1],
        "empty": [2],
        "malformed": [3],
        "baseline_failure": [4],
        "call_error": [5],
        "unfinished": [6],
    }


@pytest.mark.parametrize(("criterion", "expected"), [("c1", [0]), ("c2", [0, 2]), ("c3", [0, 2, 3])])
def test_a_criterion_takes_in_the_one_before(campaign, criterion, expected):
    rows = sorted_by(campaign_runs(campaign), "")

    assert places(rows.filter(having_outcome(criterion, iou_threshold=0.5))) == expected


def test_runs_without_a_case_come_last_whichever_way_round(campaign):
    rows = campaign_runs(campaign)

    assert places(sorted_by(rows, "iou")) == [2, 3, 0, 1, 4, 5, 6]
    assert places(sorted_by(rows, "-iou")) == [1, 0, 2, 3, 4, 5, 6]
    assert places(sorted_by(rows, "no such order")) == [0, 1, 2, 3, 4, 5, 6]


def test_a_row_shows_pictures_only_where_their_files_are_kept():
    campaign = make_modality_campaign(make_seed_dataset(2, has_blobs=True))
    make_grid(campaign, suts=[make_sut()], ended=lambda place: ENDINGS[0], regimes=("image",))
    first, second = campaign.dataset.pictures.all()
    Blob.objects.filter(pk=second.image_sha256).delete()

    lines = run_lines(list(sorted_by(campaign_runs(campaign), "")), campaign=campaign)

    assert [line.seed_picture for line in lines] == [first.image_sha256, ""]
    assert [line.case_picture for line in lines] == ["", ""]  # the picture of the case is the clean one
    assert [bar.operator for bar in lines[0].operators] == ["fog"]


def test_a_perturbed_picture_that_is_not_kept_is_made_again_where_that_can_be():
    campaign = make_modality_campaign(make_seed_dataset(2, has_blobs=True))
    make_grid(campaign, suts=[make_sut()], ended=lambda _: ENDINGS[0], regimes=("image",), n_evaluations=2)
    ModalityCase.objects.update(image_sha256="f" * 64)
    Blob.objects.filter(pk=campaign.dataset.pictures.last().image_sha256).delete()
    rows = list(sorted_by(campaign_runs(campaign), ""))
    asked = ModalityCase.objects.get(modality_run=rows[0]).evaluation

    lines = run_lines(rows, campaign=campaign)

    address = f"/modality/runs/{rows[0].run_id}/evaluations/{asked.step}.{asked.position}.png"
    assert [line.case_picture for line in lines] == [address, ""]


def test_neighbours_are_those_of_the_narrowed_and_sorted_list(campaign):
    rows = sorted_by(campaign_runs(campaign), "-iou").filter(status="finished")
    cases = {case.modality_run.picture.order: case for case in ModalityCase.objects.all()}

    around = neighbours(rows, cases[0])

    assert (around.previous, around.following) == (cases[1].pk, cases[2].pk)
    assert (around.place, around.total) == (2, 4)
    assert neighbours(rows, cases[1]).previous is None
    assert neighbours(rows.exclude(pk=cases[0].modality_run_id), cases[0]).place == 0


def test_a_minimal_case_stands_where_the_returned_one_does(campaign):
    run = campaign.modality_runs.get(picture__order=0)
    minimal = make_minimal_case(run)

    around = neighbours(sorted_by(campaign_runs(campaign), ""), minimal)

    assert (around.place, around.previous) == (1, None)
