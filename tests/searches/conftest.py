"""Fixtures that several folders of tests use."""

from dataclasses import replace

import pytest

from tests.searches.probing import pictures
from vlmlab.core.suts.scripted import ScriptedSut


@pytest.fixture
def draw_once(monkeypatch):
    """The probe pictures are the same every time; drawing them once is enough for all tests."""
    monkeypatch.setattr("vlmlab.core.replies.calibration.probe_pictures", pictures)
    monkeypatch.setattr("vlmlab.core.replies.probe_pictures.probe_pictures", pictures)


@pytest.fixture
def unstorable_replies(monkeypatch):
    """Scripted systems write NUL and half a character for ``~~``: their settings could not hold these."""
    generate = ScriptedSut.generate

    def write(sut, requests):
        return [
            replace(reply, text=reply.text.replace("~~", "\x00\ud800")) for reply in generate(sut, requests)
        ]

    monkeypatch.setattr(ScriptedSut, "generate", write)
