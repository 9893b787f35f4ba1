"""A returned failure is made minimal by a job: it still fails, costs are counted, cuts lose nothing."""

import pytest

from searches.enums import CaseKind, JobKind, JobState
from searches.models import AuditEntry, Job, ModalityCase, SpendDay, SutRecord
from searches.services.blobs import blob_path
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.modality_inputs import perturber_of
from searches.services.modality_minimal import MOST_FAILURES, minimal_job, start_minimal
from searches.services.suts import set_enabled, unload_sut
from tests.factories import make_sut, make_user
from tests.searches.engine import advance
from tests.searches.modality_engine import (
    CASE_COLUMNS,
    FAR_OFF,
    RIGHT,
    never_breaks,
    start_modality_run,
)
from vlmlab.core.errors import VlmLabError

pytestmark = pytest.mark.django_db

SMALL, SEED = "find ", 5


def breaks_under_small_letters() -> SutRecord:
    """A system that misses the bus where the operator "casing" began the sentence with a small letter."""
    rules = [{"prompt_contains": [SMALL], "answer": FAR_OFF}]
    return make_sut(params={"default": RIGHT, "rules": rules, "price_usd": 0.001})


def returned_failure(**config) -> ModalityCase:
    """A failure that was drawn at random: more operators act than have to."""
    run = start_modality_run(
        breaks_under_small_letters(), regimes=("joint",), algorithm="random", seed=SEED, **config
    )
    advance(run)
    case = run.modality.cases.get()
    assert case.is_failure
    return case


def sut_of(case: ModalityCase) -> SutRecord:
    return SutRecord.objects.get(pk=case.modality_run.sut_id)


def change_sut(case: ModalityCase, **params) -> None:
    sut = sut_of(case)
    SutRecord.objects.filter(pk=sut.pk).update(params={**sut.params, **params})
    unload_sut()


def worked(job: Job, *, slices: int = 1) -> Job:
    for _ in range(slices):
        run_job(take_job("w", ["cpu"], is_long=True))
    job.refresh_from_db()
    return job


def made_minimal(case: ModalityCase) -> Job:
    return worked(start_minimal(case, by=None))


def test_the_minimal_case_has_the_one_operator_that_matters_at_a_lower_severity():
    case = returned_failure()

    job = made_minimal(case)

    minimal = case.modality_run.cases.get(kind=CaseKind.MINIMAL)
    assert (job.state, job.error, job.result["case"]) == (JobState.DONE, "", minimal.pk)
    assert len(case.severities) > 1
    assert list(minimal.severities) == ["casing"]
    assert minimal.severities["casing"] <= sum(case.severities.values())
    assert SMALL in minimal.prompt
    assert (minimal.is_failure, minimal.is_faithful, minimal.reason) == (True, True, "minimal")
    assert (minimal.status, minimal.image_budget) == ("boxes", 0.0)
    assert minimal.evaluation is None


def test_minimal_means_the_same_where_the_search_saved_steps():
    case = returned_failure(bisection_steps=1)
    made_minimal(case)
    minimal = case.modality_run.cases.get(kind=CaseKind.MINIMAL)
    perturber = perturber_of(case.modality_run)

    weaker = perturber.space.strategy({"casing": 0.9 * minimal.severities["casing"]})

    assert SMALL not in perturber.perturbed(weaker).prompt


def test_its_row_holds_all_that_makes_its_input_again():
    case = returned_failure()
    made_minimal(case)
    minimal = case.modality_run.cases.get(kind=CaseKind.MINIMAL)
    place = case.modality_run
    perturber = perturber_of(place)

    again = perturber.perturbed(perturber.space.strategy(minimal.severities))

    assert again.prompt == minimal.prompt
    assert blob_path(minimal.image_sha256).read_bytes() == again.png
    assert minimal.truth == again.truth.boxes.tolist()
    assert minimal.generator == {
        "run_seed": place.run.run_seed,
        "seed_image": place.picture.image_sha256,
        "seeds": {"casing": perturber.operator_seed("casing")},
    }
    assert minimal.f1 == pytest.approx(minimal.iou / place.clean_answer.iou)
    assert (minimal.f2, minimal.ms_ssim) == (0.0, 1.0)
    assert (minimal.f3, minimal.ned > 0.0) == (0.0, True)  # the embedding does not see capitals
    assert minimal.swtd == pytest.approx(0.5 * (1.0 - minimal.f1) + 0.5 * (1.0 - minimal.ned))
    assert minimal.boxes == [[0.0, 0.0, pytest.approx(4.8), pytest.approx(3.6)]]


def test_its_calls_are_counted_and_priced():
    case = returned_failure()
    before = sut_of(case)

    made_minimal(case)

    minimal, after = case.modality_run.cases.get(kind=CaseKind.MINIMAL), sut_of(case)
    assert after.n_calls - before.n_calls == minimal.evaluations > 1
    assert after.spend_usd - before.spend_usd == pytest.approx(0.001 * minimal.evaluations)
    assert SpendDay.objects.get().n_calls == after.n_calls


def test_a_second_click_while_one_waits_finds_the_same_job():
    case, person = returned_failure(), make_user()

    first, second = start_minimal(case, by=person), start_minimal(case, by=person)

    assert first.pk == second.pk == minimal_job(case).pk
    entry = AuditEntry.objects.get(verb="asked to make minimal")
    assert entry.after == {"case": case.pk, "sut": case.modality_run.sut.slug}


def test_a_case_that_is_minimal_already_is_not_asked_again():
    case = returned_failure()
    made_minimal(case)

    with pytest.raises(VlmLabError, match="minimal perturbation already"):
        start_minimal(case, by=None)


def test_a_run_without_a_failure_has_nothing_to_make_minimal():
    run = start_modality_run(never_breaks(), regimes=("text",), inference_budget=4)
    advance(run)

    with pytest.raises(VlmLabError, match="Only a failure"):
        start_minimal(run.modality.cases.get(), by=None)


def test_a_system_that_is_switched_off_is_not_asked():
    case = returned_failure()
    set_enabled(sut_of(case), is_enabled=False, by=None)

    with pytest.raises(VlmLabError, match="is switched off"):
        start_minimal(case, by=None)


def test_a_case_that_does_not_fail_any_more_says_so():
    case = returned_failure()
    change_sut(case, default=RIGHT, rules=[])

    job = made_minimal(case)

    assert job.state == JobState.FAILED
    assert job.error.startswith("This case does not fail any more: asked the same again, the system answered")
    assert "IoU 1.00" in job.error
    assert "not the same system" in job.hint
    assert not case.modality_run.cases.filter(kind=CaseKind.MINIMAL).exists()


def test_a_case_whose_input_cannot_be_made_again_is_not_asked():
    case = returned_failure()
    ModalityCase.objects.filter(pk=case.pk).update(prompt="Something else")
    before = sut_of(case).n_calls

    job = made_minimal(case)

    assert "cannot be made again" in job.error
    assert sut_of(case).n_calls == before


def test_a_system_that_is_away_is_left_alone_and_its_calls_are_counted():
    case = returned_failure()
    before = sut_of(case)
    change_sut(case, call_error_rate=1.0)

    job = made_minimal(case)

    assert job.error == f"{MOST_FAILURES} calls in a row failed, so the case was not made minimal."
    assert sut_of(case).n_call_errors - before.n_call_errors == MOST_FAILURES


def test_a_spending_limit_ends_it_before_a_call_that_would_pass_it():
    case = returned_failure()
    spent = sut_of(case).spend_usd
    change_sut(case, spend_cap_usd=spent + 0.0025)

    job = made_minimal(case)

    assert job.state == JobState.FAILED
    assert "spending limit" in f"{job.error} {job.hint}".lower()
    assert sut_of(case).spend_usd == pytest.approx(spent + 0.002)


def test_a_job_cut_after_every_answer_asks_nothing_twice_and_ends_alike(settings):
    case = returned_failure()
    made_minimal(case)
    whole = case.modality_run.cases.filter(kind=CaseKind.MINIMAL)
    expected, calls = whole.values(*CASE_COLUMNS).get(), sut_of(case).n_calls
    whole.delete()
    settings.SLICE_SECONDS = 0

    job = worked(start_minimal(case, by=None))
    cut = job.result["n_answered"]
    job = worked(job, slices=expected["evaluations"] - 1)

    assert cut == 2  # the case itself, then one that is weaker
    assert job.state == JobState.DONE
    assert whole.values(*CASE_COLUMNS).get() == expected
    assert sut_of(case).n_calls - calls == expected["evaluations"]


def test_a_job_done_twice_after_a_crash_leaves_one_minimal_case():
    case = returned_failure()
    job = made_minimal(case)
    calls = sut_of(case).n_calls
    Job.objects.filter(pk=job.pk).update(state=JobState.QUEUED)

    job = worked(job)

    assert (job.state, job.kind) == (JobState.DONE, JobKind.MINIMIZE_CASE)
    assert case.modality_run.cases.filter(kind=CaseKind.MINIMAL).count() == 1
    assert sut_of(case).n_calls == calls


def test_a_case_that_is_gone_says_so():
    case = returned_failure()
    job = start_minimal(case, by=None)
    case.delete()

    assert worked(job).error == "This case is gone."
