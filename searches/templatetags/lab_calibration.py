"""Template tags that say whether a system is calibrated."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString

from searches.enums import CalibrationStatus
from searches.models import Calibration, SutRecord
from searches.services.calibrations import (
    BADGES,
    BOXES_BADGES,
    CALLS,
    CalibrationState,
    calibration_states,
)
from vlmlab.core.replies.probe_pictures import PROBE_SIZE
from vlmlab.web import evidence

register = template.Library()


@dataclass(frozen=True)
class CalibrationWarning:
    """Why the answers of one system cannot be relied on, and where to look."""

    text: str
    href: str
    label: str


class HasSut(Protocol):
    """A line about one system."""

    @property
    def sut(self) -> SutRecord:
        """The system."""
        ...


@register.simple_tag
def calibration_notes() -> dict[int, str]:
    """Return a few words for each system whose lettered answers are not known to be readable, by its key."""
    suts = list(SutRecord.objects.filter(is_enabled=True))
    states = calibration_states(suts)
    return {
        sut.pk: f"Answers: {states[sut.pk].answers_badge.label.lower()}."
        for sut in suts
        if states[sut.pk].answers_warning
    }


@register.simple_tag
def box_calibration_notes() -> dict[int, str]:
    """Return a few words for each system whose boxes are not known to be read rightly, by its key."""
    suts = list(SutRecord.objects.filter(is_enabled=True))
    states = calibration_states(suts)
    return {
        sut.pk: f"Boxes: {states[sut.pk].boxes_badge.label.lower()}."
        for sut in suts
        if states[sut.pk].boxes_warning
    }


@register.simple_tag
def probe_size() -> int:
    """Return how many pictures a calibration shows."""
    return PROBE_SIZE


@register.simple_tag
def probe_words() -> str:
    """Return what a calibration does and how many calls that takes."""
    return (
        f"A calibration shows the system {PROBE_SIZE} small pictures and asks twice for each: where a "
        f"rectangle is, and which colour it has. That takes {CALLS} calls."
    )


@register.simple_tag
def answers_badge(calibration: Calibration) -> SafeString:
    """Draw the verdict of a calibration on lettered answers."""
    status = CalibrationStatus(calibration.answers_status)
    return evidence.badge_html(BADGES[status], status.label)


@register.simple_tag
def boxes_badge(calibration: Calibration) -> SafeString:
    """Draw the verdict of a calibration on boxes."""
    status = CalibrationStatus(calibration.boxes_status)
    return evidence.badge_html(BOXES_BADGES[status], status.label)


@register.inclusion_tag("searches/_calibration_warnings.html")
def calibration_warnings(of: "Iterable[HasSut] | SutRecord") -> dict[str, Any]:
    """Warn of systems whose lettered answers are not known to be readable; nothing when all are.

    Args:
        of: a system, or lines that have one.
    """
    chosen = [of] if isinstance(of, SutRecord) else [line.sut for line in of]
    states = calibration_states(chosen) if chosen else {}
    told = [(sut, states[sut.pk], states[sut.pk].answers_warning) for sut in chosen]
    return {"warnings": [_warning(sut, state, why) for sut, state, why in told if why]}


@register.inclusion_tag("searches/_calibration_warnings.html")
def box_calibration_warnings(of: "Iterable[HasSut]") -> dict[str, Any]:
    """Warn of systems whose boxes are not known to be read rightly; nothing when all are."""
    chosen = [line.sut for line in of]
    states = calibration_states(chosen) if chosen else {}
    told = [(sut, states[sut.pk], states[sut.pk].boxes_warning) for sut in chosen]
    return {"warnings": [_warning(sut, state, why) for sut, state, why in told if why]}


def _warning(sut: SutRecord, state: CalibrationState, why: str) -> CalibrationWarning:
    text = f"{sut.name} {why}"
    if state.standing == "current" and state.calibration is not None:
        href = reverse("sut_calibration", args=[sut.slug, state.calibration.pk])
        return CalibrationWarning(text, href, "Look at its calibration")
    return CalibrationWarning(text, reverse("sut_calibrations", args=[sut.slug]), "Calibrate it")
