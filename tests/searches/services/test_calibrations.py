"""Calibration: 40 calls, one row with everything that was seen, and what it says of a system later."""

import pytest

from searches.enums import CalibrationStatus, JobKind, JobState
from searches.models import AuditEntry, Blob, Calibration, Job, SpendDay, SutRecord
from searches.services import calibrations
from searches.services.blobs import blob_path
from searches.services.calibrations import (
    calibrate,
    calibration_of,
    calibration_states,
    find_calibration_job,
    start_calibration,
    use_convention,
)
from searches.services.garbage import collect_garbage
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.suts import edit_sut, set_enabled
from tests.factories import make_sut, make_user
from tests.searches.probing import in_pixels, pictures, probed_sut, prose
from vlmlab.core.errors import VlmLabError

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("draw_once")]


def done(sut: SutRecord) -> Job:
    job = start_calibration(sut, by=None)
    run_job(take_job("w", ["cpu"]))
    job.refresh_from_db()
    return job


def now(sut: SutRecord) -> SutRecord:
    return SutRecord.objects.get(pk=sut.pk)


def test_a_calibration_asks_every_picture_twice_and_stores_what_it_saw():
    sut = probed_sut()

    job = done(sut)

    found = Calibration.objects.get()
    assert (job.state, job.result["calibration"]) == (JobState.DONE, found.pk)
    assert (found.boxes_status, found.answers_status) == ("calibrated", "calibrated")
    assert (found.n_calls, found.n_call_errors, found.readable_share, found.right_share) == (40, 0, 1, 1)
    assert found.median_iou > 0.95
    first, picture = found.items[0], pictures()[0]
    assert first["true_box"] == list(picture.box)
    assert first["which"]["letter"] == first["expected_letter"] == picture.expected_letter
    assert first["where"]["iou"] > 0.9
    assert blob_path(first["image_sha256"]).read_bytes() == picture.image_png
    assert found.fits[0]["name"] == "0-1000 xyxy"


def test_its_calls_are_counted_and_priced():
    sut = probed_sut(params={"price_usd": 0.01})

    done(sut)

    sut = now(sut)
    assert (sut.n_calls, round(sut.spend_usd, 6)) == (40, 0.4)
    assert round(Calibration.objects.get().cost_usd, 6) == 0.4
    assert SpendDay.objects.get().n_calls == 40


def test_a_second_click_while_one_waits_finds_the_same_job():
    sut, person = probed_sut(), make_user()

    first, second = start_calibration(sut, by=person), start_calibration(sut, by=person)

    assert first.pk == second.pk
    entry = AuditEntry.objects.get()
    assert (entry.verb, entry.after) == ("asked to calibrate", {"sut": sut.slug})


def test_after_one_has_ended_the_next_click_starts_another():
    sut = probed_sut()
    first = done(sut)

    assert start_calibration(sut, by=None).pk != first.pk


def test_a_system_that_is_switched_off_is_not_calibrated():
    sut = probed_sut()
    set_enabled(sut, is_enabled=False, by=None)

    with pytest.raises(VlmLabError, match="is switched off"):
        start_calibration(now(sut), by=None)


def test_a_job_done_twice_after_a_crash_leaves_one_calibration():
    sut = probed_sut()
    job = done(sut)
    Job.objects.filter(pk=job.pk).update(state=JobState.QUEUED)

    run_job(take_job("w", ["cpu"]))

    assert Calibration.objects.count() == 1
    assert Job.objects.get().state == JobState.DONE


def test_calls_that_were_paid_count_when_the_row_cannot_be_written(monkeypatch):
    sut = probed_sut()
    monkeypatch.setattr(Calibration.objects, "get_or_create", lambda **values: 1 / 0)

    job = done(sut)

    assert (job.state, job.error) == (JobState.FAILED, "Something went wrong inside the lab.")
    assert (now(sut).n_calls, Calibration.objects.count()) == (40, 0)


def test_a_system_that_never_answers_is_left_alone_after_its_first_batch():
    sut = probed_sut(params={"call_error_rate": 1.0})

    job = done(sut)

    assert job.state == JobState.FAILED
    assert job.error == "The first 8 calls all failed, so the calibration was ended."
    assert job.hint == "The scripted call failed, as its settings ask."
    assert (now(sut).n_calls, now(sut).n_call_errors) == (8, 8)
    assert Calibration.objects.count() == 0


def test_too_many_call_errors_are_a_calibration_that_failed():
    sut = probed_sut(params={"call_error_rate": 0.5, "batch_size": 40})

    done(sut)

    found = Calibration.objects.get()
    assert (found.boxes_status, found.answers_status) == ("failed", "failed")
    assert 10 < found.n_call_errors < 30
    assert (
        calibration_of(now(sut)).answers_warning == "could not be calibrated: too many of the calls failed."
    )


def test_a_spending_limit_that_leaves_no_room_is_told_before_anything_is_sent(monkeypatch):
    sut = probed_sut()
    seen = []

    def refuse(record, *, calls, **values):
        seen.append((record.slug, calls))
        raise VlmLabError("The limit is reached.", hint="Raise it.")

    monkeypatch.setattr(calibrations, "check_may_spend", refuse)

    job = done(sut)

    assert seen == [(sut.slug, 40)]
    assert (job.error, job.hint, now(sut).n_calls) == ("The limit is reached.", "Raise it.", 0)


def test_progress_stands_in_the_job_while_it_runs():
    sut = probed_sut(params={"batch_size": 16})
    seen = []

    calibrate(sut, by=None, on_answered=seen.append)

    assert seen == [16, 32, 40]


def test_another_convention_is_named_and_not_declared_by_itself():
    sut = probed_sut(where=in_pixels)

    done(sut)

    found = Calibration.objects.get()
    assert found.boxes_status == "other_convention"
    assert "pixels xyxy" in found.boxes_sentence
    assert now(sut).params["asking"]["convention"]["space"] == "relative"


def test_a_person_may_declare_the_convention_that_fits_and_the_calibration_is_out_of_date():
    sut, person = probed_sut(where=in_pixels), make_user()
    done(sut)

    use_convention(Calibration.objects.get(), "pixels xyxy", by=person)

    convention = now(sut).params["asking"]["convention"]
    assert (convention["space"], convention["scale"], convention["order"]) == ("seen_pixels", None, "xyxy")
    assert AuditEntry.objects.filter(actor=person, verb="edited").count() == 1
    assert calibration_of(now(sut)).standing == "stale"


def test_after_declaring_the_right_convention_the_next_calibration_holds():
    sut = probed_sut(where=in_pixels)
    done(sut)
    use_convention(Calibration.objects.get(), "pixels xyxy", by=None)

    done(now(sut))

    state = calibration_of(now(sut))
    assert (state.standing, state.are_boxes_calibrated) == ("current", True)


def test_a_convention_that_was_not_measured_is_refused():
    done(probed_sut())

    with pytest.raises(VlmLabError, match="did not measure"):
        use_convention(Calibration.objects.get(), "0-7 zyxw", by=None)


def test_a_convention_of_an_earlier_way_of_asking_is_refused():
    sut = probed_sut(where=in_pixels)
    done(sut)
    changed = sut.params | {"asking": {"localization_template": "Where: {targets}"}}
    edit_sut(sut, name=sut.name, params=changed, by=None, description="", queue=sut.queue)

    with pytest.raises(VlmLabError, match="asked otherwise now"):
        use_convention(Calibration.objects.get(), "pixels xyxy", by=None)


def test_a_system_without_any_calibration_is_warned_of():
    state = calibration_of(make_sut())

    assert (state.standing, state.are_answers_calibrated) == ("none", False)
    assert state.answers_warning.startswith("is not calibrated")
    assert (state.answers_badge.label, state.boxes_badge.label) == ("Not calibrated", "Not calibrated")


def test_a_calibrated_system_is_not_warned_of():
    sut = probed_sut(where=prose)
    done(sut)

    state = calibration_of(now(sut))

    assert (state.standing, state.answers_warning) == ("current", "")
    assert (state.are_answers_calibrated, state.are_boxes_calibrated) == (True, False)
    assert (state.answers_badge.label, state.boxes_badge.label) == ("Calibrated", "Cannot be read")


def test_unreadable_answers_are_warned_of_with_their_share():
    sut = probed_sut(which=prose)
    done(sut)

    warning = calibration_of(now(sut)).answers_warning

    assert warning.startswith("wrote readable answers to only 0 % of the calibration's questions.")


def test_a_calibration_is_out_of_date_after_other_prompts_or_another_identity():
    sut = probed_sut()
    done(sut)
    SutRecord.objects.filter(pk=sut.pk).update(fingerprint="f" * 64)

    assert calibration_of(now(sut)).standing == "stale"


def test_going_back_to_an_earlier_way_of_asking_finds_its_calibration_again():
    sut = probed_sut()
    done(sut)
    fingerprint, before = now(sut).fingerprint, now(sut).params
    other = before | {"asking": before["asking"] | {"choice_template": "Q: {question}"}}
    SutRecord.objects.filter(pk=sut.pk).update(params=other)
    was = calibration_of(now(sut)).standing
    SutRecord.objects.filter(pk=sut.pk).update(params=before, fingerprint=fingerprint)

    assert (was, calibration_of(now(sut)).standing) == ("stale", "current")


@pytest.mark.parametrize("count", [1, 3])
def test_the_states_of_a_list_take_one_query(count, django_assert_num_queries):
    suts = [probed_sut(f"sut-{number}") for number in range(count)]
    for sut in suts:
        make_calibration(sut)

    with django_assert_num_queries(1):
        states = calibration_states(suts)

    assert [states[sut.pk].standing for sut in suts] == ["current"] * count


def test_pictures_of_a_calibration_are_spared_by_garbage_collection():
    done(probed_sut())
    Job.objects.all().delete()
    Blob.objects.update(touched_at="2020-01-01T00:00Z")

    collect_garbage()

    assert Blob.objects.count() == len({one.image_png for one in pictures()})


def test_the_job_of_an_address_belongs_to_its_system():
    sut, other = probed_sut("one"), probed_sut("two")
    job = start_calibration(sut, by=None)

    assert find_calibration_job(str(job.pk), sut) == job
    assert find_calibration_job("", sut) == job
    assert find_calibration_job(str(job.pk), other) is None
    assert find_calibration_job("nonsense", sut) is None


def test_a_calibration_that_came_to_nothing_is_told_until_another_one_is_there():
    sut = probed_sut()
    job = start_calibration(sut, by=None)
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, error="No price.")

    assert find_calibration_job("", sut) == job

    done(sut)
    assert find_calibration_job("", sut) is None


def test_long_and_hostile_replies_are_kept_short_and_clean(unstorable_replies):
    sut = probed_sut(where=lambda picture: "~~" + "x" * 25_000)

    done(sut)

    where = Calibration.objects.get().items[0]["where"]
    assert (len(where["text"]), where["n_characters"]) == (20_000, 25_002)
    assert where["text"].startswith("\ufffd\ufffdxxx")


def make_calibration(sut: SutRecord) -> Calibration:
    return Calibration.objects.create(
        sut=sut,
        fingerprint=sut.fingerprint,
        asking=calibrations.asking_of(sut).model_dump(mode="json"),
        boxes_status=CalibrationStatus.CALIBRATED,
        answers_status=CalibrationStatus.CALIBRATED,
        reader_version="1",
    )


def test_a_calibration_waits_in_the_queue_of_its_system():
    sut = probed_sut(queue="gpu")

    assert start_calibration(sut, by=None).queue == "gpu"
    assert Job.objects.get().kind == JobKind.CALIBRATE_SUT
