"""Checkpoints that try to run code, read other files or waste memory: refused, and nothing is touched."""

import json
import struct
from pathlib import Path

import pytest

from vlmlab.core.errors import ConfigError, SutError
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.checkpoint import CheckpointRoots, inspect_checkpoint
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import SUT_KINDS, load_sut, parse_params

torch = pytest.importorskip("torch")
tiny = pytest.importorskip("tests.core.suts.tiny_checkpoints")

ANYWHERE = SutContext(CheckpointRoots(allow_any_folder=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny.save_llava(tmp_path / "llava")


def load(folder: Path):
    return load_sut("transformers_local", {"checkpoint": str(folder), "device": "cpu"}, ANYWHERE)


# Each reaches for Python through an object that the template is given or that it makes itself.
ESCAPES = {
    "classes": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "globals": "{{ raise_exception.__globals__['__builtins__']['open'](TOUCHED, 'w') }}",
    "function of the library": "{{ strftime_now.__func__.__globals__ }}",
    "import": "{{ self.__init__.__globals__.__builtins__.__import__('os').mknod(TOUCHED) }}",
    "loop's globals": "{{ cycler.__init__.__globals__.os.mknod(TOUCHED) }}",
    "format string": "{{ '{0.__class__.__init__.__globals__}'.format(raise_exception) }}",
    "attribute filter": "{{ (messages | attr('__class__')).__base__ }}",
    "other template": "{% include '/etc/hostname' %}",
    "change of the messages": "{{ messages.append(1) }}",
    "endless range": "{% for i in range(1000000000) %}{% endfor %}",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_a_chat_template_that_leaves_its_sandbox_is_refused(folder, tmp_path, name):
    touched = tmp_path / "touched"
    template = folder / "chat_template.jinja"
    template.write_text(ESCAPES[name].replace("TOUCHED", repr(str(touched))) + template.read_text())

    with pytest.raises(SutError, match="chat template refuses the conversation"):
        load(folder)

    assert not touched.exists()


def test_a_template_that_turns_hostile_for_one_question_fails_that_question_alone(folder):
    template = folder / "chat_template.jinja"
    trap = "{% if 'bad' in messages[-1]['content'][-1]['text'] %}{{ ''.__class__.__mro__ }}{% endif %}"
    template.write_text(trap + template.read_text())
    picture = (Path(__file__).parents[2] / "nothing").name.encode()
    sut = load(folder)

    (reply,) = sut.generate([SutRequest(picture, "bad")])

    assert "SecurityError" in reply.call_error
    with pytest.raises(SutError, match="refuses the conversation"):
        sut.describe_request(SutRequest(picture, "bad"))


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("tokenizer_config.json", "tokenizer_class", "os.system"),
        ("processor_config.json", "processor_class", "subprocess.Popen"),
        ("config.json", "architectures", ["os.system"]),
    ],
)
def test_names_of_classes_are_only_looked_up_in_the_library(folder, tmp_path, monkeypatch, name, key, value):
    import os
    import subprocess

    monkeypatch.setattr(os, "system", lambda *_: pytest.fail("os.system ran"))
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    path = folder / name
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))

    try:
        loaded = load(folder)
    except SutError:
        return
    assert type(loaded._loaded.processor).__module__.startswith("transformers.")
    assert type(loaded._loaded.model).__module__.startswith("transformers.")


def test_a_tokenizer_that_wants_code_of_its_own_is_refused_before_anything_is_loaded(folder, tmp_path):
    path = folder / "tokenizer_config.json"
    named = {"auto_map": {"AutoTokenizer": ["tokenization_evil.Evil", None]}}
    path.write_text(json.dumps({**json.loads(path.read_text()), **named}))
    (folder / "tokenization_evil.py").write_text(f"open({str(tmp_path / 'touched')!r}, 'w')")

    with pytest.raises(SutError):
        SUT_KINDS["transformers_local"].inspect(
            parse_params("transformers_local", {"checkpoint": str(folder)}), ANYWHERE
        )
    with pytest.raises(SutError):
        load(folder)

    assert not (tmp_path / "touched").exists()


def weights(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


HOSTILE_WEIGHTS = {
    "offsets beyond the end": weights({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 1 << 60]}}),
    "negative offsets": weights({"a": {"dtype": "F32", "shape": [1], "data_offsets": [-8, -4]}}),
    "huge shape": weights({"a": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 4]}}, bytes(4)),
    "negative shape": weights({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, bytes(4)),
    "overlap": weights(
        {name: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} for name in "ab"}, bytes(4)
    ),
    "unknown format": weights({"a": {"dtype": "OBJ", "shape": [1], "data_offsets": [0, 4]}}, bytes(4)),
    "deep nesting": struct.pack("<Q", 200_000) + b"[" * 200_000,
    "header that claims terabytes": struct.pack("<Q", 1 << 42) + b"{}",
    "infinite shape": weights(
        {"a": {"dtype": "F32", "shape": [float("inf")], "data_offsets": [0, 4]}}, bytes(4)
    ),
    "no object": weights([1, 2, 3]),
    "pickle in disguise": b"\x80\x04\x95" + bytes(40),
}


@pytest.mark.parametrize("name", HOSTILE_WEIGHTS)
def test_a_hostile_header_of_the_weights_is_refused(folder, name):
    (folder / "model.safetensors").write_bytes(HOSTILE_WEIGHTS[name])

    with pytest.raises(SutError):
        load(folder)


@pytest.mark.parametrize(
    "checkpoint",
    ["shipped:../../etc", "shipped:/etc", "shipped:", "shipped:%2e%2e", "shipped:file:///etc", "shipped:."],
)
def test_a_shipped_checkpoint_is_a_plain_name_too(checkpoint):
    params = parse_params("transformers_local", {"checkpoint": checkpoint})

    with pytest.raises(SutError) as caught:
        SUT_KINDS["transformers_local"].inspect(params, SutContext())

    assert caught.value.field == "checkpoint"


@pytest.mark.parametrize(
    "checkpoint",
    ["../secret", "/etc", "file:///etc", "a/../b", "%2e%2e/b", "/proc/self/cwd", "a/b/c", "..", "~/x"],
)
def test_a_hub_id_leads_nowhere_but_into_the_store(monkeypatch, tmp_path, checkpoint):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    params = parse_params("transformers_local", {"checkpoint": checkpoint, "source": "hub"})

    with pytest.raises(SutError) as caught:
        SUT_KINDS["transformers_local"].inspect(params, SutContext())

    assert caught.value.field == "checkpoint"


@pytest.mark.parametrize("revision", ["../../x", "/etc", "a/../b", "..", "%2e%2e", "a b", "x\n"])
def test_a_revision_is_a_plain_name(revision):
    values = {"checkpoint": "org/name", "source": "hub", "revision": revision}

    with pytest.raises(ConfigError) as caught:
        parse_params("transformers_local", values)

    assert caught.value.field == "revision"


def test_no_setting_makes_code_of_a_checkpoint_run():
    for name in ("trust_remote_code", "allow_code", "auto_map"):
        with pytest.raises(ConfigError):
            parse_params("transformers_local", {"checkpoint": "org/name", name: True})


def test_a_good_checkpoint_passes_the_same_checks(folder):
    assert inspect_checkpoint(folder).model_type == "llava"
    assert load(folder).info.kind == "transformers_local"
