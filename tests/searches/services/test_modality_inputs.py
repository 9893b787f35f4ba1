"""What a system saw, made again: the same bytes, prompt and truth as the search made, or a clear reason."""

from dataclasses import replace

import numpy as np
import pytest

from searches.models import Blob, Evaluation, SearchRun, SutRecord
from searches.services.blobs import blob_path
from searches.services.modality_asking import asked_in, asked_then
from searches.services.modality_inputs import evaluation_picture, perturber_of, read_again, seen_input
from searches.services.modality_run_pages import find_run
from searches.services.seed_inputs import seed_image_of
from tests.factories import make_sut
from tests.searches.modality_factory import BOX, Ending, make_grid, make_modality_campaign, make_seed_dataset
from vlmlab.core.conventions import SEEN_PIXELS
from vlmlab.core.errors import VlmLabError
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.evaluate import Perturber
from vlmlab.core.most.search import build_space
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS
from vlmlab.core.suts.asking import AskingParams, protected_parts

pytestmark = pytest.mark.django_db

SEVERITIES = {"translate_scale": 0.3, "gaussian_noise": 0.4, "keyboard_typo": 0.6}


@pytest.fixture
def run():
    campaign = make_modality_campaign(make_seed_dataset(1, has_blobs=True))
    ending = Ending(iou=0.2, severities=SEVERITIES, evaluations=2)
    (row,) = make_grid(
        campaign, suts=[make_sut()], ended=lambda place: ending, regimes=("joint",), n_evaluations=2
    )
    return find_run(row.run_id)


def made_by_the_search(run, evaluation):
    """Return the input as a worker makes it: from the same seed image, with a distance of prompts."""
    seed = seed_image_of(run.picture, run.label, asking=AskingParams(), protect_format=True)
    space = build_space(
        MostConfig(),
        regime="joint",
        image_operators=tuple(IMAGE_OPERATORS),
        text_operators=tuple(TEXT_OPERATORS),
    )
    perturber = Perturber(
        replace(seed, prompt=run.clean_answer.prompt),
        space=space,
        run_seed=run.run.run_seed,
        embed=lambda text: np.array([len(text), 1.0]),
    )
    return perturber.perturbed(tuple(evaluation.strategy))


def test_the_picture_has_the_bytes_that_the_system_was_sent(run):
    evaluation = run.run.evaluations.last()

    png = evaluation_picture(run, evaluation)

    assert png == made_by_the_search(run, evaluation).png
    assert png != blob_path(run.picture.image_sha256).read_bytes()
    assert evaluation_picture(run, evaluation) is png  # kept


def test_prompt_and_truth_are_those_of_the_search(run):
    evaluation = run.run.evaluations.last()

    seen = seen_input(run, evaluation)

    made = made_by_the_search(run, evaluation)
    assert (seen.clean_prompt, seen.prompt) == (run.clean_answer.prompt, made.prompt)
    assert seen.prompt != seen.clean_prompt
    assert np.allclose(seen.truth, made.truth.boxes)
    assert not np.allclose(seen.truth, [BOX])  # it moved with the picture
    assert [item.box for item in seen.reading.items] == [item.box for item in seen.reading.lenient_items]


def test_the_prompt_that_was_asked_counts_even_when_the_registration_asks_otherwise_today(run):
    SutRecord.objects.filter(pk=run.sut_id).update(
        params={"asking": {"localization_template": "Where is {targets}?"}}
    )

    seed_image = perturber_of(find_run(run.run_id)).seed_image

    assert seed_image.prompt == "Find the cup in the picture. Answer with JSON."


def test_a_run_that_was_asked_in_other_words_keeps_its_pictures_but_no_prompt_is_made_up(run):
    evaluation = run.run.evaluations.last()
    run.run.checkpoint = {"asked_in": asked_in(AskingParams())}
    seen = seen_input(run, evaluation)

    run.run.checkpoint = {"asked_in": "Where is ?"}

    assert seen.prompt != seen.clean_prompt
    assert len(evaluation_picture(run, evaluation)) > 0
    with pytest.raises(VlmLabError, match="asked in other words now"):
        seen_input(run, evaluation)


def asked_otherwise_today(run, **asking):
    """Store how the run was asked, register other words and another convention, and read the run again."""
    then = AskingParams(localization_template="Find {targets} in the picture. Answer with JSON.")
    SearchRun.objects.filter(pk=run.run_id).update(checkpoint={"asked_in": asked_in(then)})
    today = {"localization_template": "Where is {targets}", "convention": SEEN_PIXELS.model_dump()}
    SutRecord.objects.filter(pk=run.sut_id).update(params={"asking": today | asking})
    return find_run(run.run_id), then


def test_words_that_were_protected_then_are_protected_when_a_prompt_is_made_again(run):
    run, then = asked_otherwise_today(run)

    seed_image = perturber_of(run).seed_image

    assert asked_then(run) == then
    assert seed_image.protected == protected_parts(then) == ("Answer with JSON.",)
    assert "Answer with JSON." in seen_input(run, run.run.evaluations.last()).prompt


def test_a_reply_is_read_in_the_convention_of_its_time(run):
    evaluation = run.run.evaluations.last()
    before = read_again(run, evaluation).items

    run, _ = asked_otherwise_today(run)

    assert read_again(run, evaluation).items == before != ()


def test_words_that_cannot_be_found_again_are_a_sentence(run):
    run, _ = asked_otherwise_today(run)
    run.clean_answer.prompt = "Something else."

    with pytest.raises(VlmLabError, match="is asked in other words now than when this run began"):
        perturber_of(run)


def test_a_seed_image_without_its_file_is_a_sentence(run):
    Blob.objects.all().delete()
    blob_path(run.picture.image_sha256).unlink()

    with pytest.raises(VlmLabError, match="not stored any more"):
        evaluation_picture(run, run.run.evaluations.first())


def test_a_strategy_of_another_version_is_a_sentence(run):
    evaluation = run.run.evaluations.last()
    Evaluation.objects.filter(pk=evaluation.pk).update(strategy=[0.5, 0.5])
    evaluation.refresh_from_db()

    for make in (evaluation_picture, seen_input):
        with pytest.raises(VlmLabError, match="another version of the lab"):
            make(run, evaluation)


def test_a_failed_call_has_no_reading(run):
    evaluation = run.run.evaluations.last()
    evaluation.status = "call_error"

    assert read_again(run, evaluation) is None
