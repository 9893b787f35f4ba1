"""The words that a system is sent, and the styles they come from."""

import pytest

from vlmlab.core.conventions import RELATIVE_1000
from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.asking import AskingParams, choice_prompt, localization_prompt
from vlmlab.core.suts.kinds import parse_params
from vlmlab.core.suts.prompt_styles import PROMPT_STYLES


def test_default_asks_for_a_json_list_and_leaves_the_question_as_it_stands():
    asking = AskingParams()

    assert localization_prompt(asking, "the red car") == (
        "Find the red car in the picture. Answer with a JSON list only, one object for each thing: "
        '[{"bbox_2d": [x1, y1, x2, y2], "label": "..."}]. Answer [] if there is none.'
    )
    assert choice_prompt(asking, "A or B?") == "A or B?"
    assert asking.convention == RELATIVE_1000


def test_own_templates_come_before_the_styles():
    asking = AskingParams(
        prompt_style="paligemma",
        localization_template="box: {targets}",
        choice_template="{question}\nLetter:",
    )

    assert localization_prompt(asking, "the cup") == "box: the cup"
    assert choice_prompt(asking, "A or B?") == "A or B?\nLetter:"


def test_braces_in_targets_and_question_stay_as_they_are():
    asking = AskingParams(localization_template="find {targets}", choice_template="say: {question}")

    assert localization_prompt(asking, "{targets} {0}") == "find {targets} {0}"
    assert choice_prompt(asking, "{question} {x}") == "say: {question} {x}"


@pytest.mark.parametrize(
    ("style", "words"),
    [
        ("ref_det", "<|ref|>the cup<|/ref|>."),
        ("paligemma", "detect the cup"),
        ("florence", "<CAPTION_TO_PHRASE_GROUNDING>the cup"),
        (
            "ref_box",
            "Give the bounding box coordinates of the region these words describe: <ref>the cup</ref>",
        ),
        (
            "gemini",
            "Detect the cup. Answer with a JSON list only, one object for each thing: "
            '[{"box_2d": [ymin, xmin, ymax, xmax], "label": "..."}], with the coordinates scaled to 0-1000. '
            "Answer [] if there is none.",
        ),
    ],
)
def test_style_gives_the_words_of_its_family(style, words):
    assert localization_prompt(AskingParams(prompt_style=style), "the cup") == words


def test_choice_of_small_systems_asks_for_the_letter():
    assert choice_prompt(AskingParams(prompt_style="named"), "A or B?") == (
        "A or B?\n\nAnswer with the letter only."
    )
    assert choice_prompt(AskingParams(prompt_style="paligemma"), "A or B?") == "answer en A or B?"


@pytest.mark.parametrize("style", PROMPT_STYLES.values(), ids=lambda style: style.name)
def test_every_style_stands_under_its_name_and_has_one_place_for_what_is_asked(style):
    assert PROMPT_STYLES[style.name] is style
    assert style.localization.count("{targets}") == 1
    assert style.choice.count("{question}") == 1
    assert style.title


def test_titles_tell_the_styles_apart():
    assert len({style.title for style in PROMPT_STYLES.values()}) == len(PROMPT_STYLES)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"prompt_style": "telepathy"}, "Choose one of json_xyxy, "),
        ({"localization_template": "find it"}, "Write {targets} exactly once"),
        ({"localization_template": "{targets} and {targets}"}, "Write {targets} exactly once"),
        ({"choice_template": "well?"}, "Write {question} exactly once"),
    ],
)
def test_wrong_words_are_refused_with_what_to_write(values, message):
    with pytest.raises(ConfigError) as caught:
        parse_params("gemini", {"model": "gemini-3-flash-preview", "asking": values})

    assert message in str(caught.value)
    assert caught.value.field == f"asking.{next(iter(values))}"
