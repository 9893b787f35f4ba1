"""The exact requests that a system would be sent, for people: nothing is loaded and nothing connected."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.suts.asking import AskingParams, choice_prompt, localization_prompt
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.kinds import parse_params

SAMPLE_SIZE = (448, 336)
SAMPLE_TARGETS = "the red car"


@dataclass(frozen=True)
class ShownRequest:
    """One request in words: what it is for, the prompt, and everything that is sent."""

    title: str
    slug: str
    prompt: str
    text: str


def shown_requests(kind: str, params: Mapping[str, Any]) -> tuple[ShownRequest, ...]:
    """Return what would be sent to find a thing, and to answer the driving question.

    Raises:
        ConfigError: a setting is out of range.
    """
    from vlmlab.core.suts.preview import preview_request

    checked = parse_params(kind, params)
    asking = getattr(checked, "asking", None)
    if not isinstance(asking, AskingParams):
        return ()
    prompts = (
        ("Find a thing", "find", localization_prompt(asking, SAMPLE_TARGETS)),
        ("Answer a question", "answer", choice_prompt(asking, _sample_question())),
    )
    return tuple(
        ShownRequest(
            title, slug, prompt, _tidy(preview_request(kind, checked, SutRequest(_sample_png(), prompt)))
        )
        for title, slug, prompt in prompts
    )


def _tidy(text: str) -> str:
    """Return a request with its JSON laid out, if it is JSON."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


@lru_cache(maxsize=1)
def _sample_question() -> str:
    return ask_question(load_domain("driving"), ("town_town01",), seed=0).prompt


@lru_cache(maxsize=1)
def _sample_png() -> bytes:
    from io import BytesIO

    from PIL import Image

    target = BytesIO()
    Image.new("RGB", SAMPLE_SIZE, (200, 200, 200)).save(target, "PNG")
    return target.getvalue()
