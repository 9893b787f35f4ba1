"""The exact requests that a system would be sent, for people: nothing is loaded and nothing connected."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.suts.asking import AskingParams, choice_prompt, localization_prompt
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.kinds import parse_params

SAMPLE_SIZE = (448, 336)
SAMPLE_TARGETS = "the red car"


@dataclass(frozen=True)
class ShownRequest:
    """One request in words.

    Attributes:
        title: what it is for.
        prompt: the words that are sent.
        text: everything that is sent, "" where only the words were asked for.
    """

    title: str
    prompt: str
    text: str = ""


def example_prompts(params: BaseModel) -> tuple[ShownRequest, ...]:
    """Return the words with which a system is asked to find a thing, and to answer a question."""
    asking = getattr(params, "asking", None)
    if not isinstance(asking, AskingParams):
        return ()
    return (
        ShownRequest("Find a thing", localization_prompt(asking, SAMPLE_TARGETS)),
        ShownRequest("Answer a question", choice_prompt(asking, _sample_question())),
    )


def shown_requests(kind: str, params: Mapping[str, Any], *, has_key: bool) -> tuple[ShownRequest, ...]:
    """Return exactly what would be sent for the same two questions.

    Raises:
        VlmLabError: a setting is out of range, or settings contradict each other.
    """
    from vlmlab.core.suts.preview import preview_request

    checked = parse_params(kind, params)
    return tuple(
        replace(
            shown,
            text=_tidy(
                preview_request(kind, checked, SutRequest(_sample_png(), shown.prompt), has_key=has_key)
            ),
        )
        for shown in example_prompts(checked)
    )


def _tidy(text: str) -> str:
    """Return a request with its JSON laid out, if it is JSON."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


@lru_cache(maxsize=1)
def _sample_question() -> str:
    return ask_question(load_domain(DOMAIN_SLUGS[0]), ("town_town01",), seed=0).prompt


@lru_cache(maxsize=1)
def _sample_png() -> bytes:
    from io import BytesIO

    from PIL import Image

    target = BytesIO()
    Image.new("RGB", SAMPLE_SIZE, (200, 200, 200)).save(target, "PNG")
    return target.getvalue()
