"""Checking a checkpoint folder before anything in it is loaded: no code, no pickles, nothing missing.

There is no list of repositories whose code may run: no setting of the web, the shell or the API makes
code of a checkpoint run, so such a list would have nothing to allow. Who needs such a model serves it
with a program of its own and registers the address (kind ``openai_chat``).
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from vlmlab.core.errors import SutError

_MAX_FILES = 5_000
_MAX_JSON_BYTES = 8_000_000
_MAX_HEADER_BYTES = 100_000_000
_PICKLES = frozenset(
    {".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".dill", ".npy", ".npz", ".h5", ".msgpack"}
)
_CODE = frozenset({".py", ".pyc", ".pyd", ".pyx", ".so", ".dll", ".dylib", ".exe", ".sh", ".whl", ".egg"})
_REMOTE_CODE_KEYS = frozenset({"auto_map", "custom_pipelines", "custom_generate"})
# transformers takes a value "owner/name" here as compiled code to fetch from the hub.
_KERNEL_KEYS = frozenset(
    {"attn_implementation", "_attn_implementation", "experts_implementation", "_experts_implementation"}
)
_WORD_LISTS = frozenset({"tokenizer.json", "vocab.json", "added_tokens.json"})
# Bits a value takes; a format that is not listed is left to the library that reads it.
_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "U16": 16, "I16": 16, "F16": 16, "BF16": 16,
    "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64, "F64": 64,
}  # fmt: skip
_PROCESSOR_FILES = ("processor_config.json", "preprocessor_config.json")
_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer.model",
    "vocab.json",
    "vocab.txt",
    "spiece.model",
    "tekken.json",
)
_INDEX = "model.safetensors.index.json"
_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]*(?:/[A-Za-z0-9][A-Za-z0-9._+=-]*){0,7}")


@dataclass(frozen=True)
class CheckpointRoots:
    """Where checkpoints may come from.

    Attributes:
        model_dir: folder that registered checkpoints lie below; None when none is set.
        allow_any_folder: whether an absolute path is taken (a person at the shell, tests).
        allow_download: whether a hub id may be downloaded.
    """

    model_dir: Path | None = None
    allow_any_folder: bool = False
    allow_download: bool = False


@dataclass(frozen=True)
class CheckpointReport:
    """What a folder holds, read without loading it.

    Attributes:
        folder: the checked folder.
        model_type: as in ``config.json``.
        architectures: class names as in ``config.json``.
        weight_files: names of the safetensors files, sorted.
        weight_bytes: their size together.
        parameters: number of stored values in all tensors.
        stored_dtypes: number formats of the tensors, sorted.
        has_chat_template: whether a chat template comes with it.
    """

    folder: Path
    model_type: str
    architectures: tuple[str, ...]
    weight_files: tuple[str, ...]
    weight_bytes: int
    parameters: int
    stored_dtypes: tuple[str, ...]
    has_chat_template: bool


def resolve_checkpoint(model_dir: Path, relative_id: str) -> Path:
    """Return the folder of a checkpoint id below the model directory.

    Args:
        model_dir: the only place checkpoints may lie in.
        relative_id: path below it with forward slashes, such as ``org/name``.

    Raises:
        SutError: the id is not a plain relative path, leads out (also through a link), or is not there.
    """
    if not _SAFE_ID.fullmatch(relative_id) or ".." in PurePosixPath(relative_id).parts:
        raise SutError(
            "The checkpoint id is not a plain path below the model directory.",
            hint="Use letters, digits, '.', '_', '-' and '/', such as 'org/name'.",
            field="checkpoint",
        )
    root = model_dir.resolve()
    folder = (root / relative_id).resolve()
    if not folder.is_relative_to(root) or folder == root:
        raise SutError(
            f"The checkpoint '{relative_id}' leads out of the model directory.",
            hint="Put the folder itself there instead of a link.",
            field="checkpoint",
        )
    if not folder.is_dir():
        raise SutError(
            f"There is no checkpoint folder '{relative_id}' in the model directory.",
            hint="Check the id, and copy the checkpoint there first.",
            field="checkpoint",
        )
    return folder


def inspect_checkpoint(folder: Path, *, links_may_reach: Path | None = None) -> CheckpointReport:
    """Check a checkpoint folder without importing or unpickling anything.

    Args:
        folder: a folder in Hugging Face format.
        links_may_reach: symbolic links must stay below this folder; default: below ``folder``.

    Raises:
        SutError: pickles, code, remote-code settings, links that lead out, damaged or missing files;
            the message names the file, the hint the remedy.
    """
    names = checked_files(folder, links_may_reach=links_may_reach)
    if "adapter_config.json" in names and "config.json" not in names:
        raise _refusal(
            "The folder holds only an adapter (adapter_config.json).", "Merge it into its base model first."
        )
    config = _read_config(folder, names)
    _check_companions(names)
    weights = _weight_files(folder, names)
    headers = [_safetensors_header(folder / name) for name in weights]
    tensors = [entry for header in headers for entry in header]
    return CheckpointReport(
        folder=folder,
        model_type=str(config["model_type"]),
        architectures=tuple(str(name) for name in _list_of(config.get("architectures"))),
        weight_files=tuple(weights),
        weight_bytes=sum((folder / name).stat().st_size for name in weights),
        parameters=sum(tensor.count for tensor in tensors),
        stored_dtypes=tuple(sorted({tensor.dtype for tensor in tensors})),
        has_chat_template=_has_chat_template(folder, names),
    )


def checked_files(folder: Path, *, links_may_reach: Path | None = None) -> list[str]:
    """Return the names of all files of a folder, sorted, after refusing pickles, code and remote code.

    Args:
        folder: holds a model in Hugging Face format, in one folder or in one for each of its parts.
        links_may_reach: symbolic links must stay below this folder; default: below ``folder``.

    Raises:
        SutError: what is refused, and what to do.
    """
    if not folder.is_dir():
        raise _refusal(f"The checkpoint folder '{folder.name}' does not exist.", "Check the path.")
    names = [_checked_name(path, folder, links_may_reach or folder) for path in _files(folder)]
    for name in names:
        if name.endswith(".json") and PurePosixPath(name).name not in _WORD_LISTS:
            _check_json(name, folder / name)
    return names


def check_weights(path: Path) -> None:
    """Refuse a safetensors file that is cut or damaged; only its header is read.

    Raises:
        SutError: its name and the remedy.
    """
    _safetensors_header(path)


def content_digest(report: CheckpointReport) -> str:
    """Return the SHA-256 over names and bytes of everything in the folder that can change an answer."""
    return folder_digest(report.folder)


def folder_digest(folder: Path) -> str:
    """Return the SHA-256 over names and bytes of a checked folder's files that can change an answer."""
    digest = hashlib.sha256()
    kept = (".json", ".safetensors", ".txt", ".model", ".jinja")
    for path in sorted(_files(folder), key=lambda item: item.relative_to(folder).as_posix()):
        if path.suffix in kept:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\x00")
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


@dataclass(frozen=True)
class _Tensor:
    dtype: str
    count: int
    begin: int
    end: int


def _refusal(message: str, hint: str) -> SutError:
    return SutError(message, hint=hint, field="checkpoint")


def _list_of(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _files(folder: Path) -> Iterator[Path]:
    """Yield every file and link below the folder, hidden ones included; linked folders are not entered."""
    count = 0
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_dir():
            count += 1
            if count > _MAX_FILES:
                raise _refusal(
                    f"The folder holds more than {_MAX_FILES} files.", "Choose the checkpoint itself."
                )
            yield path


def _checked_name(path: Path, folder: Path, links_may_reach: Path) -> str:
    """Return the name below the folder, after refusing code, pickles and links that lead out."""
    name = path.relative_to(folder).as_posix()
    if path.is_symlink() and not path.resolve().is_relative_to(links_may_reach.resolve()):
        raise _refusal(f"'{name}' is a link that leads out of the folder.", "Replace it by the file itself.")
    if path.is_symlink() and path.is_dir():
        raise _refusal(f"'{name}' is a link to a folder.", "Replace it by the folder itself.")
    if not path.is_file():
        raise _refusal(f"'{name}' is not a regular file.", "Remove it from the folder.")
    suffix = path.suffix.lower()
    if suffix in _CODE:
        raise _refusal(
            f"'{name}' is program code; checkpoints that bring code are not run.",
            "Remove it if transformers knows the model by itself; else serve it with vLLM.",
        )
    if suffix in _PICKLES:
        raise _refusal(
            f"'{name}' may run code when it is opened; only safetensors weights are loaded.",
            "Convert the weights to safetensors and remove this file.",
        )
    return name


def _check_json(name: str, path: Path) -> None:
    """Refuse a JSON file that is damaged, huge, or asks for code from outside the library."""
    value = _load_json(name, path)
    pending: list[object] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            asked = sorted(key for key in item if key in _REMOTE_CODE_KEYS and item[key])
            if item.get("trust_remote_code"):
                asked.append("trust_remote_code")
            asked += sorted(key for key in item if key in _KERNEL_KEYS and _names_a_kernel(item[key]))
            if asked:
                raise _refusal(
                    f"'{name}' asks for remote code ({asked[0]}), which is never run.",
                    "Use a version of the model that is part of transformers, or serve it with vLLM.",
                )
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)


def _names_a_kernel(value: object) -> bool:
    """Whether an implementation, or one of those of the parts, is an address on the hub."""
    named = value.values() if isinstance(value, dict) else [value]
    return any(isinstance(one, str) and "/" in one for one in named)


def _load_json(name: str, path: Path) -> object:
    if path.stat().st_size > _MAX_JSON_BYTES:
        raise _refusal(f"'{name}' is larger than {_MAX_JSON_BYTES // 1_000_000} MB.", "Check what it holds.")
    try:
        value: object = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise _refusal(f"'{name}' is not valid JSON.", "Copy the file again from its source.") from error
    return value


def _read_config(folder: Path, names: list[str]) -> dict[str, object]:
    if "config.json" not in names:
        raise _refusal("The folder has no config.json.", "Choose a checkpoint folder in Hugging Face format.")
    config = _load_json("config.json", folder / "config.json")
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise _refusal("config.json names no model_type.", "Save the checkpoint again with save_pretrained.")
    return config


def _check_companions(names: list[str]) -> None:
    if not any(name in names for name in _PROCESSOR_FILES):
        raise _refusal(
            "The folder has no processor_config.json or preprocessor_config.json.",
            "Copy the processor files from the model's source; a text-only model cannot be tested here.",
        )
    if not any(name in names for name in _TOKENIZER_FILES):
        raise _refusal("The folder has no tokenizer.", "Copy tokenizer.json and tokenizer_config.json too.")


def _weight_files(folder: Path, names: list[str]) -> list[str]:
    """Return the safetensors files that make up the model: those of the index, or those at the top."""
    top = [name for name in names if name.endswith(".safetensors") and "/" not in name]
    if _INDEX in names:
        index = _load_json(_INDEX, folder / _INDEX)
        mapping = index.get("weight_map") if isinstance(index, dict) else None
        shards = sorted({str(shard) for shard in mapping.values()}) if isinstance(mapping, dict) else []
        missing = [shard for shard in shards if shard not in top]
        if missing or not shards:
            what = missing[0][:100] if missing else "any weight file"
            raise _refusal(f"The weight index names '{what}', which is not there.", "Copy every weight file.")
        return shards
    if not top:
        raise _refusal("The folder has no safetensors weights.", "Convert the weights with save_pretrained.")
    return sorted(top)


def _safetensors_header(path: Path) -> list[_Tensor]:
    """Return the tensors a safetensors file declares, after checking that its size fits them."""
    damaged = _refusal(
        f"'{path.name}' is not a whole safetensors file.", "Copy the file again from its source."
    )
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 10 or length > min(size - 8, _MAX_HEADER_BYTES):
            raise damaged
        try:
            header = json.loads(file.read(length))
            entries = [entry for name, entry in header.items() if name != "__metadata__"]
            tensors = [_tensor(entry) for entry in entries]
        except (
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            IndexError,
            OverflowError,
            RecursionError,
        ) as error:
            raise damaged from error
    end = 0
    for tensor in sorted(tensors, key=lambda one: (one.begin, one.end)):
        if tensor.begin != end or tensor.end < end:
            raise damaged  # a gap, an overlap, or a place before the start
        end = tensor.end
    if 8 + length + end != size:
        raise damaged
    return tensors


def _tensor(entry: dict[str, Any]) -> _Tensor:
    """Return what a header says of one tensor.

    Raises:
        ValueError: its place is not as long as its shape and number format need.
    """
    dtype, sides = str(entry["dtype"]), [int(side) for side in entry["shape"]]
    begin, end = (int(place) for place in entry["data_offsets"])
    count = math.prod(sides)
    bits = _BITS.get(dtype)
    if min(sides, default=0) < 0 or (bits is not None and count * bits != (end - begin) * 8):
        raise ValueError("shape and place do not agree")
    return _Tensor(dtype, count, begin, end)


def _has_chat_template(folder: Path, names: list[str]) -> bool:
    if "chat_template.jinja" in names or "chat_template.json" in names:
        return True
    candidates = [name for name in ("tokenizer_config.json", "processor_config.json") if name in names]
    configs = [_load_json(name, folder / name) for name in candidates]
    return any(isinstance(config, dict) and bool(config.get("chat_template")) for config in configs)
