"""Calibration of a system: starting it, doing it, and whether what it found still holds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from django.db import transaction

from searches.enums import CalibrationStatus, JobKind, JobState, Queue
from searches.models import Calibration, Job, SutRecord, User
from searches.services.call_counts import count_calls
from searches.services.job_holds import HELD
from searches.services.job_queue import UNFINISHED, start_job
from searches.services.spending import check_may_spend
from searches.services.suts import LoadedSut, asking_of, edit_sut, load_sut
from vlmlab.core.conventions import BoxConvention
from vlmlab.core.errors import VlmLabError
from vlmlab.core.replies.probe_pictures import PROBE_SIZE
from vlmlab.core.suts.asking import AskingParams, choice_prompt, localization_prompt
from vlmlab.core.suts.base import SutReply, SutRequest

if TYPE_CHECKING:
    from vlmlab.core.replies.calibration import ProbePicture

Standing = Literal["current", "stale", "none"]
CALLS = 2 * PROBE_SIZE
"""Each picture is asked about twice."""

LEAST_CALLS_TO_GIVE_UP = 4
BADGES: dict[str, str] = {
    CalibrationStatus.CALIBRATED: "done",
    CalibrationStatus.OTHER_CONVENTION: "failed",
    CalibrationStatus.UNCLEAR: "paused",
    CalibrationStatus.UNREADABLE: "failed",
    CalibrationStatus.FAILED: "failed",
}
"""Status of lettered answers -> look of its badge."""

BOXES_BADGES = BADGES | {CalibrationStatus.UNREADABLE: "idle"}
"""The same for boxes: a system that writes none is not at fault, most searches ask for none."""

HEAVY_COLUMNS = ("items", "fits", "boxes_sentence", "answers_sentence")


@dataclass(frozen=True)
class CalibrationBadge:
    """A verdict as a badge: its look and its word."""

    state: str
    label: str


@dataclass(frozen=True)
class CalibrationState:
    """What is known of a system as it is registered now.

    Attributes:
        standing: ``current``: measured with these settings; ``stale``: only with earlier ones; ``none``.
        calibration: the one that counts (its long columns are not loaded), or None.
    """

    standing: Standing
    calibration: Calibration | None = None

    @property
    def are_answers_calibrated(self) -> bool:
        """Whether lettered answers of the system, as it is now, were found readable."""
        return self._is_calibrated(self.calibration.answers_status if self.calibration else None)

    @property
    def are_boxes_calibrated(self) -> bool:
        """Whether the declared box convention, as it is now, was found right."""
        return self._is_calibrated(self.calibration.boxes_status if self.calibration else None)

    @property
    def answers_badge(self) -> CalibrationBadge:
        """The verdict on lettered answers for a table."""
        return self._badge(self.calibration.answers_status if self.calibration else None, BADGES)

    @property
    def boxes_badge(self) -> CalibrationBadge:
        """The verdict on boxes for a table."""
        return self._badge(self.calibration.boxes_status if self.calibration else None, BOXES_BADGES)

    @property
    def answers_warning(self) -> str:
        """Why the system's lettered answers cannot be relied on; "" when they can."""
        found = self.calibration
        if self.standing == "none" or found is None:
            return "is not calibrated: nobody has checked yet that its lettered answers can be read."
        if self.standing == "stale":
            return "has changed since its last calibration, so its answers are unchecked again."
        if self.are_answers_calibrated:
            return ""
        if found.answers_status == CalibrationStatus.FAILED:
            return "could not be calibrated: too many of the calls failed."
        share = round(100 * (found.readable_share or 0.0))
        return (
            f"wrote readable answers to only {share} % of the calibration's questions. Unreadable answers "
            "count as wrong, so a search would find that the format fails, not what the system sees."
        )

    @property
    def boxes_warning(self) -> str:
        """Why the system's boxes cannot be relied on; "" when they can."""
        found = self.calibration
        if self.standing == "none" or found is None:
            return "is not calibrated: nobody has checked yet that its boxes are read rightly."
        if self.standing == "stale":
            return "has changed since its last calibration, so its boxes are unchecked again."
        if self.are_boxes_calibrated:
            return ""
        if found.boxes_status == CalibrationStatus.FAILED:
            return "could not be calibrated: too many of the calls failed."
        return (
            "wrote boxes in the calibration that its declared convention does not fit. Most seed images "
            "would be baseline failures, for a reason that has nothing to do with what the system sees."
        )

    def _badge(self, status: str | None, looks: Mapping[str, str]) -> CalibrationBadge:
        if self.standing == "none" or status is None:
            return CalibrationBadge("idle", "Not calibrated")
        if self.standing == "stale":
            return CalibrationBadge("paused", "Out of date")
        return CalibrationBadge(looks[status], CalibrationStatus(status).label)

    def _is_calibrated(self, status: str | None) -> bool:
        return self.standing == "current" and status == CalibrationStatus.CALIBRATED


def calibration_of(sut: SutRecord) -> CalibrationState:
    """Return what is known of one system; one query."""
    return calibration_states([sut])[sut.pk]


def calibration_states(suts: Iterable[SutRecord]) -> dict[int, CalibrationState]:
    """Return what is known of each system, by its key; one query for all of them."""
    rows = list(suts)
    found = latest_calibrations([sut.pk for sut in rows])
    return {sut.pk: _state(sut, found.get(sut.pk, [])) for sut in rows}


def latest_calibrations(sut_ids: Sequence[int]) -> dict[int, list[Calibration]]:
    """Return the calibrations of systems, newest first, without their long columns."""
    found: dict[int, list[Calibration]] = {}
    for row in Calibration.objects.filter(sut_id__in=sut_ids).defer(*HEAVY_COLUMNS).order_by("-id"):
        found.setdefault(row.sut_id, []).append(row)
    return found


def _state(sut: SutRecord, newest_first: Sequence[Calibration]) -> CalibrationState:
    if not newest_first:
        return CalibrationState("none")
    try:
        asking = asking_of(sut).model_dump(mode="json")
    except VlmLabError:  # its page says what is wrong with the settings
        return CalibrationState("stale", newest_first[0])
    for row in newest_first:
        if sut.fingerprint and row.fingerprint == sut.fingerprint and row.asking == asking:
            return CalibrationState("current", row)
    return CalibrationState("stale", newest_first[0])


@transaction.atomic
def start_calibration(sut: SutRecord, *, by: User | None) -> Job:
    """Store the job that calibrates a system; while one waits or runs, that one is returned.

    Raises:
        VlmLabError: the system is switched off.
    """
    SutRecord.objects.select_for_update().get(pk=sut.pk)
    waiting = Job.objects.filter(
        kind=JobKind.CALIBRATE_SUT, params__sut=sut.slug, state__in=UNFINISHED
    ).first()
    if waiting is not None:
        return waiting
    if not sut.is_enabled:
        raise VlmLabError(f"{sut.name} is switched off.", hint="Switch it on, then calibrate it.")
    return start_job(JobKind.CALIBRATE_SUT, {"sut": sut.slug}, by=by, queue=Queue(sut.queue))


def find_calibration_job(job_id: str, sut: SutRecord) -> Job | None:
    """Return the calibration of an address; without one, the last, when it is at work or came to nothing."""
    jobs = Job.objects.filter(kind=JobKind.CALIBRATE_SUT, params__sut=sut.slug)
    if not job_id:
        last = jobs.order_by("-created_at").first()
        return last if last is not None and _is_news(last, sut) else None
    try:
        return jobs.filter(pk=UUID(job_id)).first()
    except ValueError:
        return None


def _is_news(job: Job, sut: SutRecord) -> bool:
    if job.state != JobState.FAILED:
        return job.state in UNFINISHED
    return not Calibration.objects.filter(sut=sut, created_at__gt=job.created_at).exists()


def do_calibration(job: Job) -> dict[str, Any]:
    """Calibrate the system of a job and return the job's result; doing it twice leaves one calibration.

    Raises:
        VlmLabError: the system is gone, off, cannot be loaded, may not spend more, or never answers.
    """
    done = Calibration.objects.filter(job=job).first()
    if done is None:
        sut = SutRecord.objects.select_related("api_key").filter(slug=job.params["sut"]).first()
        if sut is None:
            raise VlmLabError("This system is not registered any more.")

        def tell(n_answered: int) -> None:
            progress: dict[str, Any] = {"n_answered": n_answered, "n_calls": CALLS}
            if HELD in job.result:
                progress[HELD] = job.result[HELD] * (CALLS - n_answered) / CALLS
            Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(result=progress)

        done = calibrate(sut, by=job.created_by, job=job, on_answered=tell)
    return {"calibration": done.pk, "n_answered": CALLS, "n_calls": CALLS}


def calibrate(
    sut: SutRecord,
    *,
    by: User | None,
    job: Job | None = None,
    on_answered: Callable[[int], None] = lambda n_answered: None,
) -> Calibration:
    """Ask the probe pictures in this process, judge the answers and store both.

    Raises:
        VlmLabError: the system is off, cannot be loaded, may not spend more, or none of its first calls is
            answered.
    """
    # Only a worker or a shell calibrates; the pages do without what draws the pictures.
    from searches.services.calibration_rows import calibration_values
    from vlmlab.core.replies.calibration import judge_answers, judge_boxes, probe_pictures

    asking = asking_of(sut)
    pictures = probe_pictures()
    requests = _requests(pictures, asking)
    size = max(one.width for one in pictures), max(one.height for one in pictures)
    longest = max(len(request.prompt) for request in requests)
    check_may_spend(sut, calls=len(requests), prompt_chars=longest, size=size, job=job)
    loaded = load_sut(sut)
    replies = _ask(sut, loaded, requests, on_answered)
    box_replies, answer_replies = replies[: len(pictures)], replies[len(pictures) :]
    values = calibration_values(
        pictures,
        box_replies,
        answer_replies,
        boxes=judge_boxes(pictures, box_replies, asking.convention),
        answers=judge_answers(pictures, answer_replies),
    )
    with transaction.atomic():
        values |= {"fingerprint": loaded.fingerprint, "asking": asking.model_dump(mode="json")}
        if job is None:
            return Calibration.objects.create(sut=sut, created_by=by, **values)
        row, _ = Calibration.objects.get_or_create(job=job, defaults=values | {"sut": sut, "created_by": by})
        return row


def use_convention(calibration: Calibration, name: str, *, by: User | None) -> str:
    """Declare another convention for a system, one that its calibration measured.

    Returns:
        The name of the convention.

    Raises:
        VlmLabError: the calibration did not measure it, or the system has changed since.
    """
    fit = next((fit for fit in calibration.fits if fit["name"] == name), None)
    if fit is None:
        raise VlmLabError(
            "This calibration did not measure that convention.", hint="Choose one of the table."
        )
    sut = calibration.sut
    asking = asking_of(sut)
    if asking.model_dump(mode="json") != calibration.asking:
        raise VlmLabError(
            f"{sut.name} is asked otherwise now than in this calibration.", hint="Calibrate it again first."
        )
    measured = {key: fit["convention"][key] for key in ("space", "scale", "order", "bin_offset")}
    convention = BoxConvention.model_validate(asking.convention.model_dump() | measured)
    params = sut.params | {"asking": calibration.asking | {"convention": convention.model_dump(mode="json")}}
    edit_sut(
        sut,
        name=sut.name,
        params=params,
        by=by,
        description=sut.description,
        queue=Queue(sut.queue),
        api_key=sut.api_key,
    )
    return name


def _requests(pictures: "Sequence[ProbePicture]", asking: AskingParams) -> list[SutRequest]:
    where = [SutRequest(one.image_png, localization_prompt(asking, one.target)) for one in pictures]
    which = [SutRequest(one.image_png, choice_prompt(asking, one.question)) for one in pictures]
    return where + which


def _ask(
    sut: SutRecord, loaded: LoadedSut, requests: Sequence[SutRequest], on_answered: Callable[[int], None]
) -> list[SutReply]:
    """Ask batch by batch; a system whose first batches are not answered at all is left alone."""
    size = max(1, min(loaded.info.batch_size, len(requests)))
    replies: list[SutReply] = []
    for start in range(0, len(requests), size):
        asked = loaded.generate(requests[start : start + size])
        replies += asked
        with transaction.atomic():  # at once: whatever happens later, these are paid
            count_calls(sut.pk, asked)
            on_answered(len(replies))
        if len(replies) >= LEAST_CALLS_TO_GIVE_UP and all(reply.is_call_error for reply in replies):
            raise VlmLabError(
                f"The first {len(replies)} calls all failed, so the calibration was ended.",
                hint=replies[-1].call_error,
            )
    return replies
