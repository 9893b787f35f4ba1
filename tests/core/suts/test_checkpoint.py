"""Checkpoint folders are refused before anything in them is loaded, each with file and remedy."""

import json
import os
import pickle
import struct
from pathlib import Path

import pytest

from vlmlab.core.errors import SutError
from vlmlab.core.suts.checkpoint import (
    CheckpointRoots,
    content_digest,
    inspect_checkpoint,
    resolve_checkpoint,
)
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import SUT_KINDS, load_sut, parse_params


def safetensors_bytes(**tensors: tuple[str, list[int], int]) -> bytes:
    header, end = {}, 0
    for name, (dtype, shape, size) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(end)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "models" / "org" / "tiny"
    made.mkdir(parents=True)
    (made / "config.json").write_text(json.dumps({"model_type": "llava", "architectures": ["Llava"]}))
    (made / "processor_config.json").write_text("{}")
    (made / "tokenizer.json").write_text("{}")
    (made / "chat_template.jinja").write_text("{{ messages }}")
    (made / "model.safetensors").write_bytes(safetensors_bytes(a=("F32", [2, 3], 24), b=("BF16", [5], 10)))
    return made


def test_inspect_checkpoint_reports_what_the_folder_holds(folder):
    report = inspect_checkpoint(folder)

    assert (report.model_type, report.architectures) == ("llava", ("Llava",))
    assert (report.parameters, report.stored_dtypes) == (11, ("BF16", "F32"))
    assert (report.weight_files, report.has_chat_template) == (("model.safetensors",), True)
    assert report.weight_bytes == (folder / "model.safetensors").stat().st_size


@pytest.mark.parametrize(
    "name",
    ["pytorch_model.bin", "model.pt", "model.PTH", "last.ckpt", "data.pkl", "training_args.bin",
     "sub/x.pickle", ".hidden.bin"],
)  # fmt: skip
def test_inspect_checkpoint_refuses_a_pickle_without_opening_it(folder, tmp_path, name):
    class Touch:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path / 'touched'}",)

    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(pickle.dumps(Touch()))

    with pytest.raises(SutError, match=rf"'{name}' may run code") as caught:
        inspect_checkpoint(folder)

    assert caught.value.hint == "Convert the weights to safetensors and remove this file."
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize("name", ["modeling_tiny.py", "sub/__init__.py", "native.so", "x.PY"])
def test_inspect_checkpoint_refuses_code_without_running_it(folder, tmp_path, name):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(f"open({str(tmp_path / 'touched')!r}, 'w')")

    with pytest.raises(SutError, match=rf"'{name}' is program code"):
        inspect_checkpoint(folder)

    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("config.json", {"model_type": "llava", "auto_map": {"AutoConfig": "m.C"}}),
        ("config.json", {"model_type": "llava", "text_config": {"auto_map": {"AutoModel": "m.C"}}}),
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["m.T", None]}}),
        ("processor_config.json", {"image_processor": {"auto_map": {"AutoImageProcessor": "m.I"}}}),
        ("generation_config.json", {"custom_generate": "somewhere"}),
        ("config.json", {"model_type": "llava", "attn_implementation": "someone/kernel"}),
        ("config.json", {"model_type": "llava", "text_config": {"_attn_implementation": "a/b@v1:f"}}),
        ("config.json", {"model_type": "llava", "experts_implementation": {"text_config": "a/b"}}),
        ("extra.json", [{"trust_remote_code": True}]),
    ],
)
def test_inspect_checkpoint_refuses_settings_that_ask_for_remote_code(folder, name, value):
    (folder / name).write_text(json.dumps(value))

    with pytest.raises(SutError, match=rf"'{name}' asks for remote code"):
        inspect_checkpoint(folder)


def test_inspect_checkpoint_takes_the_attention_code_of_the_library(folder):
    config = {"model_type": "llava", "architectures": [], "attn_implementation": "sdpa"}
    (folder / "config.json").write_text(json.dumps(config))

    assert inspect_checkpoint(folder).model_type == "llava"


def test_inspect_checkpoint_finds_auto_map_behind_json_escapes(folder):
    (folder / "tokenizer_config.json").write_text('{"auto\\u005fmap": {"AutoTokenizer": "m.T"}}')

    with pytest.raises(SutError, match="auto_map"):
        inspect_checkpoint(folder)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("config.json", "no config.json"),
        ("processor_config.json", "no processor_config.json or preprocessor_config.json"),
        ("tokenizer.json", "no tokenizer"),
        ("model.safetensors", "no safetensors weights"),
    ],
)
def test_inspect_checkpoint_names_what_is_missing(folder, name, message):
    (folder / name).unlink()

    with pytest.raises(SutError, match=message) as caught:
        inspect_checkpoint(folder)

    assert caught.value.hint


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '"x"', '{"model_type": 3}'])
def test_inspect_checkpoint_refuses_a_damaged_config(folder, text):
    (folder / "config.json").write_text(text)

    with pytest.raises(SutError, match=r"config\.json"):
        inspect_checkpoint(folder)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x80\x02}q\x00.", bytes(40), struct.pack("<Q", 1 << 62) + b"{}",
     safetensors_bytes(a=("F32", [2], 8))[:-1],
     safetensors_bytes(a=("F32", [2], 8)) + b"x", struct.pack("<Q", 9) + b'{"a": [1]' + bytes(9)],
)  # fmt: skip
def test_inspect_checkpoint_refuses_damaged_weights(folder, data):
    (folder / "model.safetensors").write_bytes(data)

    with pytest.raises(SutError, match="not a whole safetensors file"):
        inspect_checkpoint(folder)


@pytest.mark.parametrize("places", [[(0, 4), (8, 12)], [(0, 4), (0, 4), (8, 12)], [(4, 8), (8, 12)]])
def test_inspect_checkpoint_refuses_weights_that_leave_bytes_to_nobody_or_to_two(folder, places):
    header = {
        f"t{number}": {"dtype": "F32", "shape": [1], "data_offsets": place}
        for number, place in enumerate(places)
    }
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + bytes(12))

    with pytest.raises(SutError, match="not a whole safetensors file"):
        inspect_checkpoint(folder)


def test_inspect_checkpoint_follows_the_weight_index(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    with pytest.raises(SutError, match="names 'model-00002-of-00002"):
        inspect_checkpoint(folder)
    (folder / "model-00002-of-00002.safetensors").write_bytes(safetensors_bytes(b=("F16", [4], 8)))

    assert inspect_checkpoint(folder).parameters == 15


def test_inspect_checkpoint_refuses_an_index_that_leads_out(folder):
    index = {"weight_map": {"a": "../../../other.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    with pytest.raises(SutError, match="which is not there"):
        inspect_checkpoint(folder)


def test_inspect_checkpoint_refuses_links_that_lead_out_but_takes_the_hub_store(folder, tmp_path):
    blobs = tmp_path / "models" / "blobs"
    blobs.mkdir()
    (folder / "model.safetensors").rename(blobs / "abc")
    (folder / "model.safetensors").symlink_to(blobs / "abc")

    with pytest.raises(SutError, match=r"'model\.safetensors' is a link that leads out"):
        inspect_checkpoint(folder)

    assert inspect_checkpoint(folder, links_may_reach=tmp_path / "models").parameters == 11


def test_inspect_checkpoint_refuses_linked_folders_and_odd_files(folder):
    (folder / "self").symlink_to(folder)
    with pytest.raises(SutError, match="link to a folder"):
        inspect_checkpoint(folder)
    (folder / "self").unlink()
    os.mkfifo(folder / "pipe")
    with pytest.raises(SutError, match="not a regular file"):
        inspect_checkpoint(folder)


def test_inspect_checkpoint_refuses_an_adapter_alone(folder):
    (folder / "config.json").unlink()
    (folder / "adapter_config.json").write_text("{}")

    with pytest.raises(SutError, match="only an adapter"):
        inspect_checkpoint(folder)


def test_content_digest_changes_with_weights_template_and_names(folder):
    digests = {content_digest(inspect_checkpoint(folder))}
    (folder / "README.md").write_text("words do not count")
    digests.add(content_digest(inspect_checkpoint(folder)))
    assert len(digests) == 1

    (folder / "chat_template.jinja").write_text("other")
    digests.add(content_digest(inspect_checkpoint(folder)))
    (folder / "model.safetensors").write_bytes(safetensors_bytes(a=("F32", [2, 3], 24)))
    digests.add(content_digest(inspect_checkpoint(folder)))

    assert len(digests) == 3


HOSTILE_IDS = [
    "", ".", "..", "../secret", "org/../../secret", "org/./tiny", "/etc", "/proc/self/cwd", "//host/share",
    "file:///etc", "http://x/y", "~", "~root", "org\\..\\tiny", "C:/models", "org/tiny\x00", "%2e%2e/secret",
    "org/%2e%2e/%2e%2e/secret", "org//tiny", "org/tiny/", " org/tiny", "org/tiny\n", "‥/secret",
    "．．/secret", "-x", "a/" * 20 + "a",
]  # fmt: skip


@pytest.mark.parametrize("relative_id", HOSTILE_IDS)
def test_resolve_checkpoint_refuses_everything_but_a_plain_relative_path(folder, relative_id):
    (folder.parents[2] / "secret").mkdir()

    with pytest.raises(SutError, match="not a plain path"):
        resolve_checkpoint(folder.parents[1], relative_id)


def test_resolve_checkpoint_returns_the_folder_below_the_model_directory(folder):
    assert resolve_checkpoint(folder.parents[1], "org/tiny") == folder.resolve()


def test_resolve_checkpoint_refuses_links_out_and_missing_folders(folder):
    models = folder.parents[1]
    (models / "escape").symlink_to("/")
    (models / "proc").symlink_to("/proc/self/cwd")

    for relative_id in ("escape", "escape/etc", "proc"):
        with pytest.raises(SutError, match="leads out"):
            resolve_checkpoint(models, relative_id)
    with pytest.raises(SutError, match="no checkpoint folder 'org/other'"):
        resolve_checkpoint(models, "org/other")
    with pytest.raises(SutError, match="no checkpoint folder"):
        resolve_checkpoint(models, "org/tiny/config.json")


def test_registration_takes_absolute_paths_only_where_the_shell_allows_it(folder):
    kind, params = (
        SUT_KINDS["transformers_local"],
        parse_params("transformers_local", {"checkpoint": str(folder)}),
    )

    with pytest.raises(SutError, match="not a plain path"):
        kind.inspect(params, SutContext(CheckpointRoots(model_dir=folder.parents[1])))
    with pytest.raises(SutError, match="No model directory"):
        kind.inspect(params, SutContext())

    assert kind.inspect(params, SutContext(CheckpointRoots(allow_any_folder=True))).model_type == "llava"


def test_registration_and_loading_refuse_a_malicious_folder_and_leave_no_trace(folder, tmp_path):
    (folder / "config.json").write_text(
        json.dumps({"model_type": "tiny", "auto_map": {"AutoModelForImageTextToText": "modeling.Tiny"}})
    )
    (folder / "modeling.py").write_text(f"open({str(tmp_path / 'touched')!r}, 'w')")
    values = {"checkpoint": "org/tiny"}
    roots = SutContext(CheckpointRoots(model_dir=folder.parents[1]))

    with pytest.raises(SutError):
        SUT_KINDS["transformers_local"].inspect(parse_params("transformers_local", values), roots)
    with pytest.raises(SutError):
        load_sut("transformers_local", values, roots)

    assert not (tmp_path / "touched").exists()


def test_a_hub_id_that_is_not_on_this_machine_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    params = parse_params("transformers_local", {"checkpoint": "org/not-here", "source": "hub"})

    with pytest.raises(SutError, match="'org/not-here' is not on this machine"):
        SUT_KINDS["transformers_local"].inspect(params, SutContext())
