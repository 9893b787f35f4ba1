"""A real server end to end: `transformers serve` answers as the same checkpoint does in this process."""

import base64
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.patience import PATIENCE_SECONDS
from vlmlab.core.images import encode_png
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import load_sut
from vlmlab.core.suts.local_params import SHIPPED_FOLDER
from vlmlab.core.suts.network import policy_of

MISSING = [
    package
    for package in ("torch", "transformers", "fastapi", "uvicorn", "openai", "pydantic", "accelerate", "rich")
    if find_spec(package) is None
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"transformers serve and its client need {', '.join(MISSING)}"),
]

CHECKPOINT = SHIPPED_FOLDER / "pocket"
COMMAND = Path(sys.executable).parent / "transformers"
STARTS_WITHIN_S = 300
QUESTIONS = (
    "What should the driver do?\nA. Stop\nB. Slow down\nC. Continue",
    "Is there a red car?\nA. yes\nB. no",
)


@dataclass(frozen=True)
class Server:
    port: int

    @property
    def context(self) -> SutContext:
        return SutContext(network=policy_of([f"127.0.0.1:{self.port}"]))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@dataclass(frozen=True)
class Started:
    port: int
    process: subprocess.Popen
    log: Path


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """Start the server; it loads while this process loads the checkpoint too."""
    if not COMMAND.exists():
        pytest.skip("the command transformers is not installed beside this Python")
    folder = tmp_path_factory.mktemp("serve")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder), "OMP_NUM_THREADS": "1"}
    command = [
        str(COMMAND), "serve", str(CHECKPOINT), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu",
        "--dtype", "float32", "--log-level", "warning",
    ]  # fmt: skip
    log = folder / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield Started(port, process, log)
    finally:
        process.kill()  # it has nothing to save, and takes seconds to end in order
        process.wait(PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def server(started, local_letters):
    _wait_until_up(started.port, started.process, started.log)
    return Server(started.port)


def _wait_until_up(port: int, process: subprocess.Popen, log: Path) -> None:
    ends_at = time.monotonic() + STARTS_WITHIN_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 0.5).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > ends_at:
                pytest.fail(f"transformers serve did not start: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.1)
        else:
            return


def requests() -> list[SutRequest]:
    random = np.random.default_rng(0)
    pictures = [
        encode_png(random.integers(0, 256, (height, width, 3), dtype=np.uint8))
        for height, width in ((336, 448), (100, 300), (160, 160))
    ]
    return [SutRequest(picture, question) for picture in pictures for question in QUESTIONS]


@pytest.fixture(scope="module")
def local_letters(started) -> list[str]:
    sut = load_sut(
        "transformers_local", {"checkpoint": "shipped:pocket", "device": "cpu", "max_new_tokens": 8}
    )
    letters = [reply.text for reply in sut.generate(requests())]
    sut.close()
    return letters


def test_the_adapter_gets_the_letters_that_the_checkpoint_gives_in_this_process(server, local_letters):
    sut = load_sut(
        "openai_chat",
        {
            "model": str(CHECKPOINT),
            "base_url": server.url,
            "max_output_tokens": 8,
            "temperature": 0,
            "concurrency": 2,
        },
        server.context,
    )

    replies = sut.generate(requests())
    sut.close()

    assert [reply.call_error for reply in replies] == [""] * 6
    assert [reply.text for reply in replies] == local_letters
    assert {reply.finish_reason for reply in replies} == {"stop"}
    assert all(reply.input_tokens and reply.output_tokens for reply in replies)
    assert [reply.seen_size for reply in replies[::2]] == [(448, 336), (300, 100), (160, 160)]
    assert len(set(local_letters)) > 1


def test_openais_own_client_gets_the_same_letters(server, local_letters):
    import openai

    with openai.OpenAI(
        base_url=server.url, api_key="none", max_retries=0, timeout=PATIENCE_SECONDS
    ) as client:
        letters = [
            client.chat.completions.create(
                model=str(CHECKPOINT),
                max_tokens=8,
                temperature=0,
                messages=[
                    {
                        "role": "user",
                        "content": [
                            {"type": "image_url", "image_url": {"url": _data_url(request.image_png)}},
                            {"type": "text", "text": request.prompt},
                        ],
                    }
                ],
            )
            .choices[0]
            .message.content
            for request in requests()[:3]
        ]

    assert letters == local_letters[:3]


def test_another_models_name_and_an_unknown_field_are_said_once(server):
    values = {"model": "nobody/nothing", "base_url": server.url, "max_output_tokens": 8}
    other = load_sut("openai_chat", values, server.context)
    extra = load_sut(
        "openai_chat", {**values, "model": str(CHECKPOINT), "extra_body": {"bogus": 1}}, server.context
    )

    replies = [sut.generate(requests()[:1])[0] for sut in (other, extra)]
    other.close()
    extra.close()

    assert [reply.n_attempts for reply in replies] == [1, 1]
    assert "nobody/nothing" in replies[0].call_error
    assert "bogus" in replies[1].call_error


def _data_url(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
