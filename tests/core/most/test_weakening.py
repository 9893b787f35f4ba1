"""Plans that weaken a failing strategy: what they ask, and what they promise of the result."""

from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.most.weakening import RunningPlan, along_ray, fewest_operators, lowest_severities


def run(plan):
    """Play a plan whose questions are answered at once; return the result and what was asked."""
    asked = []
    running = RunningPlan(plan, is_known=lambda strategy: strategy in asked or not any(strategy))
    while (wanted := running.wanted()) is not None:
        asked.append(wanted)
    return running.result, asked


def scaled(share):
    return (share,)


def test_along_a_ray_the_bracket_is_halved():
    result, asked = run(along_ray(scaled, whole=(1.0,), fails=lambda s: s[0] >= 0.3, steps=4))

    assert asked == [(0.5,), (0.25,), (0.375,), (0.3125,)]
    assert result == (0.3125,)


def test_along_a_ray_nothing_weaker_may_fail():
    result, asked = run(along_ray(scaled, whole=(1.0,), fails=lambda s: s[0] == 1.0, steps=3))

    assert asked == [(0.5,), (0.75,), (0.875,)]
    assert result == (1.0,)


def test_no_steps_ask_nothing():
    assert run(along_ray(scaled, whole=(1.0,), fails=lambda s: True, steps=0)) == ((1.0,), [])


@given(st.floats(0.001, 1.0), st.integers(0, 12))
def test_along_a_ray_the_result_is_as_close_as_the_steps_allow(least, steps):
    result, asked = run(along_ray(scaled, whole=(1.0,), fails=lambda s: s[0] >= least, steps=steps))

    assert len(asked) == steps
    assert least <= result[0] <= least + 2.0**-steps


def test_operators_that_are_not_needed_go():
    strategy = (0.3, 0.05, 0.2, 0.4)

    result, asked = run(fewest_operators(strategy, fails=lambda s: s[2] > 0.0))

    assert result == (0.0, 0.0, 0.2, 0.0)
    assert asked == [(0.3, 0.0, 0.0, 0.4), (0.0, 0.05, 0.2, 0.0), (0.0, 0.0, 0.2, 0.0)]


def test_two_operators_that_fail_only_together_stay():
    strategy = (0.1,) * 8

    result, _ = run(fewest_operators(strategy, fails=lambda s: s[1] > 0.0 and s[6] > 0.0))

    assert result == (0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0)


def test_a_single_operator_asks_nothing():
    assert run(fewest_operators((0.0, 0.7), fails=lambda s: True)) == ((0.0, 0.7), [])


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2]), min_size=2, max_size=12), st.integers(0), st.booleans())
def test_no_operator_can_be_left_out_of_the_result(severities, bits, is_monotone):
    strategy = tuple(severities)
    acting = {index for index, severity in enumerate(strategy) if severity}
    needed = {index for index in acting if bits >> index & 1}

    def fails(weaker):
        left = {index for index, severity in enumerate(weaker) if severity}
        return (needed <= left) if is_monotone else (needed <= left and len(left - needed) % 3 != 1)

    if not any(strategy) or not fails(strategy):
        return
    result, asked = run(fewest_operators(strategy, fails=fails))

    assert fails(result)
    kept = [index for index, severity in enumerate(result) if severity]
    for index in kept if len(kept) > 1 else []:
        assert not fails(tuple(0.0 if at == index else severity for at, severity in enumerate(result)))
    assert len(asked) == len(set(asked))
    if is_monotone and needed:
        assert set(kept) == needed


def test_severities_are_lowered_one_after_the_other_the_strongest_first():
    def lowered(strategy, index, share):
        return tuple(s * share if at == index else s for at, s in enumerate(strategy))

    def fails(strategy):
        return strategy[0] >= 0.125 and strategy[1] >= 0.75

    result, asked = run(lowest_severities((0.5, 1.0), lowered=lowered, fails=fails, steps=2))

    assert asked == [(0.5, 0.5), (0.5, 0.75), (0.25, 0.75), (0.125, 0.75)]
    assert result == (0.125, 0.75)


def test_a_plan_waits_until_what_it_wants_is_known():
    known = set()
    running = RunningPlan(
        along_ray(scaled, whole=(1.0,), fails=lambda s: True, steps=2), is_known=known.__contains__
    )

    first, again = running.wanted(), running.wanted()
    known.add((0.5,))

    assert first == again == (0.5,)
    assert running.wanted() == (0.25,)
    assert running.result is None
