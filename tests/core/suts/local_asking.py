"""What tests of local checkpoints share: tiny checkpoints of each family, questions, and loading."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.core.suts import tiny_checkpoints as tiny
from vlmlab.core.images import encode_png
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.checkpoint import CheckpointRoots
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import load_sut

ANYWHERE = SutContext(CheckpointRoots(allow_any_folder=True))
FAMILIES = {
    "llava": tiny.save_llava,
    "gemma3": tiny.save_gemma3,
    "qwen3_vl": tiny.save_qwen3_vl,
    "qwen2_5_vl": tiny.save_qwen2_5_vl,
    "internvl": tiny.save_internvl,
    "smolvlm": tiny.save_smolvlm,
}
WITH_VIDEO = ("qwen3_vl", "qwen2_5_vl", "internvl", "smolvlm")
QUESTION = "What should the driver do? A. Stop B. Slow down C. Continue."


def picture(number: int, *, width: int = 96, height: int = 64) -> bytes:
    return encode_png(np.random.default_rng(number).integers(0, 256, (height, width, 3), dtype=np.uint8))


def question(number: int, *, words: int = 0) -> SutRequest:
    return SutRequest(picture(number), QUESTION + " now" * words)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def loaded(folder: Path, **values):
    settings = {"checkpoint": str(folder), "batch_size": 4, "max_new_tokens": 10, "device": "cpu", **values}
    return load_sut("transformers_local", settings, ANYWHERE)
