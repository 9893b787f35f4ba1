"""A peer that speaks the chat completions protocol."""

import base64
import io

from PIL import Image

from tests.peers.server import Answer, Asked, Behaviour, Peer, json_answer, status

KEY = "sk-peer-0123456789abcdefWXYZ"
MODEL = "peer-vl-1"
PATH = "/v1/chat/completions"


def completion(
    content: object = "A",
    *,
    finish: str = "stop",
    usage: dict | None = None,
    model: str = f"{MODEL}-2026-11-01",
    **message: object,
) -> dict:
    """Return a completion with one choice."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_780_000_000,
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "logprobs": None,
                "message": {"role": "assistant", "content": content, "refusal": None, **message},
            }
        ],
        "usage": usage or {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105},
    }


def error(
    code: int, message: str, *, kind: str = "invalid_request_error", name: str | None = None, **headers
):
    """Answer with OpenAI's error object."""
    return status(code, {"error": {"message": message, "type": kind, "param": None, "code": name}}, **headers)


WRONG_KEY = error(401, f"Incorrect API key provided: {KEY[:8]}****WXYZ.", name="invalid_api_key")
WRONG_MODEL = error(404, "The model `nobody-vl` does not exist.", name="model_not_found")
TOO_MANY = error(
    429, "Rate limit reached for requests.", kind="requests", name="rate_limit_exceeded", retry_after="2"
)
NO_CREDIT = error(
    429, "You exceeded your current quota.", kind="insufficient_quota", name="insufficient_quota"
)
BROKEN = error(500, "The server had an error.", kind="server_error")
TRUNCATED = status(200, completion('[{"bbox_2d": [1, 2', finish="length"))
REFUSED = status(200, completion(None, refusal="I can't help with that."))
FILTERED = status(200, completion("", finish="content_filter"))
THOUGHT = status(
    200,
    completion(
        "B",
        reasoning_content="It could be A. No, B.",
        usage={
            "prompt_tokens": 100,
            "completion_tokens": 40,
            "completion_tokens_details": {"reasoning_tokens": 38},
        },
    ),
)


def sent_picture(asked: Asked) -> Image.Image:
    """Return the picture of a request, decoded."""
    parts = asked.body["messages"][-1]["content"]
    url = next(part["image_url"]["url"] for part in parts if part["type"] == "image_url")
    head, _, data = url.partition(",")
    assert head == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(data, validate=True)), formats=("PNG",))


def sent_prompt(asked: Asked) -> str:
    """Return the user text of a request."""
    return next(part["text"] for part in asked.body["messages"][-1]["content"] if part["type"] == "text")


def describing(asked: Asked) -> Answer:
    """Check a request as a server does and answer with the size of its picture."""
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        return WRONG_KEY(asked)
    if asked.body.get("model") != MODEL:
        return WRONG_MODEL(asked)
    width, height = sent_picture(asked).size
    return json_answer(completion(f"{sent_prompt(asked)}: {width} x {height}"))


def openai_peer(default: Behaviour = describing) -> Peer:
    """Return a server whose completions endpoint answers with the size of the picture it got."""
    return Peer({PATH: default})
