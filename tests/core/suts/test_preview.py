"""Every kind shows what it would send before anything is loaded or connected."""

import json
import socket
import subprocess
import sys

import pytest

from tests.doubles import paint_png
from tests.patience import PATIENCE_SECONDS
from vlmlab.core.errors import ImageError, SutError
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.kinds import SUT_KINDS, parse_params
from vlmlab.core.suts.preview import preview_request

PICTURE = paint_png((1, 2, 3), width=448, height=336)
REQUEST = SutRequest(PICTURE, "What is é?")
VALUES = {
    "transformers_local": {"checkpoint": "shipped:pocket"},
    "scripted": {},
    "openai_chat": {"model": "qwen3-vl"},
    "gemini": {"model": "gemini-3-flash-preview"},
    "anthropic": {"model": "claude-sonnet-4-6"},
    "bedrock": {"model": "anthropic.claude-sonnet-4-6"},
}


@pytest.fixture(autouse=True)
def no_connections(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a preview opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def preview(kind: str, request: SutRequest = REQUEST, *, has_key: bool | None = None, **values) -> str:
    return preview_request(kind, parse_params(kind, {**VALUES[kind], **values}), request, has_key=has_key)


@pytest.mark.parametrize("kind", SUT_KINDS)
def test_every_kind_shows_the_prompt_and_words_for_the_picture(kind):
    shown = preview(kind)

    assert json.loads(shown)
    assert "What is é?" in shown
    assert "<PNG picture, 448 x 336, " in shown


def test_the_preview_of_a_server_is_the_exact_request():
    shown = json.loads(
        preview("openai_chat", base_url="http://127.0.0.1:8000/v1", temperature=0, max_image_side=224)
    )

    assert shown["address"] == "POST http://127.0.0.1:8000/v1/chat/completions"
    assert shown["headers"] == {"Content-Type": "application/json", "Accept": "application/json"}
    picture, words = shown["body"]["messages"][0]["content"]
    assert picture["image_url"]["url"].startswith("<PNG picture, 224 x 168, ")
    assert words == {"type": "text", "text": "What is é?"}
    assert (shown["body"]["model"], shown["body"]["temperature"]) == ("qwen3-vl", 0.0)


def test_a_key_shows_as_a_place_for_one():
    shown = json.loads(preview("openai_chat", has_key=True))

    assert shown["headers"]["Authorization"] == "<key>"


def test_the_preview_of_a_checkpoint_is_its_conversation_and_decoding():
    assert json.loads(preview("transformers_local", system_prompt="Be brief.", temperature=0.5)) == {
        "checkpoint": "shipped:pocket",
        "conversation": [
            {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
            {
                "role": "user",
                "content": [
                    {"type": "image", "image": f"<PNG picture, 448 x 336, {len(PICTURE):,} bytes>"},
                    {"type": "text", "text": "What is é?"},
                ],
            },
        ],
        "generation": {"max_new_tokens": 128, "do_sample": True, "temperature": 0.5},
    }


def test_what_could_not_be_sent_is_said():
    with pytest.raises(SutError) as address:
        preview("openai_chat", base_url="file:///etc/passwd")
    with pytest.raises(ImageError):
        preview("openai_chat", SutRequest(b"GIF89a", "a"))

    assert address.value.field == "base_url"


def test_previews_and_checks_import_no_heavy_library_before_they_are_used():
    code = (
        "import sys, vlmlab.core.suts.kinds, vlmlab.core.suts.preview, vlmlab.core.suts.prices, "
        "vlmlab.core.suts.remote, vlmlab.core.suts.network\n"
        "print(sorted({'torch', 'transformers', 'boto3', 'httpx2', 'httpcore2'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )

    assert done.stdout.strip() == "[]"
