"""How foreign annotations are to be read, and how much of them is taken."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from vlmlab.core.images import ImageLimits

FormatName = Literal["auto", "coco", "voc", "yolo", "ilsvrc", "udacity", "table"]


class ImportSettings(BaseModel):
    """What a person may say about the files; stored with the pictures."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: FormatName = Field(
        default="auto", title="Format", description="How the files are written; auto looks at them."
    )
    annotation_file: str = Field(
        default="",
        max_length=500,
        title="Annotation file",
        description="Path of the one COCO file or table to read; empty for all of them.",
    )
    labels: Mapping[str, str] = Field(
        default_factory=dict,
        title="Labels",
        description="Class of the files -> label to ask for, or - to leave such things out.",
    )
    stratum: str = Field(
        default="all",
        min_length=1,
        max_length=32,
        title="Kind of scene",
        description="For pictures whose files name none.",
    )
    strata_by_folder: bool = Field(
        default=False,
        title="Folders are kinds of scenes",
        description="The folder of a picture names its kind of scene, where its files name none.",
    )
    boxes_lie_in: Literal["auto", "upright", "stored"] = Field(
        default="auto",
        title="Boxes of pictures that are turned",
        description="Whether boxes lie in the upright picture or in the picture as it is stored, where EXIF "
        "data turn it. auto goes by the claimed size.",
    )
    first_pixel: Literal["auto", "0", "1"] = Field(
        default="auto",
        title="First pixel",
        description="What VOC files call the first pixel of a row: 1 as the format says, 0 as many tools do.",
    )
    ask_difficult: bool = Field(
        default=False,
        title="Ask for difficult things",
        description="Whether a label is asked for where the files call one of its things difficult.",
    )
    least_side: int = Field(
        default=32,
        ge=1,
        le=4096,
        title="Shortest side",
        description="Pictures with a shorter side in pixels are refused.",
    )


@dataclass(frozen=True)
class ImportLimits:
    """How much one import takes; what is beyond a limit of one file is refused, the rest ends the import.

    Attributes:
        max_files: of the source.
        max_pictures: that files name and that are there.
        max_things: of all pictures together.
        max_listed: images, and classes, that one COCO file lists, also where the pictures are not there.
        max_labels: different ones.
        max_note_bytes: of one COCO file or table.
        max_small_bytes: of one XML file, YOLO label file or list of class names.
        max_row_characters: of one entry of a COCO file or one row of a table.
        max_held_bytes: of outlines and masks that are held while files are read.
        image: of one picture.
    """

    max_files: int = 200_000
    max_pictures: int = 20_000
    max_things: int = 1_000_000
    max_listed: int = 3_000_000
    max_labels: int = 50_000
    max_note_bytes: int = 1_000_000_000
    max_small_bytes: int = 4_000_000
    max_row_characters: int = 16_000_000
    max_held_bytes: int = 400_000_000
    image: ImageLimits = field(default_factory=ImageLimits)
