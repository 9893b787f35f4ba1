"""Systems from tables that answer the probe pictures of a calibration well, badly, or not at all."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from searches.models import SutRecord
from tests.factories import make_sut
from vlmlab.core.replies.probe_pictures import ProbePicture, probe_pictures
from vlmlab.core.suts.asking import AskingParams, choice_prompt, localization_prompt
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.scripted import answer_key

Write = Callable[[ProbePicture], str]


@lru_cache(1)
def pictures() -> tuple[ProbePicture, ...]:
    """Return the probe pictures, drawn once for all tests."""
    return probe_pictures()


def relative_1000(picture: ProbePicture) -> str:
    """Write the true box in thousandths: left, top, right, bottom."""
    x_min, y_min, x_max, y_max = picture.box
    numbers = [
        round(1000 * value / side)
        for value, side in zip((x_min, y_min, x_max, y_max), (picture.width, picture.height) * 2, strict=True)
    ]
    return f'[{{"bbox_2d": {numbers}, "label": "rectangle"}}]'


def in_pixels(picture: ProbePicture) -> str:
    """Write the true box in pixels of the picture."""
    return f'[{{"bbox_2d": {[round(value) for value in picture.box]}, "label": "rectangle"}}]'


def right_letter(picture: ProbePicture) -> str:
    """Write the right letter."""
    return picture.expected_letter


def prose(picture: ProbePicture) -> str:
    """Write what no reader can use."""
    return "I see a shape."


def probed_sut(
    slug: str = "probed",
    *,
    where: Write = relative_1000,
    which: Write = right_letter,
    asking: dict[str, Any] | None = None,
    **values: Any,
) -> SutRecord:
    """Make a system that answers both questions about each probe picture from a table."""
    params = AskingParams.model_validate(asking or {})
    answers = {}
    for one in pictures():
        answers[answer_key(SutRequest(one.image_png, localization_prompt(params, one.target)))] = where(one)
        answers[answer_key(SutRequest(one.image_png, choice_prompt(params, one.question)))] = which(one)
    own = values.pop("params", {})
    return make_sut(
        slug, params={"answers": answers, "asking": params.model_dump(mode="json")} | own, **values
    )
