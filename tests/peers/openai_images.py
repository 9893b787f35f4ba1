"""A peer that speaks /images/generations, and refuses what OpenAI refuses."""

import base64

from tests.peers.openai_chat import KEY, WRONG_KEY, error
from tests.peers.pictures import drawn
from tests.peers.server import Answer, Asked, Behaviour, Peer, json_answer, status

MODEL = "gpt-image-2.5-flare"
PATH = "/v1/images/generations"
MODELS_PATH = "/v1/models"
USAGE = {
    "input_tokens": 60,
    "input_tokens_details": {"image_tokens": 0, "text_tokens": 60},
    "output_tokens": 1056,
    "total_tokens": 1116,
}

_BODY = {
    "model", "prompt", "n", "size", "quality", "background", "moderation", "output_format",
    "output_compression", "user", "stream",
}  # fmt: skip
_SIZES = {"1024x1024", "1536x1024", "1024x1536", "auto"}


def images(png: bytes, **fields: object) -> dict:
    """Return an answer with one picture."""
    encoded = base64.b64encode(png).decode()
    return {"created": 1_790_000_000, "data": [{"b64_json": encoded, **fields}], "usage": USAGE}


def picture_of(png: bytes, **fields: object) -> Behaviour:
    """Answer with a picture."""
    return status(200, images(png, **fields))


LINK = status(200, {"created": 1, "data": [{"url": "https://files.example.com/picture.png"}]})
BLOCKED = error(
    400,
    "Your request was rejected by the safety system. safety_violations=[violence].",
    kind="image_generation_user_error",
    name="moderation_blocked",
)
REJECTED = error(400, "Your request was rejected as a result of our safety system.")
EMPTY = status(200, {"created": 1, "data": []})
WRONG_SIZE = error(400, "Invalid size '448x336'.", name="invalid_value")
TOO_MANY = error(429, "Rate limit reached for images.", name="rate_limit_exceeded", retry_after="2")
BROKEN = error(500, "The server had an error.", kind="server_error")


def complaint_about(body: dict) -> str:
    """Return what OpenAI would not take in a request, "" when it would take it."""
    unknown = sorted(set(body) - _BODY)
    if unknown:
        return f"Unknown parameter: '{unknown[0]}'."
    if body.get("size", "auto") not in _SIZES:
        return f"Invalid size '{body['size']}'."
    if body.get("quality", "auto") not in {"low", "medium", "high", "xhigh", "max", "auto"}:
        return f"Invalid value: '{body['quality']}'."
    return ""


def drawing(asked: Asked) -> Answer:
    """Check a request as OpenAI does and answer with a picture whose colour follows from its prompt."""
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return WRONG_KEY(asked)
    if complaint_about(asked.body):
        return error(400, complaint_about(asked.body))(asked)
    wide, high = (int(side) for side in asked.body["size"].split("x"))
    return json_answer(images(drawn(asked.body["prompt"], (wide // 8, high // 8))))


def drawing_anything(asked: Asked) -> Answer:
    """Answer as a server of one's own does: any size, any field, no key."""
    wide, high = (int(side) for side in asked.body["size"].split("x"))
    return json_answer({"data": images(drawn(asked.body["prompt"], (wide // 8, high // 8)))["data"]})


def listing(asked: Asked) -> Answer:
    """Answer with the list of models, which costs nothing."""
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return WRONG_KEY(asked)
    return json_answer({"object": "list", "data": [{"id": MODEL, "object": "model"}]})


def openai_images_peer(default: Behaviour = drawing) -> Peer:
    """Return a server that draws."""
    return Peer({PATH: default, MODELS_PATH: listing})
