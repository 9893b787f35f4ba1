"""Named places where a test may kill this process, to prove that nothing is lost there."""

import os
import signal
from collections import Counter

from django.conf import settings

_passed: Counter[str] = Counter()

CRASH_POINTS = (
    "before_claim",
    "after_claim",
    "after_replay",
    "after_ask",
    "after_scenes",
    "after_answers",
    "after_blobs",
    "inside_commit_first",
    "inside_commit_samples",
    "inside_commit_last",
    "after_commit",
    "before_ending",
    "before_release",
    "after_release",
)


def crash_point(name: str) -> None:
    """Die like ``kill -9`` when the setting ``CRASH_POINT`` is ``name`` or ``name@2`` (the second pass)."""
    wanted = settings.CRASH_POINT
    if not wanted:
        return
    place, _, number = wanted.partition("@")
    if place != name:
        return
    _passed[name] += 1
    if _passed[name] == int(number or 1):
        os.kill(os.getpid(), signal.SIGKILL)
