"""Rendering of training pictures: which sets, and what happens where nothing can be shown."""

import argparse

import numpy as np
import pytest

from tools.pocket.modes import failure_rate
from tools.pocket.render import DRAWS, MOST_PASSED_OVER, positive, render_shard
from tools.pocket.sets import SetSampler
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import encode_png
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.scenes.scene import Camera, GeneratedScene, SceneDescription
from vlmlab.core.scenes.strata import is_askable
from vlmlab.core.seeding import rng_for
from vlmlab.core.suts.base import SutReply

PNG = encode_png(np.zeros((24, 32, 3), np.uint8))
DRIVING = load_domain("driving")
CAMERA = Camera((0.0, 0.0, 0.0), (0.0, 1.0, 0.0))


class Source:
    """Shows every set but the first ``fails`` as a black picture."""

    identity = "black"

    def __init__(self, *, fails=0):
        self.fails, self.seeds = fails, []

    def generate(self, concepts, *, seed):
        self.seeds.append(seed)
        if len(self.seeds) <= self.fails:
            raise VlmLabError("There is no room.")
        description = SceneDescription("driving", tuple(concepts), seed, 0, CAMERA, {}, {}, ())
        return GeneratedScene(description, PNG, "", (), {})


def shard_of(source, **named):
    return render_shard(source, SetSampler(DRIVING), purpose="tests", number=0, count=4, **named)


def test_a_shard_has_the_pictures_that_were_asked_for_whatever_was_passed_over():
    pictures, records = shard_of(Source(fails=3))

    assert pictures.shape == (4, 24, 32, 3)
    assert len({record.scene_seed for record in records}) == 4


def test_rendering_ends_where_one_set_after_the_other_cannot_be_shown():
    source = Source(fails=1000)

    with pytest.raises(
        SystemExit, match=f"{MOST_PASSED_OVER} sets in a row cannot be shown; the last: There"
    ):
        shard_of(source)

    assert len(source.seeds) == MOST_PASSED_OVER


def test_sets_with_several_things_have_at_least_two_that_may_be_asked_for():
    rng, sampler = rng_for(1, "several"), SetSampler(DRIVING)

    keys = [DRAWS["several"](sampler, rng, place) for place in range(200)]

    assert all(sum(is_askable(DRIVING, one) for one in key) >= 2 for key in keys)
    assert len(set(keys)) > 100


@pytest.mark.parametrize("text", ["0", "-3", "1.5", "", "four"])
def test_a_count_on_the_command_line_is_a_whole_number_of_at_least_one(text):
    with pytest.raises(argparse.ArgumentTypeError, match="a whole number of at least 1 is needed"):
        positive(text)


def test_a_count_is_read():
    assert positive("64") == 64


class Answering:
    """Answers every request with one letter, but every third with a question mark."""

    def __init__(self, letter="A", *, call_error=""):
        self.letter, self.call_error = letter, call_error
        self.requests = []

    def generate(self, requests):
        self.requests = requests
        if self.call_error:
            return [SutReply("", call_error=self.call_error) for _ in requests]
        return [SutReply(self.letter if number % 3 else "?") for number, _ in enumerate(requests)]


def test_a_failure_rate_counts_wrong_letters_and_unread_replies():
    sut, source = Answering(), Source()

    share = failure_rate(sut, DRIVING, ("cone",), source=source, scenes=30)

    rights = [ask_question(DRIVING, ("cone",), seed=seed).expected_letter for seed in source.seeds]
    failed = [number % 3 == 0 or letter != "A" for number, letter in enumerate(rights)]
    assert (share.right, share.asked) == (sum(failed), 30)
    assert 10 < sum(failed) < 30


def test_a_failed_call_is_no_failure_of_the_model():
    with pytest.raises(SystemExit, match="A call failed: no memory"):
        failure_rate(Answering(call_error="no memory"), DRIVING, ("cone",), source=Source(), scenes=2)


def test_a_set_without_scenes_has_no_failure_rate():
    with pytest.raises(SystemExit, match="No scene of cone can be shown: There is no room"):
        failure_rate(Answering(), DRIVING, ("cone",), source=Source(fails=99), scenes=2)
