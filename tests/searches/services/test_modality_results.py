"""Rows of a modality campaign become the core's results: two queries, two readings, one replicate."""

import pytest

from searches.enums import ModalityStatus
from searches.models import ModalityCase, ModalityRun
from searches.services.modality_results import (
    campaign_results,
    outcome_word,
    picture_names,
    results_of,
    runs_address,
)
from tests.factories import make_sut
from tests.searches.modality_factory import (
    Ending,
    make_drawn_campaign,
    make_grid,
    make_modality_campaign,
    make_seed_dataset,
)
from vlmlab.core.errors import VlmLabError
from vlmlab.core.most.metrics import swtd
from vlmlab.core.most.outcomes import RunStatus
from vlmlab.core.most.types import AnswerStatus

pytestmark = pytest.mark.django_db


def campaign_of(ended, *, pictures=2, suts=1, regimes=("image",), replicates=1, strata=("street",), **values):
    campaign = make_modality_campaign(make_seed_dataset(pictures, strata=strata), **values)
    makers = [make_sut(f"system-{number}") for number in range(suts)]
    make_grid(campaign, suts=makers, ended=ended, regimes=regimes, replicates=replicates)
    return campaign


def test_a_finished_run_carries_every_number_of_its_case():
    campaign = campaign_of(
        lambda place: Ending(
            iou=0.3, clean_iou=0.8, severities={"fog": 0.25, "casing": 0.1}, ms_ssim=0.9, ned=0.2,
            evaluations=12, first_hit=7, wall_s=30.0, perturbation_s=4.0, inference_s=20.0,
        ),
        pictures=1,
    )  # fmt: skip

    (row,) = campaign_results(campaign).rows

    result, case = row.result, row.result.case
    assert (result.sut, result.scene_type, result.regime) == ("system-0", "street", "image")
    assert result.seed_image == f"{row.picture_id}:cup"
    assert (result.status, result.clean_status, result.clean_iou) == (RunStatus.FINISHED, "boxes", 0.8)
    assert (result.evaluations, result.wall_s, result.perturbation_s, result.inference_s) == (12, 30, 4, 20)
    assert (case.status, case.iou, case.is_faithful) == (AnswerStatus.BOXES, 0.3, True)
    assert (case.ms_ssim, case.ned, case.image_budget, case.text_budget) == (0.9, 0.2, 0.25, 0.1)
    assert case.swtd == pytest.approx(0.5 * 0.5 / 0.8 + 0.5 * 0.9 * 0.8)
    assert row.first_hit == 7
    assert row.run_id == ModalityRun.objects.get().run_id


@pytest.mark.parametrize("status", ["baseline_failure", "call_error", "unfinished"])
def test_a_run_that_did_not_finish_has_no_case(status):
    campaign = campaign_of(lambda _: Ending(status, clean_iou=0.1), pictures=1)

    (result,) = results_of(campaign)

    assert (result.status.value, result.case) == (status, None)


def test_a_finished_run_whose_case_is_missing_counts_as_unfinished():
    campaign = campaign_of(lambda _: Ending(), pictures=1)
    ModalityCase.objects.all().delete()

    assert [one.status for one in results_of(campaign)] == [RunStatus.UNFINISHED]


@pytest.mark.parametrize("pictures", [1, 12])
def test_results_take_the_same_queries_for_any_number_of_runs(pictures, django_assert_num_queries):
    campaign = campaign_of(lambda _: Ending(), pictures=pictures, suts=2, regimes=("image", "text", "joint"))

    with django_assert_num_queries(4):  # state of the campaign, its settings, cases, runs
        first = results_of(campaign)
    with django_assert_num_queries(1):  # state of the campaign: nothing changed
        again = results_of(campaign)

    assert len(first) == pictures * 6
    assert first == again


def test_results_are_read_again_when_a_run_moves_on():
    campaign = campaign_of(lambda _: Ending(ModalityStatus.UNFINISHED), pictures=1)
    assert [one.status for one in results_of(campaign)] == [RunStatus.UNFINISHED]

    ModalityRun.objects.update(status=ModalityStatus.CALL_ERROR)

    assert [one.status for one in results_of(campaign)] == [RunStatus.CALL_ERROR]


def test_the_lenient_reading_takes_what_could_be_saved():
    campaign = campaign_of(
        lambda _: Ending(
            answer="malformed", lenient_answer="boxes", lenient_iou=0.6, clean_iou=0.8,
            lenient_clean_iou=0.75, ms_ssim=0.9,
        ),
        pictures=1,
    )  # fmt: skip

    (strict,) = results_of(campaign)
    (lenient,) = results_of(campaign, reading="lenient")

    assert (strict.case.status, strict.case.iou, strict.clean_iou) == ("malformed", 0.0, 0.8)
    assert (lenient.case.status, lenient.case.iou, lenient.clean_iou) == ("boxes", 0.6, 0.75)
    assert lenient.case.swtd == pytest.approx(swtd(0.75, 0.6, 0.9, 0.0))
    assert [outcome_word(strict), outcome_word(lenient)] == ["malformed", "held"]


def test_a_seed_image_that_is_right_in_the_strict_reading_only_is_no_eligible_one_in_the_lenient():
    campaign = campaign_of(lambda _: Ending(clean_iou=0.8, lenient_clean_iou=0.4), pictures=1)

    assert [one.status for one in results_of(campaign)] == [RunStatus.FINISHED]
    assert [one.status for one in results_of(campaign, reading="lenient")] == [RunStatus.BASELINE_FAILURE]


def test_the_iou_threshold_is_that_of_the_search():
    campaign = campaign_of(
        lambda _: Ending(iou=0.6), pictures=1, config={"algorithm": "screen", "iou_threshold": 0.75}
    )

    (result,) = results_of(campaign)

    assert result.iou_threshold == 0.75
    assert outcome_word(result) == "below"


def test_common_seeds_leave_out_what_one_retained_system_gets_wrong():
    def ended(place):
        wrong = place.sut.slug == "system-1" and place.number == 0
        return Ending(ModalityStatus.BASELINE_FAILURE, clean_iou=0.1) if wrong else Ending()

    campaign = campaign_of(ended, pictures=3, suts=2)

    common = results_of(campaign, common_seeds=True)

    assert len(results_of(campaign)) == 6
    assert len(common) == 4
    assert {one.sut for one in common} == {"system-0", "system-1"}


def test_a_system_that_never_gives_boxes_takes_no_seed_image_from_the_others():
    def ended(place):
        blind = place.sut.slug == "system-1"
        return Ending("baseline_failure", clean_answer="malformed") if blind else Ending()

    campaign = campaign_of(ended, pictures=3, suts=2)

    results = campaign_results(campaign)

    assert dict(results.retained) == {"system-0": True, "system-1": False}
    assert [row.result.sut for row in results.shown(common_seeds=True)] == ["system-0"] * 3


def test_systems_and_strata_narrow_the_results():
    campaign = campaign_of(lambda _: Ending(), pictures=4, suts=2, strata=("street", "kitchen"))

    found = results_of(campaign, suts=["system-1"], strata=["kitchen"])

    assert [(one.sut, one.scene_type) for one in found] == [("system-1", "kitchen")] * 2


def test_replicates_are_never_put_together():
    campaign = campaign_of(lambda place: Ending(iou=0.1 * place.replicate), pictures=2, replicates=3)

    assert [one.case.iou for one in results_of(campaign)] == [0.0, 0.0]
    assert [one.case.iou for one in results_of(campaign, replicate=2)] == [0.2, 0.2]


def test_settings_of_another_version_are_told():
    campaign = campaign_of(lambda _: Ending(), pictures=1, config={"algorithm": "nonsense"})

    with pytest.raises(VlmLabError):
        results_of(campaign)


def test_an_address_of_runs_holds_only_what_narrows():
    address = runs_address(7, sut="a-b", stratum="", regime="image", outcome="c2")

    assert address == "/modality/7/runs/?sut=a-b&regime=image&outcome=c2"
    assert runs_address(7) == "/modality/7/runs/"


def test_names_of_pictures_come_in_one_query(django_assert_num_queries):
    campaign = make_drawn_campaign(6)
    pictures = list(campaign.dataset.pictures.all())

    with django_assert_num_queries(1):
        names = picture_names(picture.pk for picture in pictures)

    assert names == {one.pk: (one.file_name, one.image_sha256) for one in pictures}
