"""Engine tests draw flat scenes and start each as a fresh process would."""

from collections import Counter

import pytest

from searches.services import crashes
from tests.searches.dying import Killed
from tests.searches.engine import FLAT, as_new_process
from vlmlab.core.suts.scripted import ScriptedSut


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT
    as_new_process()
    yield
    as_new_process()


@pytest.fixture
def asked(monkeypatch):
    """Every question that reaches a scripted system, in order."""
    requests, generate = [], ScriptedSut.generate

    def note(self, batch):
        requests.extend(batch)
        return generate(self, batch)

    monkeypatch.setattr(ScriptedSut, "generate", note)
    return requests


@pytest.fixture
def dies_at(settings, monkeypatch):
    """Let this process die at a named place, once; what was passed counts for no later test."""
    monkeypatch.setattr(crashes, "_passed", Counter())

    def die(*_signal):
        settings.CRASH_POINT = ""
        raise Killed

    def arm(place):
        settings.CRASH_POINT = place
        monkeypatch.setattr(crashes.os, "kill", die)

    return arm
