"""Room for an answer beside thinking, and complaints at the field that a person can change."""

import pytest

from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.remote_params import GeminiParams
from vlmlab.core.suts.thinking import check_room, level_refused


def test_a_reply_of_exactly_the_needed_length_has_room():
    check_room(GeminiParams(model="m", thinking="low", max_output_tokens=2048), 2048)


def test_a_reply_one_token_too_short_is_refused_with_what_to_enter():
    params = GeminiParams(model="m", thinking="low", max_output_tokens=2047)

    with pytest.raises(ConfigError) as caught:
        check_room(params, 2048)

    assert caught.value.field == "max_output_tokens"
    assert caught.value.message == (
        "Thinking is part of the reply, and 2,047 tokens leave no room for an answer at the level low."
    )
    assert caught.value.hint == "Set the longest reply to at least 2,048 tokens."


def test_a_level_that_a_model_lacks_is_a_complaint_about_thinking():
    error = level_refused("m always thinks.", "Choose low.")

    assert (error.message, error.hint, error.field) == ("m always thinks.", "Choose low.", "thinking")
