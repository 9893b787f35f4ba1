"""How a system under test writes the coordinates of a box; declared at registration, never guessed."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

BoxSyntax = Literal[
    "json",
    "json_named",
    "qwen_markup",
    "ref_box",
    "ref_det",
    "begin_of_box",
    "loc",
    "loc4",
    "double_bracket",
    "bbox_tag",
    "list",
]


class BoxConvention(BaseModel):
    """The frame, scale and order of four numbers.

    ``scale`` is the number that stands for the full width or height; it is None exactly when the numbers
    are pixels of the picture that the system saw.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    space: Literal["relative", "seen_pixels"] = Field(
        default="relative",
        title="Coordinates",
        description="Shares of the picture, or pixels of the picture that the system saw.",
    )
    scale: float | None = Field(
        default=1000.0,
        gt=0,
        le=100_000,
        title="Scale",
        description="Number that stands for the full width or height, such as 1, 999, 1000 or 1024.",
    )
    order: Literal["xyxy", "yxyx"] = Field(
        default="xyxy",
        title="Order",
        description="xyxy: left, top, right, bottom; yxyx: top, left, bottom, right.",
    )
    bin_offset: float = Field(
        default=0.0,
        ge=0,
        le=1,
        title="Bin offset",
        description="Added to each number before scaling; 0.5 where a number names a bin by its centre.",
    )
    syntax: BoxSyntax = Field(
        default="json",
        title="Syntax",
        description="How its authors show boxes; for prompts and people, the reader takes every syntax.",
    )
    keys: tuple[str, ...] = Field(
        default=(), title="Keys", description="Names of the box in its JSON, for people."
    )

    @model_validator(mode="after")
    def _has_scale_where_needed(self) -> Self:
        if (self.space == "relative") != (self.scale is not None):
            raise ValueError("give a scale for relative coordinates and none for pixels")
        return self


RELATIVE_1000 = BoxConvention()
SEEN_PIXELS = BoxConvention(space="seen_pixels", scale=None)
