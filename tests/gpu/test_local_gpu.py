"""Checkpoints on a real GPU: number format, batches, memory that runs out and comes back, throughput.

Run with ``pytest -m gpu tests/gpu`` on a machine with CUDA; nothing beyond the project is needed.
"""

import io
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vlmlab.core.images import encode_png
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.checkpoint import CheckpointRoots
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import load_sut
from vlmlab.core.suts.local_params import SHIPPED_FOLDER

torch = pytest.importorskip("torch")
tiny = pytest.importorskip("tests.core.suts.tiny_checkpoints")

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        not torch.cuda.is_available(),
        reason="needs a CUDA device: run `pytest -m gpu tests/gpu` on a machine that has one",
    ),
]
ANYWHERE = SutContext(CheckpointRoots(allow_any_folder=True))
FAMILIES = {
    "llava": tiny.save_llava,
    "gemma3": tiny.save_gemma3,
    "qwen3_vl": tiny.save_qwen3_vl,
    "qwen2_5_vl": tiny.save_qwen2_5_vl,
    "internvl": tiny.save_internvl,
    "smolvlm": tiny.save_smolvlm,
}
QUESTION = "What should the driver do? A. Stop B. Slow down C. Continue."


def picture(number: int, *, width: int = 96, height: int = 64) -> bytes:
    return encode_png(np.random.default_rng(number).integers(0, 256, (height, width, 3), dtype=np.uint8))


def question(number: int, *, words: int = 0) -> SutRequest:
    return SutRequest(picture(number), QUESTION + " now" * words)


def loaded(checkpoint: str | Path, **values):
    settings = {"checkpoint": str(checkpoint), "batch_size": 4, "max_new_tokens": 10, **values}
    return load_sut("transformers_local", settings, ANYWHERE)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    made = {name: save(tmp_path_factory.mktemp(name)) for name, save in FAMILIES.items()}
    made["large"] = tiny.save_llava(tmp_path_factory.mktemp("large"), hidden=640, layers=8)
    return made


@pytest.mark.parametrize("family", FAMILIES)
def test_a_gpu_is_taken_by_itself_with_bfloat16(folders, family):
    sut = loaded(folders[family])

    replies = sut.generate([question(number) for number in range(3)])

    assert (sut.info.details["device"], sut.info.details["number format"]) == ("cuda", "bfloat16")
    assert {one.dtype for one in sut._loaded.model.parameters()} == {torch.bfloat16}
    assert [reply.call_error for reply in replies] == [""] * 3
    sut.close()


def test_the_processor_is_taken_when_asked_for(folders):
    assert loaded(folders["llava"], device="cpu").info.details["number format"] == "float32"


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_gets_the_same_answer_whatever_else_is_asked(folders, family, dtype):
    sut = loaded(folders[family], dtype=dtype)
    rows = [question(number, words=3 * number) for number in range(6)]
    rows += [SutRequest(picture(number, width=160, height=90), QUESTION) for number in (6, 7)]

    together = [reply.text for reply in sut.generate(rows)]

    assert [sut.generate([row])[0].text for row in rows] == together
    assert [reply.text for reply in sut.generate(rows[::-1])][::-1] == together
    sut.close()


def test_memory_that_really_runs_out_halves_the_batch_and_says_so(folders):
    """The allocator of this process gets a limit between what a whole and a half batch need."""
    rows = [question(number, words=60) for number in range(64)]
    sut = loaded(folders["large"], batch_size=64)
    weights = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    whole = [reply.text for reply in sut.generate(rows)]
    peak = torch.cuda.max_memory_allocated()
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    assert len(whole) == 64

    torch.cuda.set_per_process_memory_fraction((weights + 0.6 * (peak - weights)) / total)
    try:
        replies = sut.generate(rows)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)

    assert [reply.call_error for reply in replies] == [""] * 64
    assert sut.info.batch_size < 64
    assert "lowered from" in sut.info.details["batch size"]
    same_batch = loaded(folders["large"], batch_size=sut.info.batch_size)
    assert [reply.text for reply in replies] == [reply.text for reply in same_batch.generate(rows)]
    assert sut.info.fingerprint == same_batch.info.fingerprint


def test_memory_comes_back_when_a_system_is_closed(folders):
    before = torch.cuda.memory_allocated()
    sut = loaded(folders["large"], batch_size=16)
    sut.generate([question(number) for number in range(16)])
    held = torch.cuda.memory_allocated() - before

    sut.close()

    left = torch.cuda.memory_allocated() - before
    assert held > 2 * sum(path.stat().st_size for path in folders["large"].glob("*.safetensors")) / 3
    assert left < held / 20


def test_throughput_beside_the_pipeline_is_reported(record_property, capsys):
    """Reported, never judged: letters a second at batch 16, and the pipeline's asked one by one."""
    import transformers

    folder = SHIPPED_FOLDER / "pocket"
    rows = [SutRequest(picture(number, width=448, height=336), QUESTION) for number in range(64)]
    sut = loaded("shipped:pocket", batch_size=16, max_new_tokens=8)
    peer = transformers.pipeline("image-text-to-text", model=str(folder), dtype=torch.bfloat16, device="cuda")

    def ask_peer() -> None:
        for row in rows:
            image = {"type": "image", "image": Image.open(io.BytesIO(row.image_png))}
            content = [image, {"type": "text", "text": row.prompt}]
            peer(
                text=[{"role": "user", "content": content}],
                generate_kwargs={"max_new_tokens": 8, "do_sample": False},
            )

    def seconds(ask) -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        ask()
        torch.cuda.synchronize()
        return time.perf_counter() - start

    ours, theirs = [], []
    for _ in range(4):
        ours.append(seconds(lambda: sut.generate(rows)))
        theirs.append(seconds(ask_peer))
    mine, other = (64 / statistics.median(one[1:]) for one in (ours, theirs))
    record_property("letters a second, batch 16", mine)
    record_property("letters a second, pipeline", other)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{torch.cuda.get_device_name()}: {mine:.1f} letters/s at batch 16, pipeline {other:.1f}\n"
        )

    assert not any(reply.is_call_error for reply in sut.generate(rows))
