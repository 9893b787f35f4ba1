"""Which scenes are reviewed, when a scene is settled, and what is left of the failures."""

import numpy as np
import pytest

from vlmlab.core.studies.scene_reviews import (
    ReviewDesign,
    ReviewedScene,
    draw_scenes,
    flag_agreement,
    kind_counts,
    needs_third,
    review_result,
    settled_kinds,
)


def test_failures_and_passes_are_drawn_with_known_probabilities():
    design = ReviewDesign(n_failures=10, n_passes=5, seed=4)

    drawn = draw_scenes(range(40), range(100, 120), design)

    assert (
        sorted((one.is_failure, one.probability) for one in drawn)
        == [(False, 0.25)] * 5 + [(True, 0.25)] * 10
    )
    assert len({one.key for one in drawn}) == 15
    assert all((one.key < 100) == one.is_failure for one in drawn)


def test_where_there_are_fewer_all_are_drawn():
    drawn = draw_scenes([1, 2], [], ReviewDesign(n_failures=10, n_passes=5))

    assert sorted((one.key, one.probability) for one in drawn) == [(1, 1.0), (2, 1.0)]


def test_the_draw_depends_on_the_seed_alone():
    first, again, other = (
        draw_scenes(keys, (), ReviewDesign(n_failures=10, seed=seed))
        for keys, seed in ((list(range(50)), 1), (list(range(50))[::-1], 1), (list(range(50)), 2))
    )

    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("reviews", "settled", "third"),
    [
        ([], None, False),
        ([["none"]], None, False),
        ([["none"], ["none"]], ("none",), False),
        ([["noise"], ["question"]], ("noise", "question"), False),
        ([["none"], ["noise"]], None, True),
        ([["none"], ["noise"], ["none"]], ("none",), False),
        ([["none"], ["noise"], ["answer_wrong"]], ("answer_wrong", "noise"), False),
    ],
)
def test_two_who_agree_settle_a_scene_and_a_third_decides_between_two_who_do_not(reviews, settled, third):
    assert settled_kinds(reviews) == settled
    assert needs_third(reviews) is third


def test_one_reviewer_settles_where_the_design_wants_one():
    assert settled_kinds([["noise"]], needed=1) == ("noise",)


def scenes(**counts):
    """Return scenes by kind: ``fails_noise=3`` are three failures flagged as noise."""
    return [
        ReviewedScene((name.partition("_")[2],), name.startswith("fails"), 0.5)
        for name, count in counts.items()
        for _ in range(count)
    ]


def test_the_waterfall_is_scaled_up_to_the_frame():
    reviewed = scenes(fails_none=6, fails_noise=3, fails_question=1, passes_none=4, passes_noise=1)

    found = review_result(reviewed, n_frame_failures=100, n_frame_passes=300)

    assert [(step.name, step.estimate) for step in found.waterfall] == [
        ("observed", 100.0),
        ("artefacts", pytest.approx(30.0)),
        ("ambiguous", pytest.approx(10.0)),
        ("real", pytest.approx(60.0)),
    ]
    assert found.flagged == pytest.approx((40 + 60) / 400)
    assert found.adjusted_rate == pytest.approx(60 / (60 + 240))


def test_the_intervals_are_those_of_a_slow_version():
    reviewed = scenes(fails_none=14, fails_noise=4, fails_question=2, passes_none=17, passes_noise=3)
    rng = np.random.default_rng(1)
    rates = []
    for _ in range(6_000):
        fails = (rng.random(20) < 14 / 20).mean() * 100
        passes = (rng.random(20) < 17 / 20).mean() * 300
        rates.append(fails / (fails + passes))
    low, high = np.quantile(rates, [0.025, 0.975])

    found = review_result(reviewed, n_frame_failures=100, n_frame_passes=300)

    assert found.adjusted_interval.low == pytest.approx(low, abs=0.02)
    assert found.adjusted_interval.high == pytest.approx(high, abs=0.02)
    real = found.waterfall[3]
    assert real.interval[0] < real.estimate < real.interval[1]


def test_flagging_failures_alone_would_make_the_rate_too_low_and_weights_do_not():
    rng = np.random.default_rng(2)
    estimates = []
    for _ in range(200):
        fails = [ReviewedScene(("noise",) if rng.random() < 0.3 else ("none",), True, 1.0) for _ in range(60)]
        passes = [
            ReviewedScene(("noise",) if rng.random() < 0.3 else ("none",), False, 0.1) for _ in range(30)
        ]
        found = review_result(fails + passes, n_frame_failures=60, n_frame_passes=300)
        estimates.append(found.adjusted_rate)

    assert np.mean(estimates) == pytest.approx(60 / 360, abs=0.01)


def test_a_stratum_of_which_nothing_is_settled_has_no_result():
    assert review_result(scenes(fails_none=3), n_frame_failures=9, n_frame_passes=4) is None
    assert review_result(scenes(fails_none=3), n_frame_failures=9, n_frame_passes=0) is not None


def test_where_every_scene_is_flagged_no_rate_is_left():
    found = review_result(scenes(fails_noise=3), n_frame_failures=3, n_frame_passes=0)

    assert (found.adjusted_rate, found.adjusted_interval, found.flagged) == (None, None, 1.0)


def test_agreement_is_counted_on_any_issue_and_on_each_flag():
    found = {
        one.kind: one
        for one in flag_agreement([[["none"], ["none"]], [["noise"], ["question"]], [["noise"], ["none"]]])
    }

    assert list(found) == ["issue", "noise", "answer_wrong", "question", "other"]
    assert (found["issue"].observed, found["issue"].randolph) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert found["noise"].observed == pytest.approx(1 / 3)
    assert (found["other"].observed, found["other"].fleiss) == (1.0, None)
    assert (found["issue"].n_items, found["issue"].n_items_used) == (3, 3)


def test_flags_are_counted_by_scene():
    reviewed = [ReviewedScene(("noise", "other"), True, 1.0), ReviewedScene(("none",), True, 1.0)]

    assert kind_counts(reviewed) == {"none": 1, "noise": 1, "answer_wrong": 0, "question": 0, "other": 1}


def test_scenes_of_one_kind_that_were_drawn_with_different_chances_are_weighted_inversely():
    reviewed = [
        ReviewedScene(("noise",), True, 0.5),
        ReviewedScene(("none",), True, 0.1),
        ReviewedScene(("none",), False, 1.0),
    ]

    found = review_result(reviewed, n_frame_failures=12, n_frame_passes=8)

    assert [step.estimate for step in found.waterfall] == pytest.approx([12.0, 2.0, 0.0, 10.0])
    assert found.adjusted_rate == pytest.approx(10 / 18)


def test_the_order_of_the_scenes_changes_nothing():
    reviewed = scenes(fails_none=14, fails_noise=4, fails_question=2, passes_none=17, passes_noise=3)

    first, again = (
        review_result(rows, n_frame_failures=100, n_frame_passes=300) for rows in (reviewed, reviewed[::-1])
    )

    assert first == again


@pytest.mark.parametrize("probability", [0.0, -0.1, 1.1, float("nan")])
def test_a_scene_that_could_not_be_drawn_is_refused(probability):
    with pytest.raises(ValueError, match="probability must lie in"):
        ReviewedScene(("none",), True, probability)


def test_more_scenes_than_the_frame_has_are_refused():
    with pytest.raises(ValueError, match="n_frame_failures must be at least 3, got 2"):
        review_result(scenes(fails_none=3), n_frame_failures=2, n_frame_passes=0)


def test_a_scene_that_stands_twice_in_the_frame_is_drawn_once():
    drawn = draw_scenes([1, 2, 1], [], ReviewDesign(n_failures=5))

    assert sorted((one.key, one.probability) for one in drawn) == [(1, 1.0), (2, 1.0)]


def test_no_third_is_asked_where_one_reviewer_settles_and_no_design_has_three():
    disagreeing = [["none"], ["noise"]]

    assert needs_third(disagreeing, needed=1) is False
    for asked in (settled_kinds, needs_third):
        with pytest.raises(ValueError, match=r"needed must be in 1\.\.2, got 3"):
            asked(disagreeing, needed=3)
