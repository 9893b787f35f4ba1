"""Tries and calibrations are read again from their stored replies."""

import pytest

from searches.enums import CalibrationStatus, JobKind, JobState
from searches.models import AuditEntry, Calibration, Job, SutRecord
from searches.services.calibrations import calibrate
from searches.services.reparse_asked import reparse_calibration, reparse_try
from tests.factories import make_sut
from tests.searches.probing import probed_sut
from vlmlab.core.conventions import RELATIVE_1000

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("draw_once")]


def tried(params: dict[str, object], result: dict[str, object], sut: SutRecord | None = None) -> Job:
    sut = sut or make_sut()
    return Job.objects.create(
        kind=JobKind.TRY_SUT,
        params={"sut": sut.slug} | params,
        result={"finish_reason": "stop", "size": [400, 300], "seen_size": None} | result,
        state=JobState.DONE,
    )


def test_a_letter_that_an_old_reader_overlooked_is_read_now():
    job = tried(
        {"mode": "choice", "options": {"A": "Go on.", "B": "Stop."}},
        {"text": "Answer: B", "reading": {"status": "invalid", "letter": ""}},
    )

    report = reparse_try(job.pk)

    job.refresh_from_db()
    assert job.result["reading"] == {"status": "answered", "letter": "B"}
    assert (report.n_read, report.n_changed) == (1, 1)
    assert (report.before, report.after) == ({"reading": "invalid"}, {"reading": "answered B"})
    assert AuditEntry.objects.get().verb == "read again"


def test_boxes_are_read_again_by_the_convention_of_the_try():
    convention = RELATIVE_1000.model_dump(mode="json")
    text = '[{"bbox_2d": [100, 200, 500, 600], "label": "cone"}]'
    job = tried(
        {"mode": "boxes", "convention": convention},
        {"text": text, "boxes": {"status": "malformed", "reason": "no_structured_output"}},
    )

    reparse_try(job.pk)

    job.refresh_from_db()
    assert job.result["boxes"]["status"] == "boxes"
    assert job.result["boxes"]["items"][0]["box"] == [40.0, 60.0, 200.0, 180.0]


def test_a_try_in_own_words_has_nothing_to_read_and_an_unchanged_one_is_left_alone():
    own_words = tried({"mode": "text"}, {"text": "A red light."})
    same = tried(
        {"mode": "choice", "options": {"A": "Go on.", "B": "Stop."}},
        {"text": "B", "reading": {"status": "answered", "letter": "B"}},
    )

    reports = [reparse_try(own_words.pk), reparse_try(same.pk)]

    assert [(one.n_read, one.n_changed) for one in reports] == [(0, 0), (1, 0)]
    assert not AuditEntry.objects.exists()


def test_a_dry_run_changes_no_try():
    job = tried(
        {"mode": "choice", "options": {"A": "Go on.", "B": "Stop."}},
        {"text": "Answer: B", "reading": {"status": "invalid", "letter": ""}},
    )

    report = reparse_try(job.pk, is_dry=True)

    job.refresh_from_db()
    assert (report.n_changed, job.result["reading"]["status"]) == (1, "invalid")


def test_a_calibration_that_is_read_as_before_stays_as_it_is():
    row = calibrate(probed_sut(), by=None)
    AuditEntry.objects.all().delete()

    report = reparse_calibration(row.pk)

    assert (report.n_read, report.n_changed, report.before) == (40, 0, report.after)
    assert not AuditEntry.objects.exists()


def test_a_calibration_of_an_old_reader_is_judged_again():
    row = calibrate(probed_sut(), by=None)
    unread = {"status": "malformed", "box": None, "iou": 0.0}
    items = [item | {"where": item["where"] | unread} for item in row.items]
    Calibration.objects.filter(pk=row.pk).update(
        items=items, boxes_status=CalibrationStatus.UNREADABLE, median_iou=0.0, reader_version="0"
    )

    report = reparse_calibration(row.pk)

    again = Calibration.objects.get(pk=row.pk)
    assert (again.boxes_status, again.median_iou, again.items) == ("calibrated", row.median_iou, row.items)
    assert (again.reader_version, report.n_changed) == (row.reader_version, 20)
    assert report.before["boxes_status"] == "unreadable"
    assert again.n_calls == row.n_calls


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"true_box": [0, 0, 1, 1]}, "It was made with other pictures. Calibrate the system again."),
        (
            {"which": {"text": "A", "n_characters": 30_000}},
            "Some of its replies were too long to be stored whole.",
        ),
    ],
)
def test_a_calibration_that_cannot_be_read_again_says_why(change, problem):
    row = calibrate(probed_sut(), by=None)
    items = [row.items[0] | change, *row.items[1:]]
    Calibration.objects.filter(pk=row.pk).update(items=items)

    report = reparse_calibration(row.pk)

    assert (report.problem, report.n_read) == (problem, 0)
