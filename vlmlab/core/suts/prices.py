"""Money: what a call cost, and the most that one could cost before it is sent."""

import math
from typing import Protocol

from vlmlab.core.suts.pictures import fitted_size
from vlmlab.core.suts.remote_params import RemoteParams

_TOKENS_EACH = 1_000_000
# Tokens of a chat template, of roles and of a provider's own instructions around a short conversation.
_FRAME_TOKENS = 200
# Providers say how they count pictures: by patches of 28 or 32 pixels, times up to 2.5, or by tiles of
# hundreds of pixels that cost up to a few thousand tokens together. One token for each 14 x 14 pixels and
# 3,000 more are above all of them but OpenAI's 4o-mini, which multiplies its pictures' tokens on purpose.
_PIXELS_A_TOKEN = 14 * 14
_PICTURE_TOKENS = 3000


class TokenPrices(Protocol):
    """Settings with the US dollars of a million tokens; None where a price is unknown."""

    @property
    def input_price_usd(self) -> float | None:
        """Of what is sent."""
        ...

    @property
    def output_price_usd(self) -> float | None:
        """Of what comes back."""
        ...


def has_prices(params: RemoteParams) -> bool:
    """Whether the money that a call costs is known."""
    return params.input_price_usd is not None and params.output_price_usd is not None


def cost_of(params: TokenPrices, *, input_tokens: int | None, output_tokens: int | None) -> float:
    """Return the US dollars of a call: tokens times price; 0 for what is unknown."""
    sent = (input_tokens or 0) * (params.input_price_usd or 0.0)
    received = (output_tokens or 0) * (params.output_price_usd or 0.0)
    return (sent + received) / _TOKENS_EACH


def cost_of_reply(
    params: RemoteParams,
    prompt: str,
    *,
    sent_size: tuple[int, int],
    input_tokens: int | None,
    output_tokens: int | None,
    is_empty: bool,
) -> float:
    """Return the US dollars of an answered call; what a provider leaves unsaid counts as the most it can be.

    A spending limit would never be reached by calls whose tokens nobody reports.

    Args:
        params: settings of the system.
        prompt: complete user text.
        sent_size: width and height in pixels of the picture as it was sent.
        input_tokens: as reported.
        output_tokens: as reported.
        is_empty: whether a filter stopped the call before anything came back.
    """
    if input_tokens is None:
        input_tokens = most_input_tokens(params, prompt, picture_size=sent_size)
    if output_tokens is None:
        output_tokens = 0 if is_empty else params.max_output_tokens
    return cost_of(params, input_tokens=input_tokens, output_tokens=output_tokens)


def most_a_call_costs(params: RemoteParams, prompt: str, *, picture_size: tuple[int, int]) -> float | None:
    """Return an upper bound in US dollars of one answered call; None when a price is unknown.

    Args:
        params: settings of the system.
        prompt: complete user text; no tokenizer makes more tokens than bytes.
        picture_size: width and height in pixels before scaling.
    """
    if not has_prices(params):
        return None
    sent = most_input_tokens(params, prompt, picture_size=picture_size)
    return cost_of(params, input_tokens=sent, output_tokens=params.max_output_tokens)


def most_input_tokens(params: RemoteParams, prompt: str, *, picture_size: tuple[int, int]) -> int:
    """Return an upper bound of the tokens that a call sends."""
    width, height = fitted_size(picture_size, params.max_image_side)
    picture = math.ceil(width * height / _PIXELS_A_TOKEN) + _PICTURE_TOKENS
    words = (prompt + params.system_prompt).encode("utf-8", "surrogatepass")
    return len(words) + picture + _FRAME_TOKENS


def likely_input_tokens(params: RemoteParams, prompt: str, *, sent_size: tuple[int, int]) -> float:
    """Return a guess of the tokens that a call sends: four characters or a 28 x 28 patch each."""
    width, height = sent_size
    return (len(prompt) + len(params.system_prompt)) / 4 + width * height / (28 * 28)
