"""Fixtures that several folders of tests use."""

from dataclasses import replace
from itertools import count

import pytest

from searches.models import Campaign, Envelope
from searches.services import envelope_wishes, follow_ups
from tests.searches.probing import pictures
from vlmlab.core.seeding import derive_seed
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


@pytest.fixture(autouse=True)
def same_follow_up_seeds(monkeypatch):
    """Follow-ups draw the same scenes at any time and on every database.

    In the lab their seeds come from the clock and from numbers of rows, which PostgreSQL never gives again.
    """

    cards = count()

    def card_seed(_envelope: Envelope) -> int:
        return derive_seed(1, "decision card", next(cards))

    def run_seed(wish: follow_ups.FollowUpWish, campaign: Campaign) -> int:
        if wish.run_seed is not None:
            return wish.run_seed
        followed = wish.follows.runs.order_by("pk").values_list("run_seed", flat=True) if wish.follows else []
        place = Campaign.objects.filter(pk__lte=campaign.pk).count()
        return derive_seed(next(iter(followed), 0), "follow-up", place)

    monkeypatch.setattr(envelope_wishes, "_fresh_seed", card_seed)
    monkeypatch.setattr(follow_ups, "_run_seed", run_seed)
