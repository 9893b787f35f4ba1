"""How a registration asks: its prompt style, its templates and the box convention it declares."""

import re

from pydantic import BaseModel, ConfigDict, Field, field_validator

from vlmlab.core.conventions import RELATIVE_1000, BoxConvention
from vlmlab.core.suts.prompt_styles import PROMPT_STYLES, QUESTION, TARGETS

__all__ = ["PROMPT_STYLES", "AskingParams", "choice_prompt", "localization_prompt", "protected_parts"]

MOST_TEMPLATE_CHARACTERS = 10_000
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\n\s*|(?<=[。！？])")
# Special and task tokens, and shapes of an answer such as [[x1, y1, x2, y2]] or {"box": [1, 2, 3, 4]}.
_FIXED = re.compile(r"<[^<>\s]+>|\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\{[^{}]*\}")


class AskingParams(BaseModel):
    """What decides the words that a system is sent and how the boxes in its reply are read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt_style: str = Field(
        default="json_xyxy",
        title="Prompt style",
        description="Words that ask for boxes without a template.",
    )
    localization_template: str = Field(
        default="",
        max_length=MOST_TEMPLATE_CHARACTERS,
        title="Localization prompt",
        description="Own words with {targets} where the wanted things stand; empty: the style's.",
    )
    choice_template: str = Field(
        default="",
        max_length=MOST_TEMPLATE_CHARACTERS,
        title="Question prompt",
        description="Own words around {question}; empty: the question as it stands.",
    )
    convention: BoxConvention = Field(
        default=RELATIVE_1000, title="Convention", description="How it writes the coordinates of a box."
    )

    @field_validator("prompt_style")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if value not in PROMPT_STYLES:
            raise ValueError(f"choose one of {', '.join(PROMPT_STYLES)}")
        return value

    @field_validator("localization_template")
    @classmethod
    def _names_targets(cls, value: str) -> str:
        if value and value.count(TARGETS) != 1:
            raise ValueError("write {targets} exactly once, where the wanted things stand")
        return value

    @field_validator("choice_template")
    @classmethod
    def _names_question(cls, value: str) -> str:
        if value and value.count(QUESTION) != 1:
            raise ValueError("write {question} exactly once, where the question stands")
        return value


def localization_prompt(asking: AskingParams, targets: str) -> str:
    """Return the complete user text that asks for the boxes of ``targets`` (such as "the red car")."""
    return _localization_template(asking).replace(TARGETS, targets)


def protected_parts(asking: AskingParams) -> tuple[str, ...]:
    """Return the texts of the localization prompt that say how to answer, for perturbations to leave alone.

    These are everything before and after the sentence that names the targets and, inside of it, special
    tokens and shapes of an answer in brackets. Words inside that sentence may change, also where they speak
    of the answer: nobody can tell them apart there.

    Returns:
        Texts that stand in every prompt of this registration, none of them empty or twice.
    """
    template = _localization_template(asking)
    start, stop = template.index(TARGETS), template.index(TARGETS) + len(TARGETS)
    ends = [end.span() for end in _SENTENCE_END.finditer(template)]
    opening = max((after for _, after in ends if after <= start), default=0)
    closing = min((before for before, _ in ends if before >= stop), default=len(template))
    parts = (
        template[:opening].strip(),
        *_FIXED.findall(template[opening:start]),
        *_FIXED.findall(template[stop:closing]),
        template[closing:].strip(),
    )
    return tuple(dict.fromkeys(part for part in parts if part))


def choice_prompt(asking: AskingParams, question: str) -> str:
    """Return the complete user text that asks a question with lettered options."""
    template = asking.choice_template or PROMPT_STYLES[asking.prompt_style].choice
    return template.replace(QUESTION, question)


def _localization_template(asking: AskingParams) -> str:
    return asking.localization_template or PROMPT_STYLES[asking.prompt_style].localization
