"""Scenes from image-generating models: attempts, refusals, second look, waiting and giving up."""

import pytest

from tests.core.scenes.render.image_asking import DRIVING, SET, prompts
from tests.peers import openai_images as openai
from tests.peers.openai_chat import WRONG_KEY
from tests.peers.pictures import bomb, drawn
from vlmlab.core.errors import DrawingStoppedError, GenerationError, SourceAwayError
from vlmlab.core.images import png_size
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.image_api import Tally
from vlmlab.core.scenes.render.image_api_calls import REST_S


def test_a_refusal_is_tried_again_with_other_words_and_then_a_generation_error_with_the_reason(
    source_at, peer
):
    source = source_at(max_attempts=3)
    peer.next(openai.BLOCKED, openai.BLOCKED, openai.REJECTED)

    with pytest.raises(GenerationError) as error:
        source.generate(SET, seed=1)

    assert not isinstance(error.value, SourceAwayError)
    assert "safety_violations=[violence]”) (2x)" in error.value.message
    assert (error.value.n_refusals, error.value.cost_usd) == (3, 0.0)
    assert source.tally == Tally(n_refusals=3)
    assert len(set(prompts(peer))) == 3


def test_a_refusal_may_be_followed_by_a_picture(source_at, peer):
    source = source_at()
    peer.next(openai.BLOCKED)

    scene = source.generate(SET, seed=1)

    assert (scene.description.attempt, source.tally) == (1, Tally(n_pictures=1, n_refusals=1, cost_usd=0.04))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no picture", "not a readable image"),
        (bomb(), "million"),
        (drawn("x", (40, 30))[:60], "damaged"),
        (b"", "no picture"),
    ],
)
def test_an_unusable_picture_is_paid_and_another_is_asked_for(source_at, peer, content, words):
    source = source_at(max_attempts=2)
    source.generate(SET, seed=9)  # the settings work
    peer.next(*[openai.picture_of(content)] * 2)

    with pytest.raises(GenerationError) as error:
        source.generate(SET, seed=1)

    assert words in error.value.message
    assert source.tally.n_unfit == 2


def test_what_a_second_system_does_not_see_is_asked_for_again_and_then_listed(source_at, peer):
    looked_at = []

    def presence(png, domain, concepts):
        looked_at.append((png_size(png), domain, concepts))
        return ("pedestrian",) if len(looked_at) < 3 else ()

    source = source_at(context=BackendContext(presence=presence), max_attempts=2)
    with pytest.raises(GenerationError) as error:
        source.generate(SET, seed=1)
    scene = source.generate(SET, seed=2)

    assert looked_at[0] == ((64, 48), DRIVING, SET)
    label = DRIVING.concept("pedestrian").label
    assert f"the picture does not show {label} (2x)" in error.value.message
    assert (error.value.cost_usd, scene.cost_usd) == (0.08, 0.04)
    assert source.tally == Tally(n_pictures=1, n_unfit=2, cost_usd=pytest.approx(0.12))


def test_what_was_paid_before_the_second_system_went_away_is_not_lost(source_at):
    def presence(_png, _domain, _concepts):
        raise SourceAwayError("It is switched off.")

    with pytest.raises(SourceAwayError) as error:
        source_at(context=BackendContext(presence=presence)).generate(SET, seed=1)

    assert (error.value.message, error.value.cost_usd) == ("It is switched off.", 0.04)


def test_a_lower_threshold_takes_a_picture_that_shows_a_part_and_says_what_it_lacks(source_at):
    context = BackendContext(presence=lambda _png, _domain, _concepts: ("pedestrian",))

    scene = source_at(context=context, presence_threshold=0.5).generate(SET, seed=1)

    assert scene.provenance["not_seen"] == "pedestrian"


def test_pictures_that_were_looked_at_are_not_those_that_nobody_looked_at(source_at):
    def presence(_png, _domain, _concepts):
        return ()

    plain = source_at().identity
    looked_at = source_at(context=BackendContext(presence=presence)).identity
    presence.identity = "pocket@3"
    named = source_at(context=BackendContext(presence=presence)).identity

    assert len({plain, looked_at, named}) == 3
    assert named.endswith("check=pocket@3")


def test_a_429_is_waited_for_and_asked_again(source_at, peer, clock):
    peer.next(openai.TOO_MANY, openai.BROKEN)

    scene = source_at().generate(SET, seed=1)

    assert (len(peer.requests), scene.cost_usd) == (3, 0.04)
    assert sum(clock.waits) >= 2.0


def test_waiting_for_another_try_gives_signs_of_life(source_at, peer):
    signs = []
    peer.next(openai.TOO_MANY)

    source_at(context=BackendContext(on_progress=lambda: signs.append(1))).generate(SET, seed=1)

    assert len(signs) >= 4  # two tries, and two seconds between them


@pytest.mark.parametrize("behaviour", [WRONG_KEY, openai.WRONG_SIZE, openai.LINK, openai.EMPTY])
def test_a_source_that_is_set_up_wrongly_says_nothing_about_the_set(source_at, peer, behaviour):
    peer.next(behaviour)

    with pytest.raises(SourceAwayError):
        source_at().generate(SET, seed=1)

    assert len(peer.requests) == 1


def test_a_request_refused_after_others_worked_is_laid_at_the_prompts_door(source_at, peer):
    source = source_at(max_attempts=1)
    source.generate(SET, seed=1)
    peer.next(openai.WRONG_SIZE)

    with pytest.raises(GenerationError) as error:
        source.generate(SET, seed=2)

    assert "The one attempt did not give a picture" in error.value.message


def test_a_server_that_is_gone_is_left_alone_for_a_while_and_then_asked_again(source_at, peer, clock):
    source = source_at()
    for seed in range(3):
        peer.next(*[openai.BROKEN] * 6)
        with pytest.raises(SourceAwayError):
            source.generate(SET, seed=seed)
    asked = len(peer.requests)

    with pytest.raises(SourceAwayError):
        source.generate(SET, seed=4)
    asked_while_resting = len(peer.requests) - asked
    clock.now += REST_S
    scene = source.generate(SET, seed=4)

    assert (asked_while_resting, scene.cost_usd) == (0, 0.04)


def test_an_order_to_stop_sends_nothing(source_at, peer):
    source = source_at(context=BackendContext(should_stop=lambda: True))

    with pytest.raises(DrawingStoppedError) as error:
        source.generate(SET, seed=1)

    assert ("asked to stop" in error.value.message, len(peer.requests)) == (True, 0)
