"""How a registration asks: its prompt style, its templates and the box convention it declares."""

from pydantic import BaseModel, ConfigDict, Field, field_validator

from vlmlab.core.conventions import RELATIVE_1000, BoxConvention
from vlmlab.core.suts.prompt_styles import PROMPT_STYLES, QUESTION, TARGETS

__all__ = ["PROMPT_STYLES", "AskingParams", "choice_prompt", "localization_prompt"]

MOST_TEMPLATE_CHARACTERS = 10_000


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
    template = asking.localization_template or PROMPT_STYLES[asking.prompt_style].localization
    return template.replace(TARGETS, targets)


def choice_prompt(asking: AskingParams, question: str) -> str:
    """Return the complete user text that asks a question with lettered options."""
    template = asking.choice_template or PROMPT_STYLES[asking.prompt_style].choice
    return template.replace(QUESTION, question)
