"""Answers of a Gemini model that draws, and what Google refuses in a request for a picture."""

import base64

from tests.peers.gemini import KEY, WRONG_KEY, content, error, read
from tests.peers.pictures import drawn
from tests.peers.server import Answer, Asked, Behaviour, Peer, json_answer, status

MODEL = "gemini-3.1-flash-image"
MODEL_PATH = f"/v1beta/models/{MODEL}"
PATH = f"{MODEL_PATH}:generateContent"

_BODY = {"contents", "generationConfig"}
_CONFIG = {"responseModalities", "imageConfig", "seed"}
_RATIOS = {"1:1", "2:3", "3:2", "3:4", "4:3", "9:16", "16:9", "21:9"}
WRONG_MODEL = error(404, "NOT_FOUND", "models/nobody is not found for API version v1beta.")


def picture_part(png: bytes, *, mime_type: str = "image/png") -> dict:
    """Return the part of an answer that holds a picture."""
    return {"inlineData": {"mimeType": mime_type, "data": base64.b64encode(png).decode()}}


def picture_of(png: bytes, **options: object) -> Behaviour:
    """Answer with a picture."""
    return status(200, content(picture_part(png), model=MODEL, **options))


PROMPT_BLOCKED = status(200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "modelVersion": MODEL})
PICTURE_BLOCKED = status(200, content(finish="IMAGE_SAFETY", model=MODEL))
NO_IMAGE = status(200, content(finish="NO_IMAGE", model=MODEL))
ONLY_WORDS = status(200, content({"text": "I cannot draw a child near a stove."}, model=MODEL))
NO_CANDIDATE = status(200, {"candidates": [], "modelVersion": MODEL})
LIMITED = status(200, content(finish="PUP_LIMITED_DISABLED", model=MODEL))


def complaint_about(body: dict) -> str:
    """Return what Google would not take in a request for a picture, "" when it would take it."""
    config = body.get("generationConfig", {})
    unknown = sorted((set(body) - _BODY) | (set(config) - _CONFIG))
    if unknown:
        return f'Invalid JSON payload received. Unknown name "{unknown[0]}"'
    if "IMAGE" not in config.get("responseModalities", []):
        return "The model answers with pictures only when IMAGE is among the response modalities."
    if config.get("imageConfig", {}).get("aspectRatio", "1:1") not in _RATIOS:
        return "Invalid value at 'generation_config.image_config.aspect_ratio'"
    if not -(2**31) <= config.get("seed", 0) < 2**31:
        return "Invalid value at 'generation_config.seed' (TYPE_INT32)"
    return ""


def drawing(asked: Asked) -> Answer:
    """Check a request as Google does and answer with a picture whose colours follow from its prompt."""
    if asked.headers.get("x-goog-api-key") != KEY:
        return WRONG_KEY(asked)
    body = read(asked)
    complaint = complaint_about(body)
    if complaint:
        return error(400, "INVALID_ARGUMENT", complaint)(asked)
    prompt = body["contents"][0]["parts"][0]["text"]
    wide, high = (int(side) for side in body["generationConfig"]["imageConfig"]["aspectRatio"].split(":"))
    return picture_of(drawn(prompt, (wide * 40, high * 40)))(asked)


def described(asked: Asked) -> Answer:
    """Answer with what a model is, which costs nothing."""
    if asked.headers.get("x-goog-api-key") != KEY:
        return WRONG_KEY(asked)
    return json_answer({"name": f"models/{MODEL}", "supportedGenerationMethods": ["generateContent"]})


def gemini_images_peer() -> Peer:
    """Return a server that knows one model that draws."""
    return Peer({PATH: drawing, MODEL_PATH: described}, not_found=WRONG_MODEL)
