"""A peer that speaks Anthropic's messages, and refuses what Anthropic refuses."""

import base64
import io

from PIL import Image

from tests.peers.server import Answer, Asked, Behaviour, Peer, json_answer, status

KEY = "sk-ant-peer-0123456789abcdefWXYZ"
MODEL = "claude-sonnet-4-6"
PATH = "/v1/messages"

_VERSIONS = {"2023-06-01", "2026-10-21"}
_BODY = {"model", "max_tokens", "messages", "system", "temperature", "thinking", "output_config"}


def message(
    *blocks: dict, stop: str = "end_turn", usage: dict | None = None, model: str = f"{MODEL}-20260217"
) -> dict:
    """Return an answer."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(blocks),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 300, "output_tokens": 5},
    }


def text(words: str) -> dict:
    """Return a block of text."""
    return {"type": "text", "text": words}


def error(code: int, kind: str, said: str, *, details: dict | None = None, **headers: str) -> Behaviour:
    """Answer with Anthropic's error object."""
    inner: dict = {"type": kind, "message": said}
    if details is not None:
        inner["details"] = details
    return status(code, {"type": "error", "error": inner, "request_id": "req_1"}, **headers)


WRONG_KEY = error(401, "authentication_error", "invalid x-api-key")
NO_RIGHT = error(403, "permission_error", "Your API key does not have permission to use this model.")
WRONG_MODEL = error(404, "not_found_error", "model: claude-nobody")
TOO_LARGE = error(413, "request_too_large", "Request exceeds the maximum size")
TOO_MANY = error(429, "rate_limit_error", "This request would exceed your rate limit.", retry_after="3")
MONTH_IS_SPENT = error(
    429,
    "rate_limit_error",
    "You have reached your specified API usage limits.",
    details={"error_code": "enforced_spend_limit_reached"},
)
NO_CREDIT = error(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.")
BROKEN = error(500, "api_error", "Internal server error")
OVERLOADED = error(529, "overloaded_error", "Overloaded")
TRUNCATED = status(200, message(text('[{"bbox_2d": [1, 2'), stop="max_tokens"))
REFUSED = status(200, message(stop="refusal"))
THOUGHT = status(
    200,
    message(
        {"type": "thinking", "thinking": "The light is red.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eHl6"},
        text("B"),
        usage={
            "input_tokens": 100,
            "cache_creation_input_tokens": 20,
            "cache_read_input_tokens": 180,
            "output_tokens": 45,
            "output_tokens_details": {"thinking_tokens": 40},
        },
    ),
)


def complaint_about(body: dict, version: str) -> str:
    """Return what Anthropic would not take in a request, "" when it would take it."""
    unknown = sorted(set(body) - _BODY)
    if unknown:
        return f"{unknown[0]}: Extra inputs are not permitted"
    if "temperature" in body and version == "2026-10-21":
        return "temperature: Extra inputs are not permitted"
    if "max_tokens" not in body:
        return "max_tokens: Field required"
    budget = body.get("thinking", {}).get("budget_tokens")
    if budget is not None and not 1024 <= budget < body["max_tokens"]:
        return "`max_tokens` must be greater than `thinking.budget_tokens`."
    if body.get("output_config", {}).get("effort", "low") not in {"low", "medium", "high", "xhigh", "max"}:
        return "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
    if body.get("thinking", {}).get("type") in {"enabled", "adaptive"} and body.get("temperature", 1) != 1:
        return "`temperature` may only be set to 1 when thinking is enabled."
    return ""


def sent_picture(asked: Asked) -> Image.Image:
    """Return the picture of a request, decoded."""
    source = asked.body["messages"][0]["content"][0]["source"]
    assert (source["type"], source["media_type"]) == ("base64", "image/png")
    return Image.open(io.BytesIO(base64.b64decode(source["data"], validate=True)), formats=("PNG",))


def describing(asked: Asked) -> Answer:
    """Check a request as Anthropic does and answer with the size of its picture."""
    version = asked.headers.get("anthropic-version", "")
    if KEY not in (
        asked.headers.get("x-api-key"),
        asked.headers.get("authorization", "").removeprefix("Bearer "),
    ):
        return WRONG_KEY(asked)
    if version not in _VERSIONS:
        return error(400, "invalid_request_error", "anthropic-version: header is required")(asked)
    if asked.body.get("model") != MODEL:
        return WRONG_MODEL(asked)
    if complaint_about(asked.body, version):
        return error(400, "invalid_request_error", complaint_about(asked.body, version))(asked)
    width, height = sent_picture(asked).size
    prompt = asked.body["messages"][0]["content"][1]["text"]
    return json_answer(message(text(f"{prompt}: {width} x {height}")))


def anthropic_peer(default: Behaviour = describing) -> Peer:
    """Return a server that knows one model."""
    return Peer({PATH: default})
