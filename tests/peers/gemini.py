"""A peer that speaks generateContent, and refuses what Google refuses."""

import base64
import io
import re

from PIL import Image

from tests.peers.server import Answer, Asked, Behaviour, Peer, json_answer, status

KEY = "AIzaPeer0123456789abcdefghijklmnopqWXYZ"
MODEL = "gemini-3-flash-preview"
PATH = f"/v1beta/models/{MODEL}:generateContent"
STABLE_PATH = f"/v1/models/{MODEL}:generateContent"  # where the official client goes unless it is told

_BODY = {"contents", "generationConfig", "systemInstruction"}
_CONFIG = {"maxOutputTokens", "temperature", "mediaResolution", "thinkingConfig"}
_LEVELS = {"MINIMAL", "LOW", "MEDIUM", "HIGH"}


def content(
    *parts: dict,
    finish: str | None = "STOP",
    usage: dict | None = None,
    model: str = f"{MODEL}-12-2025",
) -> dict:
    """Return an answer with one candidate."""
    candidate: dict = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    counts = {"promptTokenCount": 300, "candidatesTokenCount": 5, "totalTokenCount": 305}
    return {
        "candidates": [candidate],
        "usageMetadata": usage or counts,
        "modelVersion": model,
        "responseId": "r-1",
    }


def error(code: int, name: str, message: str, *, details: list | None = None, **headers: str) -> Behaviour:
    """Answer with Google's error object."""
    body = {"error": {"code": code, "message": message, "status": name, "details": details or []}}
    return status(code, body, **headers)


def _info(reason: str) -> dict:
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    }


def _quota(quota_id: str) -> dict:
    return {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaMetric": "generate_requests", "quotaId": quota_id}],
    }


_RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}
_OVER = "You exceeded your current quota, please check your plan and billing details."
WRONG_KEY = error(
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    details=[_info("API_KEY_INVALID")],
)
WRONG_MODEL = error(404, "NOT_FOUND", "models/nobody is not found for API version v1beta.")
TOO_MANY = error(
    429,
    "RESOURCE_EXHAUSTED",
    _OVER,
    details=[_quota("GenerateRequestsPerMinutePerProjectPerModel"), _RETRY],
)
TOO_MANY_HEADER = error(429, "RESOURCE_EXHAUSTED", _OVER, retry_after="2")
DAY_IS_OVER = error(
    429,
    "RESOURCE_EXHAUSTED",
    _OVER,
    details=[_quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), _RETRY],
)
WRONG_PLACE = error(400, "FAILED_PRECONDITION", "User location is not supported for the API use.")
BROKEN = error(500, "INTERNAL", "An internal error has occurred.")
OVERLOADED = error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
TOO_SLOW = error(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete.")
TRUNCATED = status(200, content({"text": '[{"box_2d": [1, 2'}, finish="MAX_TOKENS"))
STOPPED = status(200, content(finish="SAFETY"))
RECITED = status(200, content({"text": "To be"}, finish="RECITATION"))
BLOCKED = status(
    200,
    {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 300, "totalTokenCount": 300},
        "modelVersion": MODEL,
    },
)
LIMITED = status(200, content(finish="PUP_LIMITED_DISABLED"))
THOUGHT = status(
    200,
    content(
        {"text": "The light is red, so A.", "thought": True},
        {"text": "B", "thoughtSignature": "c2lnbmF0dXJl"},
        usage={
            "promptTokenCount": 300,
            "candidatesTokenCount": 1,
            "thoughtsTokenCount": 40,
            "totalTokenCount": 341,
        },
    ),
)


def read(asked: Asked) -> dict:
    """Return a request with its names in one spelling: Google takes mimeType and mime_type alike."""
    return _camel(asked.body)


def _camel(value):
    if isinstance(value, list):
        return [_camel(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {re.sub(r"_([a-z])", lambda m: m[1].upper(), name): _camel(one) for name, one in value.items()}


def complaint_about(body: dict) -> str:
    """Return what Google would not take in a request, "" when it would take it."""
    config = body.get("generationConfig", {})
    unknown = sorted((set(body) - _BODY) | (set(config) - _CONFIG))
    if unknown:
        return f'Invalid JSON payload received. Unknown name "{unknown[0]}"'
    thinking = config.get("thinkingConfig", {})
    if len(set(thinking) & {"thinkingLevel", "thinkingBudget"}) > 1:
        return "You can only set only one of thinking budget and thinking level."
    if "thinkingLevel" in thinking and thinking["thinkingLevel"] not in _LEVELS:
        return "Invalid value at 'generation_config.thinking_config.thinking_level'"
    if not 0 <= config.get("temperature", 1) <= 2:
        return "temperature must be in the range [0, 2]"
    return ""


def sent_picture(asked: Asked) -> Image.Image:
    """Return the picture of a request, decoded."""
    blob = read(asked)["contents"][0]["parts"][0]["inlineData"]
    assert blob["mimeType"] == "image/png"
    data = blob["data"].replace("-", "+").replace("_", "/")  # the official client writes the other alphabet
    return Image.open(io.BytesIO(base64.b64decode(data, validate=True)), formats=("PNG",))


def describing(asked: Asked) -> Answer:
    """Check a request as Google does and answer with the size of its picture."""
    if asked.headers.get("x-goog-api-key") != KEY:
        return WRONG_KEY(asked)
    complaint = complaint_about(read(asked))
    if complaint:
        return error(400, "INVALID_ARGUMENT", complaint)(asked)
    width, height = sent_picture(asked).size
    prompt = asked.body["contents"][0]["parts"][1]["text"]
    return json_answer(content({"text": f"{prompt}: {width} x {height}"}))


def gemini_peer(default: Behaviour = describing) -> Peer:
    """Return a server that knows one model."""
    return Peer({PATH: default, STABLE_PATH: default}, not_found=WRONG_MODEL)
