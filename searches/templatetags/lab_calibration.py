"""Template tags that say whether a system is calibrated."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString

from searches.enums import CalibrationStatus
from searches.models import SutRecord
from searches.services.calibrations import BADGES, CalibrationState, calibration_states
from vlmlab.web import evidence

register = template.Library()


@dataclass(frozen=True)
class CalibrationWarning:
    """Why the answers of one system cannot be relied on, and where to look."""

    text: str
    href: str
    label: str


@register.simple_tag
def calibration_badge(status: str) -> SafeString:
    """Draw the verdict of a calibration on boxes or on answers."""
    return evidence.badge_html(BADGES.get(status, "idle"), CalibrationStatus(status).label)


@register.inclusion_tag("searches/_calibration_warnings.html")
def calibration_warnings(suts: Iterable[SutRecord] | SutRecord | None) -> dict[str, Any]:
    """Warn of systems whose lettered answers are not known to be readable; nothing when all are."""
    chosen = [suts] if isinstance(suts, SutRecord) else list(suts or ())
    states = calibration_states(chosen) if chosen else {}
    warnings = [_warning(sut, states[sut.pk]) for sut in chosen if states[sut.pk].answers_warning]
    return {"warnings": warnings}


def _warning(sut: SutRecord, state: CalibrationState) -> CalibrationWarning:
    text = f"{sut.name} {state.answers_warning}"
    if state.standing == "current" and state.calibration is not None:
        href = reverse("sut_calibration", args=[sut.slug, state.calibration.pk])
        return CalibrationWarning(text, href, "Look at its calibration")
    return CalibrationWarning(text, reverse("sut_calibrations", args=[sut.slug]), "Calibrate it")
