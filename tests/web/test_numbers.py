"""Numbers as people read them."""

import pytest

from vlmlab.web import numbers


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.775, "78 %"),
        (0, "0 %"),
        (1, "100 %"),
        (0.001, "< 1 %"),
        (0.999, "> 99 %"),
        (None, "–"),
        (0.625, "63 %"),
    ],
)
def test_a_percentage_never_rounds_to_nothing_or_everything(share, text):
    assert numbers.write_percent(share) == text


@pytest.mark.parametrize(
    ("usd", "text"), [(1.12, "$1.12"), (1234.5, "$1,234.50"), (0.0042, "$0.0042"), (0, "$0.00")]
)
def test_money_keeps_its_cents(usd, text):
    assert numbers.write_money(usd) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.84, "0.8 s"), (41.2, "41 s"), (1440, "24 min"), (7500, "2 h 5 min"), (None, "–")],
)
def test_a_duration_has_the_unit_a_person_would_say(seconds, text):
    assert numbers.write_duration(seconds) == text


@pytest.mark.parametrize(("ms", "text"), [(230.4, "230 ms"), (1800, "1.8 s")])
def test_a_latency_changes_to_seconds_from_one_second_on(ms, text):
    assert numbers.write_latency(ms) == text


@pytest.mark.parametrize(("size", "text"), [(812, "812 B"), (812_400, "812 kB"), (1_412_000, "1.41 MB")])
def test_a_size_uses_decimal_units(size, text):
    assert numbers.write_bytes(size) == text


@pytest.mark.parametrize(("p", "text"), [(0.0004, "p < 0.001"), (0.008, "p = 0.008"), (0.31, "p = 0.31")])
def test_a_p_value_is_never_zero(p, text):
    assert numbers.write_p_value(p) == text


def test_counts_and_intervals():
    assert (numbers.write_count(1000), numbers.write_count(None)) == ("1,000", "–")
    assert numbers.write_interval(0.615, 0.892) == "62–89 %"


def test_decimals_have_a_minus_sign_and_no_minus_zero():
    assert [numbers.write_decimals(one) for one in (0.5, -0.5, -0.001, -1234.5, None)] == [
        "0.50", "−0.50", "0.00", "−1,234.50", "–",
    ]  # fmt: skip


def test_a_count_carries_its_word_in_the_right_form():
    assert [numbers.write_many(n, "failure mode") for n in (0, 1, 1204)] == [
        "0 failure modes", "1 failure mode", "1,204 failure modes",
    ]  # fmt: skip
    assert numbers.write_many(1, "run waits,runs wait") == "1 run waits"


def test_all_is_said_only_of_several():
    assert [numbers.write_all(n, "concept set") for n in (1, 7)] == ["1 concept set", "All 7 concept sets"]


@pytest.mark.parametrize(
    ("usd", "written"),
    [(0.24, "$0.24"), (0.2401, "$0.25"), (0.1 + 0.2, "$0.30"), (0.00231, "$0.0024"), (12.0, "$12.00")],
)
def test_a_sum_rounded_up_is_never_less_than_it_was(usd, written):
    assert numbers.write_money_up(usd) == written
    assert numbers.round_money_up(usd) >= usd - 1e-9
