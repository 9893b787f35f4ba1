"""SWTD and edit distance by hand, by their table written out, and at their limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.most.metrics import ms_ssim, normalized_edit_distance, swtd, swtd_mean
from vlmlab.core.most.similarity import ms_ssim as ms_ssim_at_home

SHARES = st.floats(0, 1)
CLEAN = st.floats(0.01, 1)
TEXTS = st.text(alphabet="abcé猫 ", max_size=12)


def test_swtd_by_hand():
    # D = (0.8 - 0.2) / 0.8 = 3/4; A = 1 - 0.9 * 0.8 = 0.28.
    assert swtd(0.8, 0.2, 0.9, 0.2) == pytest.approx(0.5 * 0.75 + 0.5 * 0.72)
    # The mean of 0.1 and 0.2 in place of 0.28.
    assert swtd_mean(0.8, 0.2, 0.9, 0.2) == pytest.approx(0.5 * 0.75 + 0.5 * 0.85)


@pytest.mark.parametrize("measure", [swtd, swtd_mean])
def test_swtd_at_its_limits(measure):
    assert measure(0.7, 0.0, 1.0, 0.0) == 1.0
    assert measure(0.7, 0.7, 1.0, 0.0) == 0.5
    assert measure(0.7, 0.9, 1.0, 0.0) == 0.5  # a better answer is no drop
    assert measure(0.7, 0.7, 0.0, 1.0) == 0.0


def test_swtd_takes_an_iou_that_rounding_took_over_one():
    assert swtd(1.0 + 2e-16, 1.0 + 2e-16, 1.0, 0.0) == 0.5


@given(CLEAN, SHARES, SHARES, SHARES)
def test_swtd_of_one_touched_modality_does_not_know_the_other(clean, perturbed, likeness, distance):
    drop = min(1.0, max(0.0, (clean - perturbed) / clean))

    assert swtd(clean, perturbed, likeness, 0.0) == pytest.approx(0.5 * drop + 0.5 * likeness)
    assert swtd(clean, perturbed, 1.0, distance) == pytest.approx(0.5 * drop + 0.5 * (1 - distance))


@given(CLEAN, SHARES, SHARES, SHARES)
def test_swtd_is_a_share_and_falls_with_every_alteration(clean, perturbed, likeness, distance):
    value = swtd(clean, perturbed, likeness, distance)

    assert 0.0 <= value <= 1.0
    assert swtd(clean, perturbed, likeness / 2, distance) <= value + 1e-12
    assert swtd(clean, perturbed, likeness, (1 + distance) / 2) <= value + 1e-12
    assert swtd(clean, perturbed / 2, likeness, distance) >= value - 1e-12
    assert swtd_mean(clean, perturbed, likeness, distance) >= value - 1e-12


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ((0.0, 0.0, 1.0, 0.0), "iou_clean"),
        ((1.1, 0.0, 1.0, 0.0), "iou_clean"),
        ((0.5, -0.1, 1.0, 0.0), "iou_perturbed"),
        ((0.5, 0.1, 1.5, 0.0), "ms_ssim"),
        ((0.5, 0.1, 1.0, float("nan")), "ned"),
    ],
)
def test_swtd_refuses_values_out_of_range(values, name):
    for measure in (swtd, swtd_mean):
        with pytest.raises(ValueError, match=f"^{name} must"):
            measure(*values)


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        ("", "", 0.0),
        ("", "abc", 1.0),
        ("kitten", "sitting", 3 / 7),  # k to s, e to i, g added
        ("sunday", "saturday", 3 / 8),  # a and t added, n to r
        ("flaw", "lawn", 2 / 4),
        ("gumbo", "gambol", 2 / 6),
        ("abcd", "badc", 3 / 4),
        ("car", "Car", 1 / 3),
        ("locate the 猫", "locate the 狗", 1 / 12),
        ("aaaa", "bbbb", 1.0),
    ],
)
def test_edit_distance_by_hand(a, b, distance):
    assert normalized_edit_distance(a, b) == pytest.approx(distance)


def distance_by_table(a, b):
    row = list(range(len(b) + 1))
    for i, one in enumerate(a, start=1):
        above, row = row, [i]
        for j, other in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (one != other)))
    return row[-1]


@given(TEXTS, TEXTS)
def test_edit_distance_is_that_of_the_table(a, b):
    distance = normalized_edit_distance(a, b)

    assert distance == normalized_edit_distance(b, a)
    assert distance * max(len(a), len(b), 1) == pytest.approx(distance_by_table(a, b))


@given(TEXTS, TEXTS, TEXTS)
def test_edit_distance_of_a_detour_is_not_shorter(a, b, c):
    def steps(one, other):
        return normalized_edit_distance(one, other) * max(len(one), len(other), 1)

    assert steps(a, c) <= steps(a, b) + steps(b, c) + 1e-9


def test_edit_distance_of_texts_longer_than_a_machine_word():
    a = "locate every pedestrian in the picture. " * 5

    b = "x" + a.replace("picture", "pictrue")

    # Two replacements in each of five sentences, and one letter before them.
    assert normalized_edit_distance(a, b) == pytest.approx(distance_by_table(a, b) / len(b))
    assert normalized_edit_distance(a, b) == pytest.approx(11 / 201)


def test_edit_distance_takes_prompts_of_ten_thousand_characters():
    a, b = "ab" * 5_000, "ba" * 5_000

    # The first letter moves to the end: one deletion and one insertion.
    assert normalized_edit_distance(a, b) == 2 / 10_000


def test_metrics_name_the_similarity_of_pictures():
    assert ms_ssim is ms_ssim_at_home
