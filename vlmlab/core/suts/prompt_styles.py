"""Words that ask for boxes, one style for each way that a family of systems was trained to answer."""

from dataclasses import dataclass

TARGETS, QUESTION = "{targets}", "{question}"
LETTER_ONLY = f"{QUESTION}\n\nAnswer with the letter only."
"""Choice template for systems that explain themselves instead of answering."""


@dataclass(frozen=True)
class PromptStyle:
    """A way of asking for boxes that a family of systems was trained on.

    Attributes:
        name: key in ``PROMPT_STYLES``.
        title: for people.
        localization: template with ``{targets}``.
        choice: template with ``{question}``.
    """

    name: str
    title: str
    localization: str
    choice: str = QUESTION


_JSON_ANSWER = "Answer with a JSON list only, one object for each thing"
_NONE = "Answer [] if there is none."

PROMPT_STYLES: dict[str, PromptStyle] = {
    style.name: style
    for style in (
        PromptStyle(
            "json_xyxy",
            "JSON list, bbox_2d",
            f"Find {TARGETS} in the picture. {_JSON_ANSWER}: "
            f'[{{"bbox_2d": [x1, y1, x2, y2], "label": "..."}}]. {_NONE}',
        ),
        PromptStyle(
            "json_0_1000",
            "JSON list, bbox_2d from 0 to 1000",
            f"Find {TARGETS} in the picture. {_JSON_ANSWER}: "
            '[{"bbox_2d": [x1, y1, x2, y2], "label": "..."}]. '
            "x runs from 0 at the left edge to 1000 at the right edge, y from 0 at the top to 1000 at the "
            f"bottom. {_NONE}",
        ),
        PromptStyle(
            "json_0_1",
            "JSON list, bbox_2d from 0 to 1",
            f"Find {TARGETS} in the picture. {_JSON_ANSWER}: "
            '[{"bbox_2d": [x1, y1, x2, y2], "label": "..."}]. '
            "Write x and y as decimals from 0 at the left and top edge to 1 at the right and bottom edge. "
            f"{_NONE}",
        ),
        PromptStyle(
            "json_pixels",
            "JSON list, bbox_2d in pixels",
            f"Find {TARGETS} in the picture. {_JSON_ANSWER}: "
            '[{"bbox_2d": [x1, y1, x2, y2], "label": "..."}]. '
            "Give pixel coordinates of the picture: x1, y1 is the top left corner of the thing, x2, y2 its "
            f"bottom right corner. {_NONE}",
        ),
        PromptStyle(
            "gemini",
            "JSON list, box_2d with y before x",
            f"Detect {TARGETS}. {_JSON_ANSWER}: "
            '[{"box_2d": [ymin, xmin, ymax, xmax], "label": "..."}], '
            f"with the coordinates scaled to 0-1000. {_NONE}",
        ),
        PromptStyle(
            "ref_box",
            "<ref> in, <box> out (InternVL, MiniCPM-V)",
            f"Give the bounding box coordinates of the region these words describe: <ref>{TARGETS}</ref>",
        ),
        PromptStyle("ref_det", "<|ref|> in, <|det|> out (DeepSeek-VL2)", f"<|ref|>{TARGETS}<|/ref|>."),
        PromptStyle(
            "begin_of_box",
            "<|begin_of_box|> (GLM-V)",
            f"Where is {TARGETS}? Write each bounding box as [[x1,y1,x2,y2]], scaled to 0-1000, between "
            "<|begin_of_box|> and <|end_of_box|>. Write none if it is not in the picture.",
        ),
        PromptStyle(
            "double_bracket",
            "[[x1,y1,x2,y2]] (CogVLM)",
            f"Where is {TARGETS}? Answer with the coordinates as [[x0,y0,x1,y1]] only.",
        ),
        PromptStyle(
            "named",
            "JSON list with x_min, y_min, x_max, y_max (Moondream)",
            f"Detect {TARGETS}. {_JSON_ANSWER}: "
            '[{"label": "...", "x_min": 0.1, "y_min": 0.1, "x_max": 0.2, "y_max": 0.2}], '
            f"every number from 0 to 1. {_NONE}",
            choice=LETTER_ONLY,
        ),
        PromptStyle(
            "florence",
            "Task token (Florence-2)",
            f"<CAPTION_TO_PHRASE_GROUNDING>{TARGETS}",
        ),
        PromptStyle(
            "paligemma", "detect ... (PaliGemma)", f"detect {TARGETS}", choice=f"answer en {QUESTION}"
        ),
    )
}
