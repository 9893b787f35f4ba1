"""The words that a system is sent, and the styles they come from."""

import pytest

from vlmlab.core.conventions import RELATIVE_1000
from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.asking import AskingParams, choice_prompt, localization_prompt, protected_parts
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


_JSON_TAIL = (
    "Answer with a JSON list only, one object for each thing: "
    '[{"bbox_2d": [x1, y1, x2, y2], "label": "..."}]. '
)
_NONE = "Answer [] if there is none."
_STYLE_PARTS = {
    "json_xyxy": (_JSON_TAIL + _NONE,),
    "json_0_1000": (
        _JSON_TAIL + "x runs from 0 at the left edge to 1000 at the right edge, y from 0 at the top to 1000 "
        "at the bottom. " + _NONE,
    ),
    "json_0_1": (
        _JSON_TAIL + "Write x and y as decimals from 0 at the left and top edge to 1 at the right and bottom "
        "edge. " + _NONE,
    ),
    "json_pixels": (
        _JSON_TAIL + "Give pixel coordinates of the picture: x1, y1 is the top left corner of the thing, x2, "
        "y2 its bottom right corner. " + _NONE,
    ),
    "gemini": (
        "Answer with a JSON list only, one object for each thing: "
        '[{"box_2d": [ymin, xmin, ymax, xmax], "label": "..."}], with the coordinates scaled to 0-1000. '
        + _NONE,
    ),
    "ref_box": ("<ref>", "</ref>"),
    "ref_det": ("<|ref|>", "<|/ref|>"),
    "begin_of_box": (
        "Write each bounding box as [[x1,y1,x2,y2]], scaled to 0-1000, between <|begin_of_box|> and "
        "<|end_of_box|>. Write none if it is not in the picture.",
    ),
    "double_bracket": ("Answer with the coordinates as [[x0,y0,x1,y1]] only.",),
    "named": (
        "Answer with a JSON list only, one object for each thing: "
        '[{"label": "...", "x_min": 0.1, "y_min": 0.1, "x_max": 0.2, "y_max": 0.2}], '
        "every number from 0 to 1. " + _NONE,
    ),
    "florence": ("<CAPTION_TO_PHRASE_GROUNDING>",),
    "paligemma": (),
}


@pytest.mark.parametrize("style", PROMPT_STYLES)
def test_protected_parts_of_a_style_are_what_says_how_to_answer(style):
    assert protected_parts(AskingParams(prompt_style=style)) == _STYLE_PARTS[style]


@pytest.mark.parametrize(
    ("template", "parts"),
    [
        ("{targets}", ()),
        ("  {targets}\n", ()),
        ("Where is {targets}?", ()),
        ("Locate {targets} and answer with boxes", ()),
        ("Locate {targets} as [x1, y1, x2, y2].", ("[x1, y1, x2, y2]",)),
        ('Locate {targets} as [{"box": [1, 2, 3, 4]}].', ('[{"box": [1, 2, 3, 4]}]',)),
        ("<OD> {targets} <loc>", ("<OD>", "<loc>")),
        ("<x>{targets}<x>", ("<x>",)),
        ("Answer as JSON. {targets}", ("Answer as JSON.",)),
        ("Answer as JSON.\nFind {targets}\nNo other words.", ("Answer as JSON.", "No other words.")),
        ("Be exact! Is {targets} there? Answer yes. Or no.", ("Be exact!", "Answer yes. Or no.")),
        ("请以JSON回答。找到{targets}。只回答坐标。", ("请以JSON回答。", "只回答坐标。")),
        ("Use boxes, e.g. as below: find {targets}.", ()),
        ('{"find": "{targets}"}', ()),
    ],
)
def test_protected_parts_of_an_own_template_are_outside_of_the_sentence_with_the_targets(template, parts):
    assert protected_parts(AskingParams(localization_template=template)) == parts


@pytest.mark.parametrize("style", PROMPT_STYLES)
def test_protected_parts_stand_in_the_prompt_and_do_not_name_the_targets(style):
    asking = AskingParams(prompt_style=style)

    prompt = localization_prompt(asking, "the red wheelbarrow")

    for part in protected_parts(asking):
        assert part in prompt
        assert "wheelbarrow" not in part
