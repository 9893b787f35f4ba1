"""Money of a call, worked by hand, and its upper bound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.suts.prices import (
    cost_of,
    cost_of_reply,
    has_prices,
    most_a_call_costs,
    most_input_tokens,
)
from vlmlab.core.suts.remote_params import OpenAIChatParams


def params(**values) -> OpenAIChatParams:
    return OpenAIChatParams.model_validate({"model": "m", **values})


PRICED = params(input_price_usd=2.0, output_price_usd=10.0, max_output_tokens=500, max_image_side=1000)


def test_a_call_costs_its_tokens_times_their_prices():
    assert cost_of(PRICED, input_tokens=1_000_000, output_tokens=100_000) == 3.0
    assert cost_of(PRICED, input_tokens=300, output_tokens=20) == pytest.approx(0.0008)


@pytest.mark.parametrize(
    ("values", "cost"),
    [
        ({}, 0.0),
        ({"input_price_usd": 2.0}, 0.002),
        ({"output_price_usd": 10.0}, 0.01),
        ({"input_price_usd": 0.0, "output_price_usd": 0.0}, 0.0),
    ],
)
def test_an_unknown_price_counts_nothing(values, cost):
    assert cost_of(params(**values), input_tokens=1000, output_tokens=1000) == cost


def test_unknown_tokens_count_nothing():
    assert cost_of(PRICED, input_tokens=None, output_tokens=None) == 0.0


def test_the_most_a_call_costs_is_its_longest_reply_and_every_byte_of_its_prompt():
    # 1000 x 500 pixels: 2,552 tokens of 14 x 14 and 3,000 more; 4 bytes, 200 around them.
    assert most_input_tokens(PRICED, "éab", picture_size=(2000, 1000)) == 2552 + 3000 + 4 + 200
    assert most_a_call_costs(PRICED, "éab", picture_size=(2000, 1000)) == pytest.approx(
        (5756 * 2 + 500 * 10) / 1e6
    )


@pytest.mark.parametrize("values", [{}, {"input_price_usd": 2.0}, {"output_price_usd": 2.0}])
def test_without_both_prices_nothing_bounds_a_call(values):
    assert not has_prices(params(**values))
    assert most_a_call_costs(params(**values), "hello", picture_size=(10, 10)) is None


def test_free_is_a_price():
    assert (
        most_a_call_costs(params(input_price_usd=0, output_price_usd=0), "hello", picture_size=(10, 10))
        == 0.0
    )


@given(st.text(max_size=200), st.integers(1, 4000), st.integers(1, 4000), st.integers(1, 500))
def test_no_likely_call_costs_more_than_the_bound(prompt, width, height, output_tokens):
    scale = min(1.0, 1000 / max(width, height))
    patches = (width * scale / 28 + 1) * (height * scale / 28 + 1)

    cost = cost_of(PRICED, input_tokens=len(prompt) + int(patches), output_tokens=output_tokens)

    assert cost <= (most_a_call_costs(PRICED, prompt, picture_size=(width, height)) or 0)


@pytest.mark.parametrize(
    ("sent", "received", "is_empty", "dollars"),
    [
        (1000, 100, False, (1000 * 2 + 100 * 10) / 1e6),
        (None, 100, False, (5756 * 2 + 100 * 10) / 1e6),
        (1000, None, False, (1000 * 2 + 500 * 10) / 1e6),
        (1000, None, True, 1000 * 2 / 1e6),
        (0, 0, False, 0.0),
    ],
)
def test_what_a_provider_leaves_unsaid_costs_the_most_it_can(sent, received, is_empty, dollars):
    cost = cost_of_reply(
        PRICED,
        "éab",
        sent_size=(2000, 1000),
        input_tokens=sent,
        output_tokens=received,
        is_empty=is_empty,
    )

    assert cost == pytest.approx(dollars)


def test_an_unknown_price_costs_nothing_even_without_tokens():
    assert (
        cost_of_reply(params(), "a", sent_size=(9, 9), input_tokens=None, output_tokens=None, is_empty=False)
        == 0.0
    )
