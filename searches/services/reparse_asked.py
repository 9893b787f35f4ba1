"""Reads the stored replies of tries and calibrations again with the readers of today."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from django.db import transaction

from searches.enums import JobKind, JobState
from searches.models import Calibration, Job, User
from searches.services.audit import record
from searches.services.calibration_rows import calibration_values
from searches.services.reparse import Reparsed
from searches.services.trying import read_result
from vlmlab.core.conventions import BoxConvention
from vlmlab.core.replies.version import READER_VERSION
from vlmlab.core.suts.base import FinishReason, SutReply

READINGS = ("reading", "boxes")
VERDICTS = (
    "boxes_status", "boxes_sentence", "median_iou", "fits", "answers_status", "answers_sentence",
    "readable_share", "right_share", "items",
)  # fmt: skip


@transaction.atomic
def reparse_try(job_id: UUID, *, by: User | None = None, is_dry: bool = False) -> Reparsed:
    """Read the reply of a finished try again."""
    job = Job.objects.select_for_update().get(pk=job_id, kind=JobKind.TRY_SUT, state=JobState.DONE)
    reply = _reply(job.result)
    size = job.result.get("size") or (0, 0)
    fresh = read_result(reply, job.params, (size[0], size[1]))
    before = {name: job.result[name] for name in READINGS if name in job.result}
    after = {name: value for name, value in fresh.items() if name in before}
    is_changed = before != after
    if is_changed and not is_dry:
        Job.objects.filter(pk=job.pk).update(result={**job.result, **after})
        record(by, "read again", job, before=_status(before), after=_status(after))
    return Reparsed(f"Try {job.pk}", int(bool(before)), int(is_changed), _status(before), _status(after))


@transaction.atomic
def reparse_calibration(pk: int, *, by: User | None = None, is_dry: bool = False) -> Reparsed:
    """Judge the replies of a calibration again, by the convention that was declared then."""
    # Only a shell reads again; the pages do without what draws the pictures.
    from vlmlab.core.replies.calibration import judge_answers, judge_boxes
    from vlmlab.core.replies.probe_pictures import probe_pictures

    row = Calibration.objects.select_for_update(of=("self",)).select_related("sut").get(pk=pk)
    what = f"Calibration {row.pk} of {row.sut.name}"
    pictures = probe_pictures()
    if [[*one.box] for one in pictures] != [item["true_box"] for item in row.items]:
        return Reparsed(what, problem="It was made with other pictures. Calibrate the system again.")
    if any(_is_cut(item[part]) for item in row.items for part in ("where", "which")):
        return Reparsed(what, problem="Some of its replies were too long to be stored whole.")
    where, which = (_replies(row.items, part) for part in ("where", "which"))
    values = calibration_values(
        pictures,
        where,
        which,
        boxes=judge_boxes(pictures, where, BoxConvention.model_validate(row.asking["convention"])),
        answers=judge_answers(pictures, which),
    )
    changed = {name: values[name] for name in VERDICTS if values[name] != getattr(row, name)}
    before, after = _calibrated(row), _calibrated(row, **values)
    if not is_dry and (changed or row.reader_version != READER_VERSION):
        Calibration.objects.filter(pk=row.pk).update(**changed, reader_version=READER_VERSION)
    if not is_dry and changed:
        record(by, "read again", row, before=before, after=after)
    n_changed = sum(old != new for old, new in zip(row.items, values["items"], strict=True))
    return Reparsed(what, 2 * len(row.items), n_changed, before, after)


def _replies(items: Sequence[Mapping[str, Any]], part: str) -> list[SutReply]:
    return [_reply(item[part]) for item in items]


def _reply(stored: Mapping[str, Any]) -> SutReply:
    seen = stored.get("seen_size")
    return SutReply(
        stored.get("text", ""),
        cast(FinishReason, stored.get("finish_reason", "stop")),
        seen_size=(seen[0], seen[1]) if seen else None,
        call_error=stored.get("call_error", ""),
    )


def _is_cut(stored: Mapping[str, Any]) -> bool:
    return len(stored["text"]) < int(stored["n_characters"])


def _status(readings: Mapping[str, Any]) -> dict[str, float | str | None]:
    return {name: " ".join(filter(None, _words(value))) for name, value in readings.items()}


def _words(reading: Mapping[str, Any]) -> tuple[str, str]:
    return reading["status"], reading.get("letter") or reading.get("reason") or ""


def _calibrated(row: Calibration, **values: Any) -> dict[str, float | str | None]:
    names = ("boxes_status", "answers_status", "median_iou", "readable_share")
    return {name: values.get(name, getattr(row, name)) for name in names}
