"""Checks a registered system from a shell: does it load, answer, answer readably, and how fast."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from searches.enums import CalibrationStatus
from searches.models import Calibration, SutRecord
from searches.services.calibrations import calibrate
from searches.services.call_counts import count_calls
from searches.services.spending import check_may_spend
from searches.services.suts import asking_of, load_sut
from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.asking import AskingParams, choice_prompt
from vlmlab.core.suts.base import SutReply, SutRequest

Clock = Callable[[], float]
MOST_TIMED_CALLS = 20


@dataclass(frozen=True)
class Timing:
    """How fast a system answers one call after the other.

    Attributes:
        n_calls: calls that were answered.
        n_call_errors: calls that were not; they are outside the rest.
        median_ms: median wall time of an answer.
        letters_per_second: characters of all answers over their wall time.
    """

    n_calls: int
    n_call_errors: int
    median_ms: float | None
    letters_per_second: float | None


@dataclass(frozen=True)
class Verdicts:
    """What a calibration found, for a report."""

    number: int
    answers: str
    answers_sentence: str
    boxes: str
    boxes_sentence: str
    median_iou: float | None
    readable_share: float | None
    right_share: float | None
    n_call_errors: int
    cost_usd: float


@dataclass(frozen=True)
class CheckReport:
    """What a check found.

    Attributes:
        load_seconds: until the system was ready, connections not included.
        fingerprint: identity as it was loaded.
        answer: raw text of the first answer.
        call_error: why the first call was not answered, "" when it was.
        served_model: the model that answered, as the provider reports it.
        calibration, timing: None when left out or not reached.
    """

    slug: str
    kind: str
    load_seconds: float
    fingerprint: str
    answer: str
    call_error: str
    served_model: str
    cost_usd: float
    calibration: Verdicts | None = None
    timing: Timing | None = None

    @property
    def is_good(self) -> bool:
        """Whether it answers, and readably if that was measured."""
        is_readable = self.calibration is None or self.calibration.answers == CalibrationStatus.CALIBRATED
        return not self.call_error and is_readable

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"is_good": self.is_good}


def check_sut(
    sut: SutRecord, *, calibrates: bool = True, timed_calls: int = 5, clock: Clock = time.perf_counter
) -> CheckReport:
    """Load a system, ask it once, calibrate it and time it, in this process.

    Raises:
        ConfigError: ``timed_calls`` is out of range.
        VlmLabError: it is off, cannot be loaded, or may not spend more.
    """
    if not 0 <= timed_calls <= MOST_TIMED_CALLS:
        raise ConfigError(f"Time 0 to {MOST_TIMED_CALLS} calls, not {timed_calls}.", field="calls")
    requests = _questions(asking_of(sut))
    check_may_spend(sut, calls=1 + timed_calls, prompt_chars=len(requests[0].prompt))
    started = clock()
    loaded = load_sut(sut)
    load_seconds = clock() - started
    [first] = loaded.generate(requests[:1])
    count_calls(sut.pk, [first])
    calibration, timing, replies = None, None, [first]
    if not first.is_call_error:
        calibration = calibrate(sut, by=None) if calibrates else None
        timed = [loaded.generate([request])[0] for request in requests[1 : 1 + timed_calls]]
        count_calls(sut.pk, timed)
        timing = timing_of(timed) if timed else None
        replies += timed
    return CheckReport(
        slug=sut.slug,
        kind=sut.kind,
        load_seconds=load_seconds,
        fingerprint=loaded.info.fingerprint,
        answer=first.text,
        call_error=first.call_error,
        served_model=first.served_model,
        cost_usd=sum(reply.cost_usd for reply in replies) + (calibration.cost_usd if calibration else 0.0),
        calibration=verdicts_of(calibration) if calibration else None,
        timing=timing,
    )


def timing_of(replies: list[SutReply]) -> Timing:
    """Return how fast answers came; call errors are left out."""
    answered = [reply for reply in replies if not reply.is_call_error]
    seconds = sum(reply.latency_ms for reply in answered) / 1000
    return Timing(
        n_calls=len(answered),
        n_call_errors=len(replies) - len(answered),
        median_ms=median(reply.latency_ms for reply in answered) if answered else None,
        letters_per_second=sum(len(reply.text) for reply in answered) / seconds if seconds > 0 else None,
    )


def verdicts_of(calibration: Calibration) -> Verdicts:
    """Return what a calibration found."""
    return Verdicts(
        number=calibration.pk,
        answers=str(calibration.answers_status),
        answers_sentence=calibration.answers_sentence,
        boxes=str(calibration.boxes_status),
        boxes_sentence=calibration.boxes_sentence,
        median_iou=calibration.median_iou,
        readable_share=calibration.readable_share,
        right_share=calibration.right_share,
        n_call_errors=calibration.n_call_errors,
        cost_usd=calibration.cost_usd,
    )


def _questions(asking: AskingParams) -> list[SutRequest]:
    from vlmlab.core.replies.calibration import probe_pictures  # draws; no page needs it

    return [SutRequest(one.image_png, choice_prompt(asking, one.question)) for one in probe_pictures() * 2]
