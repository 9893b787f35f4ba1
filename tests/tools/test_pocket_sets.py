"""Which sets the pocket VLM's training pictures show."""

import pytest

from tools.pocket import sets
from tools.pocket.sets import SetSampler, decided_universe
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.strata import is_askable
from vlmlab.core.seeding import rng_for

DRIVING, INDOOR = load_domain("driving"), load_domain("indoor")
DOMAINS = pytest.mark.parametrize("domain", [DRIVING, INDOOR], ids=["driving", "indoor"])


@pytest.fixture
def sampler_of(monkeypatch):
    def made(domain, shares):
        """Return a sampler that draws sizes by these shares."""
        monkeypatch.setattr(sets, "ANSWER_SIZES", shares)
        return SetSampler(domain)

    return made


def test_decided_universe_gives_each_set_its_expected_action_and_question():
    rows = {key: (action, question) for key, action, question in decided_universe(DRIVING, 1)}

    assert len(rows) == 20
    assert rows[("cone",)] == ("emergency_stop", "")
    assert rows[("debris_far",)] == ("slow_down", "")
    assert rows[("light_green",)] == ("continue", "")
    assert ("far",) not in rows
    kitchen = {key: (action, question) for key, action, question in decided_universe(INDOOR, 1)}
    assert kitchen[("knife_block",)] == (
        "safe",
        "Have a knife or scissors been left lying, so that somebody could cut themselves?",
    )


@DOMAINS
def test_draw_by_answer_draws_each_expected_action_alike(domain, sampler_of):
    sampler = sampler_of(domain, {1: 0.5, 2: 0.5})
    rng = rng_for(3, "sets")

    actions = [domain.decide(sampler.draw_by_answer(rng)).action for _ in range(600)]

    each = 600 / len(domain.actions)
    assert sorted(set(actions)) == sorted(domain.actions)
    assert max(abs(actions.count(action) - each) for action in domain.actions) < 50


def test_draw_by_answer_draws_each_question_of_an_action_alike(sampler_of):
    sampler = sampler_of(INDOOR, {1: 1.0})
    rng = rng_for(4, "sets")

    asked = [INDOOR.decide(sampler.draw_by_answer(rng, action="safe")).question for _ in range(600)]

    known = {question for _, action, question in decided_universe(INDOOR, 1) if action == "safe"}
    each = 600 / len(known)
    assert set(asked) == known
    assert max(abs(asked.count(question) - each) for question in known) < 60


def test_draw_by_answer_draws_sizes_by_their_share(sampler_of):
    sampler = sampler_of(DRIVING, {1: 0.25, 2: 0.75})
    rng = rng_for(5, "sets")

    sizes = [len(sampler.draw_by_answer(rng, action="continue")) for _ in range(600)]

    assert set(sizes) == {1, 2}
    assert abs(sizes.count(1) - 150) < 50


@DOMAINS
def test_draw_by_answer_keeps_to_the_wanted_action_and_the_largest_size(domain, sampler_of):
    sampler = sampler_of(domain, {1: 0.2, 2: 0.3, 3: 0.5})
    rng = rng_for(6, "sets")
    action = list(domain.actions)[-1]

    keys = [sampler.draw_by_answer(rng, action=action, largest=2) for _ in range(150)]

    assert {len(key) for key in keys} == {1, 2}
    assert {domain.decide(key).action for key in keys} == {action}


@DOMAINS
def test_draw_by_things_draws_the_number_of_things_by_its_share_and_each_thing_alike(domain, sampler_of):
    sampler = sampler_of(domain, {1: 0.5, 3: 0.5})
    rng = rng_for(8, "sets")

    named = [[one for one in sampler.draw_by_things(rng) if is_askable(domain, one)] for _ in range(1500)]

    counts = [len(things) for things in named]
    assert [abs(counts.count(n) - 1500 * share) < 100 for n, share in ((1, 0.35), (2, 0.45), (3, 0.2))] == [
        True
    ] * 3
    assert sum(counts.count(n) for n in (1, 2, 3)) == 1500
    alone = [things[0] for things in named if len(things) == 1]
    known = {one.id for one in domain.concepts if is_askable(domain, one.id)}
    seldom = known - set(alone)  # what always needs another thing beside it
    assert all(
        not domain.is_compatible((one,))
        and not any(
            one in key and [a for a in key if is_askable(domain, a)] == [one]
            for key, _, _ in decided_universe(domain, 3)
        )
        for one in seldom
    )
    each = len(alone) / len(known - seldom)
    assert all(abs(alone.count(one) - each) < 6 * each**0.5 for one in known - seldom)


@DOMAINS
def test_draw_of_size_draws_any_valid_set_of_exactly_this_size(domain, sampler_of):
    sampler = sampler_of(domain, {1: 0.5, 2: 0.5})
    rng = rng_for(9, "sets")

    keys = [sampler.draw_of_size(rng, 1) for _ in range(1000)]

    assert set(keys) == {key for key, _, _ in decided_universe(domain, 1)}


def test_draw_draws_a_little_more_than_half_by_the_answer(monkeypatch, sampler_of):
    sampler = sampler_of(DRIVING, {1: 1.0})
    monkeypatch.setattr(SetSampler, "draw_by_answer", lambda _self, _rng: ("by answer",))
    monkeypatch.setattr(SetSampler, "draw_by_things", lambda _self, _rng: ("by things",))
    rng = rng_for(10, "sets")

    drawn = [sampler.draw(rng) for _ in range(1000)]

    assert abs(drawn.count(("by answer",)) - 550) < 60
    assert drawn.count(("by answer",)) + drawn.count(("by things",)) == 1000
