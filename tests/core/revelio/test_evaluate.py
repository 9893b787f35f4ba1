"""From a query to a scene and a question, and from a reply to a verdict."""

import pytest

from vlmlab.core.errors import GenerationError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.evaluate import prepare_sample, read_reply, scene_seed_of
from vlmlab.core.revelio.types import Query, Verdict
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.scene import GeneratedScene
from vlmlab.core.suts.base import SutReply

DOMAIN = load_domain("driving")
CONE = Query(("cone",), 0)


class PlainSource:
    """Describes scenes without drawing them."""

    identity = "plain"

    def generate(self, concepts, *, seed):
        return GeneratedScene(sample_driving(concepts, seed=seed), b"png", "0" * 64, (), {})


class NoSource:
    """Never shows what it should."""

    identity = "none"

    def generate(self, concepts, *, seed):
        raise GenerationError("The cone stays hidden.", hint="Try another set.")


def prepared(query=CONE, *, source=None, ask_reason=False, run_seed=1):
    return prepare_sample(
        query,
        domain=DOMAIN,
        source=source or PlainSource(),
        config=RevelioConfig(ask_reason=ask_reason),
        run_seed=run_seed,
    )


def letter_of(sample, action):
    return next(letter for letter, one in sample.question.actions.items() if one == action)


def answer(sample, action):
    return read_reply(sample, SutReply(letter_of(sample, action)), domain=DOMAIN)


def test_the_expected_action_passes():
    sample = prepared()

    record = answer(sample, "emergency_stop")

    assert (sample.expected_action, record.verdict, record.direction) == (
        "emergency_stop",
        Verdict.PASS,
        "",
    )
    assert record.letter == sample.question.expected_letter
    assert not record.is_invalid


@pytest.mark.parametrize(
    ("action", "direction"), [("continue", "under-reaction"), ("slow_down", "insufficient")]
)
def test_another_action_fails_in_its_direction(action, direction):
    record = answer(prepared(), action)

    assert (record.verdict, record.answered_action, record.direction) == (Verdict.FAIL, action, direction)


def test_driving_on_towards_a_cone_collides():
    collision = answer(prepared(), "continue").collision

    assert collision is not None
    assert collision.will_collide is True


def test_an_invalid_answer_fails_and_is_kept_apart():
    record = read_reply(prepared(), SutReply("I cannot tell."), domain=DOMAIN)

    assert (record.verdict, record.answer_status, record.is_invalid) == (Verdict.FAIL, "invalid", True)
    assert (record.letter, record.answered_action, record.direction, record.collision) == ("", "", "", None)


def test_a_failed_call_is_no_answer():
    record = read_reply(prepared(), SutReply("", call_error="The server is away."), domain=DOMAIN)

    assert (record.verdict, record.answer_status, record.is_invalid) == (Verdict.CALL_ERROR, "", False)


def test_a_scene_that_cannot_be_made_is_recorded_and_incompatible():
    sample = prepared(source=NoSource())

    assert sample.scene is None
    assert sample.generation_error == "The cone stays hidden. Try another set."
    assert read_reply(sample, None, domain=DOMAIN).verdict is Verdict.INCOMPATIBLE


def test_a_scene_without_a_reply_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="reply must be given"):
        read_reply(prepared(), None, domain=DOMAIN)


def test_the_reason_is_read_only_when_it_was_asked():
    text = "{}\nThe cone is close."
    asked, silent = prepared(ask_reason=True), prepared()

    first = read_reply(asked, SutReply(text.format(letter_of(asked, "slow_down"))), domain=DOMAIN)
    second = read_reply(silent, SutReply(text.format(letter_of(silent, "slow_down"))), domain=DOMAIN)

    assert first.reason_text == "The cone is close."
    assert second.reason_text == ""
    assert asked.question.prompt != silent.question.prompt


def test_scene_seeds_differ_between_sets_numbers_and_runs():
    queries = [CONE, Query(("cone",), 1), Query(("cyclist",), 0)]
    seeds = [scene_seed_of(query, run_seed=run_seed) for query in queries for run_seed in (1, 2)]

    assert len(set(seeds)) == 6
    assert prepared().scene_seed == seeds[0]


def test_options_are_shuffled_by_the_sample():
    orders = {tuple(prepared(Query(("cone",), number)).question.actions.values()) for number in range(30)}

    assert len(orders) == 6


def test_the_same_sample_is_prepared_the_same():
    assert prepared() == prepared()
