"""What each Claude takes, by its name at Anthropic and on Bedrock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.claude import BUDGETS, Claude, check_claude, claude_of, fits, thinking_fields
from vlmlab.core.suts.kinds import parse_params

SONNET_4_6, HAIKU_4_5, OPUS_5_5 = Claude("sonnet", (4, 6)), Claude("haiku", (4, 5)), Claude("opus", (5, 5))


def settings_of(model, **values):
    return parse_params("anthropic", {"model": model, "max_output_tokens": 20_000, **values})


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-sonnet-4-6", SONNET_4_6),
        ("us.anthropic.claude-sonnet-4-6", SONNET_4_6),
        ("claude-haiku-4-5-20251001", HAIKU_4_5),
        ("global.anthropic.claude-haiku-4-5-20251001-v1:0", HAIKU_4_5),
        ("claude-opus-4-20250514", Claude("opus", (4, 0))),
        ("claude-sonnet-5", Claude("sonnet", (5, 0))),
        ("claude-3-7-sonnet-20250219", Claude("sonnet", (3, 7))),
        ("anthropic.claude-3-haiku-20240307-v1:0", Claude("haiku", (3, 0))),
        ("claude-next", Claude("", (99, 0))),
        ("amazon.nova-pro-v1:0", None),
    ],
)
def test_name_tells_line_and_version(model, expected):
    assert claude_of(model) == expected


@pytest.mark.parametrize(
    ("model", "level", "expected"),
    [
        ("claude-haiku-4-5", "default", {}),
        ("claude-haiku-4-5", "off", {"thinking": {"type": "disabled"}}),
        ("claude-haiku-4-5", "minimal", {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        ("claude-haiku-4-5", "high", {"thinking": {"type": "enabled", "budget_tokens": 16_384}}),
        ("claude-sonnet-4-6", "off", {"thinking": {"type": "disabled"}}),
        ("claude-sonnet-4-6", "low", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
        ("claude-opus-5-5", "high", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}),
        ("claude-sonnet-5-5", "off", {"thinking": {"type": "between_tools"}}),
        ("claude-haiku-5-5", "off", {"thinking": {"type": "disabled"}}),
        ("claude-3-haiku-20240307", "off", {}),
    ],
)
def test_thinking_level_is_sent_as_the_model_takes_it(model, level, expected):
    params = settings_of(model, thinking=level)

    assert thinking_fields(params, claude_of(model)) == expected


@pytest.mark.parametrize(
    ("model", "values", "field", "message"),
    [
        ("claude-opus-5-5", {"thinking": "off"}, "thinking", "claude-opus-5-5 always thinks. Choose low"),
        ("claude-fable-5-1", {"thinking": "off"}, "thinking", "claude-fable-5-1 always thinks."),
        ("claude-3-haiku-20240307", {"thinking": "low"}, "thinking", "claude-3-haiku-20240307 cannot think."),
        ("claude-sonnet-5", {"thinking": "minimal"}, "thinking", "claude-sonnet-5 has no level below low."),
        (
            "claude-haiku-4-5",
            {"thinking": "medium", "max_output_tokens": 8192},
            "max_output_tokens",
            "Thinking is part of the reply, and 8,192 tokens leave no room for "
            "an answer at the level medium. "
            "Set the longest reply to at least 8,193 tokens.",
        ),
        (
            "claude-sonnet-4-6",
            {"thinking": "high", "max_output_tokens": 4096},
            "max_output_tokens",
            "Thinking is part of the reply, and 4,096 tokens",
        ),
        (
            "claude-haiku-4-5",
            {"thinking": "low", "temperature": 0.0},
            "temperature",
            "Claude takes no temperature while it thinks.",
        ),
        ("claude-haiku-4-5", {"temperature": 1.5}, "temperature", "Claude takes a temperature from 0 to 1."),
        ("claude-haiku-5-5", {"temperature": 1.0}, "temperature", "claude-haiku-5-5 takes no temperature."),
        (
            "claude-haiku-4-5",
            {"max_image_side": 1093},
            "max_image_side",
            "claude-haiku-4-5 scales square pictures of more than 1,092 pixels down without saying so",
        ),
    ],
)
def test_settings_that_a_model_refuses_name_their_field(model, values, field, message):
    with pytest.raises(ConfigError) as caught:
        check_claude(settings_of(model, **values), claude_of(model))

    assert caught.value.field == field
    assert str(caught.value).startswith(message)


def test_budget_is_always_less_than_the_longest_reply():
    for level, budget in BUDGETS.items():
        params = settings_of("claude-haiku-4-5", thinking=level, max_output_tokens=budget + 1)

        sent = thinking_fields(params, HAIKU_4_5)["thinking"]["budget_tokens"]

        assert 1024 <= sent < params.max_output_tokens


@pytest.mark.parametrize(
    ("size", "claude", "expected"),
    [
        ((1092, 1092), SONNET_4_6, True),  # 39 x 39 = 1,521 patches
        ((1093, 1092), SONNET_4_6, True),  # 40 x 39 = 1,560 patches
        ((1093, 1093), SONNET_4_6, False),  # 40 x 40 = 1,600 patches, more than 1,568
        ((1568, 784), SONNET_4_6, True),  # 56 x 28 = 1,568 patches
        ((1569, 28), SONNET_4_6, False),
        ((1932, 1932), OPUS_5_5, True),  # 69 x 69 = 4,761 patches
        ((1933, 1933), OPUS_5_5, False),  # 70 x 70 = 4,900 patches, more than 4,784
    ],
)
def test_picture_fits_when_edge_and_patches_do(size, claude, expected):
    assert fits(size, claude) is expected


@given(st.integers(1, 1092), st.integers(1, 1092), st.integers(1, 1932), st.integers(1, 1932))
def test_no_picture_within_the_safe_side_is_scaled_down(width, height, new_width, new_height):
    assert fits((width, height), SONNET_4_6)
    assert SONNET_4_6.safe_side == 1092
    assert fits((new_width, new_height), OPUS_5_5)
    assert OPUS_5_5.safe_side == 1932
