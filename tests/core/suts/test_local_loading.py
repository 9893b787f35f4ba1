"""What a checkpoint must bring to be loaded, and how it lies in memory."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from vlmlab.core.errors import SutError

torch = pytest.importorskip("torch")
tiny = pytest.importorskip("tests.core.suts.tiny_checkpoints")
asking = pytest.importorskip("tests.core.suts.local_asking")
local_loading = pytest.importorskip("vlmlab.core.suts.local_loading")

FAMILIES, WITH_VIDEO = asking.FAMILIES, asking.WITH_VIDEO
loaded, question, one_thread = asking.loaded, asking.question, asking.one_thread


@pytest.fixture(scope="module")
def llava(tmp_path_factory) -> Path:
    return tiny.save_llava(tmp_path_factory.mktemp("llava"))


def test_number_format_is_chosen_when_the_weights_are_read(llava):
    sut = loaded(llava, dtype="bfloat16")

    assert {parameter.dtype for parameter in sut._loaded.model.parameters()} == {torch.bfloat16}
    assert sut.info.details["number format"] == "bfloat16"
    assert not sut.generate([question(0)])[0].is_call_error


@pytest.mark.skipif(
    find_spec("torchvision") is not None, reason="torchvision is installed: the full processor loads"
)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_processor_whose_video_part_needs_torchvision_loads_without_it_and_says_so(tmp_path, family):
    details = loaded(FAMILIES[family](tmp_path)).info.details

    said = "left out: that part of the processor needs torchvision; pictures are not affected"
    assert details["image backend"] == "pil"
    assert details.get("video") == (said if family in WITH_VIDEO else None)


def test_the_library_is_told_to_run_no_code_to_read_safetensors_only_and_to_ask_no_network(
    llava, monkeypatch
):
    told = []

    class Spy:
        def __init__(self, real):
            self._real = real

        def from_pretrained(self, folder, **settings):
            told.append(settings)
            return self._real.from_pretrained(folder, **settings)

    monkeypatch.setattr(local_loading, "_MODELS", Spy(local_loading._MODELS))
    monkeypatch.setattr(local_loading, "_PROCESSORS", Spy(local_loading._PROCESSORS))

    loaded(llava)

    assert {(one["trust_remote_code"], one["local_files_only"]) for one in told} == {(False, True)}
    assert [one["use_safetensors"] for one in told if "dtype" in one] == [True]


def test_a_template_that_refuses_the_conversation_refuses_the_checkpoint(tmp_path):
    folder = tiny.save_llava(tmp_path)
    refusal = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('No system role.') }}{% endif %}"
    template = folder / "chat_template.jinja"
    template.write_text(refusal + template.read_text())

    with pytest.raises(SutError, match="chat template refuses the conversation: No system role") as caught:
        loaded(folder, system_prompt="Drive well.")

    assert caught.value.hint == "Remove the system prompt if there is one, or choose another checkpoint."
    assert not loaded(folder).generate([question(0)])[0].is_call_error


def test_weights_that_lack_a_tensor_are_refused(tmp_path):
    from safetensors.torch import load_file, save_file

    folder = tiny.save_llava(tmp_path)
    tensors = load_file(folder / "model.safetensors")
    lost = next(name for name in tensors if "c_attn.weight" in name)
    del tensors[lost]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})

    with pytest.raises(SutError, match="The weights lack 1 tensors"):
        loaded(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_weights_with_a_value_that_is_no_number_are_refused(tmp_path, value):
    from safetensors.torch import load_file, save_file

    folder = tiny.save_llava(tmp_path)
    path = folder / "model.safetensors"
    tensors = load_file(path)
    name = next(name for name in sorted(tensors) if "c_attn.weight" in name)
    tensors[name][0, 0] = value
    save_file(tensors, path, metadata={"format": "pt"})

    with pytest.raises(SutError, match=r"weights are damaged.*not numbers"):
        loaded(folder)


def test_a_family_that_the_library_does_not_know_is_refused_with_a_sentence(tmp_path):
    folder = tiny.save_llava(tmp_path)
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"model_type": "llava"', '"model_type": "lava_lamp"'))

    with pytest.raises(SutError, match="family “lava_lamp”") as caught:
        loaded(folder)

    assert caught.value.hint == "Choose a checkpoint that takes pictures and text, or update transformers."


def test_a_checkpoint_without_chat_template_is_refused(tmp_path):
    folder = tiny.save_llava(tmp_path)
    (folder / "chat_template.jinja").unlink()

    with pytest.raises(SutError, match="no chat template"):
        loaded(folder)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_a_gpu_that_is_not_there_is_named(llava):
    with pytest.raises(SutError, match="no CUDA device"):
        loaded(llava, device="cuda")


MEASURE = """
import resource, sys, torch
from vlmlab.core.suts.kinds import load_sut, parse_params
from vlmlab.core.suts.checkpoint import CheckpointRoots
from vlmlab.core.suts.context import SutContext
import vlmlab.core.suts.transformers_local
roots = SutContext(CheckpointRoots(allow_any_folder=True))
load_sut("transformers_local", {"checkpoint": sys.argv[1], "device": "cpu"}, roots).close()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sut = load_sut("transformers_local", {"checkpoint": sys.argv[2], "device": "cpu"}, roots)
size = sum(p.numel() * p.element_size() for p in sut._loaded.model.parameters())
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / size)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
def test_loading_never_holds_the_weights_twice(llava, tmp_path):
    large = tiny.save_llava(tmp_path, hidden=640, layers=8)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(llava), str(large)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert (
        float(done.stdout.split()[-1]) < 1.7
    )  # once in float32, and half of it mapped from the bfloat16 file
