"""Checkpoints in memory: padding, fixed batches, decoding, errors, identity and memory."""

import os
import subprocess
import sys
import weakref
from functools import wraps
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from vlmlab.core.errors import SutError
from vlmlab.core.images import encode_png
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.checkpoint import CheckpointRoots
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import load_sut

torch = pytest.importorskip("torch")
tiny = pytest.importorskip("tests.core.suts.tiny_checkpoints")

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


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    return {name: save(tmp_path_factory.mktemp(name)) for name, save in FAMILIES.items()}


def loaded(folder: Path, **values):
    settings = {"checkpoint": str(folder), "batch_size": 4, "max_new_tokens": 10, "device": "cpu", **values}
    return load_sut("transformers_local", settings, ANYWHERE)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_gets_the_same_answer_whatever_else_is_asked(folders, family):
    sut = loaded(folders[family])
    rows = [question(number, words=3 * number) for number in range(6)]
    rows += [SutRequest(picture(number, width=160, height=90), QUESTION) for number in (6, 7)]

    replies = sut.generate(rows)

    together = [reply.text for reply in replies]
    assert not any(reply.is_call_error for reply in replies)
    assert [sut.generate([row])[0].text for row in rows] == together
    assert [reply.text for reply in sut.generate(rows[::-1])][::-1] == together
    assert [reply.text for reply in sut.generate([rows[0], *rows])][1:] == together
    assert len(set(together)) > 2


@pytest.mark.parametrize("family", ["qwen3_vl", "internvl", "smolvlm"])
def test_rows_whose_pictures_have_unlike_shapes_go_into_different_passes(folders, monkeypatch, family):
    sut = loaded(folders[family])
    shapes, answer = [], sut._loaded.model.generate

    def noted(**inputs):
        shapes.append(tuple(inputs["pixel_values"].shape))
        return answer(**inputs)

    monkeypatch.setattr(sut._loaded.model, "generate", noted)
    wide, small = (
        SutRequest(picture(1, width=width, height=height), QUESTION)
        for width, height in ((200, 50), (64, 64))
    )
    for rows in ([wide], [small], [wide, small, wide]):
        sut.generate(rows)

    assert shapes == [shapes[0], shapes[1], shapes[0], shapes[1]]
    assert shapes[0] != shapes[1]


@pytest.mark.parametrize(
    ("family", "seen"),
    [("llava", (64, 64)), ("gemma3", (64, 64)), ("qwen3_vl", (160, 96)), ("qwen2_5_vl", (168, 84)),
     ("internvl", None), ("smolvlm", None)],
)  # fmt: skip
def test_the_size_that_the_model_saw_is_told_where_there_is_one(folders, family, seen):
    (reply,) = loaded(folders[family]).generate([SutRequest(picture(1, width=160, height=90), QUESTION)])

    assert (reply.call_error, reply.seen_size) == ("", seen)


@pytest.mark.parametrize("family", FAMILIES)
def test_padding_on_the_left_gives_the_answer_of_the_unpadded_row(folders, family):
    sut = loaded(folders[family])
    rows = [question(number, words=4 * number) for number in range(4)]
    processor, model = sut._loaded.processor, sut._loaded.model

    def alone(row: SutRequest) -> str:
        inputs = sut._inputs.tensors([row], {"padding": False})
        with torch.inference_mode():
            new = model.generate(**inputs)[0, inputs["input_ids"].shape[1] :]
        return processor.tokenizer.decode(new, skip_special_tokens=False)

    replies = sut.generate(rows)

    assert [reply.text for reply in replies] == [alone(row) for row in rows]
    assert [reply.input_tokens for reply in replies] == [
        sut._inputs.tensors([row], {"padding": False})["input_ids"].shape[1] for row in rows
    ]


def test_pictures_and_their_sizes_matter_to_the_answer(folders):
    sut = loaded(folders["qwen3_vl"])
    rows = [SutRequest(picture(1, width=width), QUESTION) for width in (64, 96, 160)]

    replies = sut.generate(rows)

    assert len({reply.input_tokens for reply in replies}) > 1
    assert all(reply.text for reply in replies)


def test_generation_settings_that_come_with_the_weights_do_not_decide(folders, tmp_path):
    odd = tiny.save_llava(tmp_path, repetition_penalty=9.0, do_sample=True, temperature=5.0, max_length=20)

    answers = [
        [reply.text for reply in loaded(folder).generate([question(0)])] for folder in (odd, folders["llava"])
    ]

    assert answers[0] == answers[1]


def test_reply_ends_at_the_first_stop_token_and_keeps_other_special_tokens(folders, monkeypatch):
    sut = loaded(folders["llava"])
    words = sut._loaded.processor.tokenizer
    ids = words("B<image>")["input_ids"] + words.convert_tokens_to_ids(["<|end|>", "<|pad|>", "<|user|>"])

    def answer(**inputs):
        return torch.cat([inputs["input_ids"], torch.tensor([ids] * 4)], dim=1)

    monkeypatch.setattr(sut._loaded.model, "generate", answer)
    (reply,) = sut.generate([question(0)])

    assert (reply.text, reply.finish_reason, reply.output_tokens) == ("B<image>", "stop", len(ids) - 3)


def test_reply_that_fills_its_length_says_so(folders):
    (reply,) = loaded(folders["llava"], max_new_tokens=2).generate([question(0)])

    assert (reply.finish_reason, reply.output_tokens) == ("length", 2)


def test_lack_of_memory_halves_the_batch_and_shows_in_the_identity(folders, monkeypatch):
    sut = loaded(folders["llava"], batch_size=8)
    before, answer = sut.info, sut._loaded.model.generate

    def cramped(**inputs):
        if inputs["input_ids"].shape[0] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return answer(**inputs)

    monkeypatch.setattr(sut._loaded.model, "generate", cramped)
    rows = [question(number) for number in range(8)]
    texts = [reply.text for reply in sut.generate(rows)]

    assert texts == [reply.text for reply in loaded(folders["llava"], batch_size=2).generate(rows)]
    assert sut.info.batch_size == 2
    assert sut.info.fingerprint != before.fingerprint
    assert sut.info.details["batch size"].startswith("2 (lowered from 4: the device ran out of memory")


NO_MEMORY = "The device has too little memory for one row. Use a shorter prompt or a larger worker."


def fail_above(rows: int, inner, error: Exception, counted):
    """Let a step fail for more than so many rows, as a device does that has memory for just those."""

    @wraps(inner)  # generate looks at the names that forward takes
    def cramped(*args, **kwargs):
        if counted(*args, **kwargs) > rows:
            raise error
        return inner(*args, **kwargs)

    return cramped


def rows_of_ids(*_args, **kwargs):
    return kwargs["input_ids"].shape[0]


def decoding_rows(*_args, **kwargs):
    ids = kwargs["input_ids"]
    return ids.shape[0] if ids.shape[1] == 1 else 0


MEMORY_POINTS = {
    "preparing": lambda sut: (sut._inputs, "tensors", lambda rows, _options: len(rows)),
    "picture features": lambda sut: (
        sut._loaded.model.model, "get_image_features", lambda *args, **kw: len([*args, *kw.values()][0])
    ),
    "first pass": lambda sut: (sut._loaded.model, "forward", rows_of_ids),
    "decoding": lambda sut: (sut._loaded.model, "forward", decoding_rows),
}  # fmt: skip
GONE = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
MEMORY_ERRORS = {
    "preparing": MemoryError("Unable to allocate 1.2 GiB for an array"),
    "picture features": GONE,
    "first pass": RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
    "decoding": GONE,
}


@pytest.mark.parametrize("point", MEMORY_POINTS)
def test_memory_may_run_out_anywhere_and_half_the_batch_goes_on(folders, monkeypatch, point):
    sut = loaded(folders["llava"])
    rows = [question(number) for number in range(4)]
    owner, name, counted = MEMORY_POINTS[point](sut)
    monkeypatch.setattr(owner, name, fail_above(2, getattr(owner, name), MEMORY_ERRORS[point], counted))

    replies = sut.generate(rows)

    assert [reply.call_error for reply in replies] == [""] * 4
    assert [reply.text for reply in replies] == [
        reply.text for reply in loaded(folders["llava"], batch_size=2).generate(rows)
    ]
    assert sut.info.batch_size == 2


@pytest.mark.parametrize("point", MEMORY_POINTS)
def test_memory_that_never_suffices_is_a_call_error_of_each_row(folders, monkeypatch, point):
    sut = loaded(folders["llava"])
    owner, name, counted = MEMORY_POINTS[point](sut)
    inner = getattr(owner, name)
    monkeypatch.setattr(owner, name, fail_above(0, inner, GONE, counted))

    replies = sut.generate([question(0), question(1)])

    assert [reply.call_error for reply in replies] == [NO_MEMORY] * 2
    assert sut.info.batch_size == 1 or point == "preparing"
    monkeypatch.setattr(owner, name, inner)
    assert not sut.generate([question(0)])[0].is_call_error


def test_a_failed_pass_lets_go_of_its_tensors_before_the_smaller_one(folders, monkeypatch):
    sut = loaded(folders["llava"])
    held, left, answer = [], [], sut._loaded.model.generate

    def cramped(**inputs):
        left.append(sum(one() is not None for one in held))
        if inputs["input_ids"].shape[0] > 1:
            large = torch.zeros(1000)
            held.append(weakref.ref(large))
            raise torch.OutOfMemoryError("CUDA out of memory")
        return answer(**inputs)

    monkeypatch.setattr(sut._loaded.model, "generate", cramped)

    assert not sut.generate([question(0)])[0].is_call_error
    assert (len(held), left) == (2, [0, 0, 0])


def test_a_row_that_cannot_be_answered_leaves_its_neighbours_alone(folders):
    sut = loaded(folders["llava"])
    good = question(1)
    rows = [good, SutRequest(picture(2), "What is <image> here?"), question(0, words=600), good]

    replies = sut.generate(rows)

    assert [reply.is_call_error for reply in replies] == [False, True, True, False]
    assert replies[0].text == replies[3].text == sut.generate([good])[0].text
    assert "more than the 512 this checkpoint can read" in replies[2].call_error


def test_a_forward_pass_that_fails_for_one_row_fails_only_that_row(folders, monkeypatch):
    sut = loaded(folders["llava"])
    answer, bad = sut._loaded.model.generate, question(2)
    marked = sut._inputs.tensors([bad], {"padding": False})["pixel_values"][0]

    def fragile(**inputs):
        if any(torch.equal(row, marked) for row in inputs["pixel_values"]):
            raise RuntimeError("shape mismatch")
        return answer(**inputs)

    monkeypatch.setattr(sut._loaded.model, "generate", fragile)
    replies = sut.generate([question(1), bad, question(3)])

    assert [reply.is_call_error for reply in replies] == [False, True, False]
    assert "RuntimeError: shape mismatch" in replies[1].call_error


def test_sampling_repeats_with_the_repeat_number_and_differs_between_numbers(folders):
    sut = loaded(folders["llava"], temperature=1.5)
    rows = [SutRequest(picture(1), QUESTION, number) for number in range(4)]

    first = [reply.text for reply in sut.generate(rows)]

    assert [reply.text for reply in sut.generate(rows[::-1])][::-1] == first
    assert len(set(first)) > 1
    assert sut.info.batch_size == 1


def test_fingerprint_tells_apart_what_can_change_an_answer_and_nothing_else(folders, tmp_path):
    base = loaded(folders["llava"]).info.fingerprint
    other_weights = tiny.save_llava(tmp_path, seed=7)

    others = [
        loaded(folders["llava"], batch_size=8),
        loaded(folders["llava"], dtype="bfloat16"),
        loaded(folders["llava"], max_new_tokens=11),
        loaded(folders["llava"], system_prompt="Drive well."),
        loaded(folders["llava"], temperature=0.7),
        loaded(other_weights),
    ]

    assert loaded(folders["llava"], threads=1).info.fingerprint == base
    assert len({base, *(sut.info.fingerprint for sut in others)}) == 7


def test_number_format_is_chosen_when_the_weights_are_read(folders):
    sut = loaded(folders["llava"], dtype="bfloat16")

    assert {parameter.dtype for parameter in sut._loaded.model.parameters()} == {torch.bfloat16}
    assert sut.info.details["number format"] == "bfloat16"
    assert not sut.generate([question(0)])[0].is_call_error


@pytest.mark.skipif(
    find_spec("torchvision") is not None, reason="torchvision is installed: the full processor loads"
)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_processor_whose_video_part_needs_torchvision_loads_without_it_and_says_so(folders, family):
    details = loaded(folders[family]).info.details

    said = "left out: that part of the processor needs torchvision; pictures are not affected"
    assert details["image backend"] == "pil"
    assert details.get("video") == (said if family in WITH_VIDEO else None)


def test_a_template_that_refuses_the_conversation_refuses_the_checkpoint(tmp_path):
    folder = tiny.save_llava(tmp_path)
    refusal = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('No system role.') }}{% endif %}"
    template = folder / "chat_template.jinja"
    template.write_text(refusal + template.read_text())

    with pytest.raises(SutError, match="chat template refuses the conversation: No system role") as caught:
        loaded(folder, system_prompt="Drive well.")

    assert caught.value.hint == "Remove the system prompt if there is one, or choose another checkpoint."
    assert not loaded(folder).generate([question(0)])[0].is_call_error


def test_system_prompt_becomes_a_turn_of_its_own(folders):
    sut = loaded(folders["llava"], system_prompt="Drive well.")

    ids = sut._inputs.tensors([question(0)], {"padding": False})["input_ids"][0]

    assert sut._loaded.processor.tokenizer.decode(ids).startswith(
        "<|system|>Drive well.<|end|><|user|><image>"
    )


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
def test_a_gpu_that_is_not_there_is_named(folders):
    with pytest.raises(SutError, match="no CUDA device"):
        loaded(folders["llava"], device="cuda")


def test_a_closed_system_cannot_be_asked(folders):
    sut = loaded(folders["llava"])

    sut.close()

    with pytest.raises(ValueError, match="was closed"):
        sut.generate([question(0)])
    with pytest.raises(ValueError, match="was closed"):
        sut.describe_request(question(0))


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
def test_loading_never_holds_the_weights_twice(folders, tmp_path):
    large = tiny.save_llava(tmp_path, hidden=640, layers=8)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(folders["llava"]), str(large)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert (
        float(done.stdout.split()[-1]) < 1.7
    )  # once in float32, and half of it mapped from the bfloat16 file
