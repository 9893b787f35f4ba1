"""Engine tests draw flat scenes and start each as a fresh process would."""

import pytest

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
