"""From questions to tensors through a checkpoint's own chat template, and which rows may share a pass."""

import io
from dataclasses import dataclass
from typing import Any

from PIL import Image

from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.local_loading import LoadedCheckpoint
from vlmlab.core.suts.local_params import TransformersLocalParams

PAD_MULTIPLE = 64
_MOST_KNOWN_PROMPTS = 512

TensorShapes = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class _PictureShape:
    """What a picture of one size becomes.

    Attributes:
        tokens: how many tokens it takes beyond those of the text around it.
        tensors: names and shapes of its tensors.
    """

    tokens: int
    tensors: TensorShapes

    @classmethod
    def of(cls, alone: Any, words: int) -> "_PictureShape":
        """Return it for the inputs of one row whose text takes that many tokens."""
        length = int(alone["input_ids"].shape[1])
        tensors = {name: tuple(one.shape) for name, one in alone.items() if hasattr(one, "shape")}
        return cls(length - words, tuple(sorted((n, s) for n, s in tensors.items() if s != (1, length))))


@dataclass(frozen=True)
class PassShape:
    """What all rows of one forward pass have in common.

    Attributes:
        length: padded length in tokens, a multiple of ``PAD_MULTIPLE``.
        pictures: names and shapes of the tensors of one picture.
    """

    length: int
    pictures: TensorShapes


class RowInputs:
    """Prepares rows for a loaded checkpoint; holds its processor, not its weights.

    Args:
        loaded: the checkpoint in memory.
        params: the settings it was loaded with.
    """

    def __init__(self, loaded: LoadedCheckpoint, params: TransformersLocalParams) -> None:
        self._processor = loaded.processor
        self._max_length = loaded.max_length
        self._params = params
        self._pictures: dict[tuple[int, int], _PictureShape] = {}
        self._text_tokens: dict[str, int] = {}

    def tensors(self, rows: list[SutRequest], text_options: dict[str, Any]) -> Any:
        """Return the tensors of rows, on the CPU.

        Args:
            rows: one picture and prompt each.
            text_options: how the tokenizer pads, such as ``{"padding": False}``.
        """
        pictures = {row.image_png: _opened(row) for row in rows}  # a repeated picture is prepared once
        return self._processor.apply_chat_template(
            [self._conversation(row, picture=pictures[row.image_png]) for row in rows],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs=text_options,
        )

    def rendered(self, row: SutRequest) -> str:
        """Return the text of the checkpoint's chat template, which jinja runs in its sandbox."""
        return str(
            self._processor.apply_chat_template(
                self._conversation(row, picture=None), add_generation_prompt=True, tokenize=False
            )
        )

    def shape(self, row: SutRequest) -> PassShape:
        """Return what a row has in common with the rows that may share a pass with it.

        The length in tokens, picture included, is rounded up to ``PAD_MULTIPLE``.

        Raises:
            ValueError: prompt, picture and reply are more than the checkpoint can read.
        """
        words = self._tokens_of_text(row)
        size = _opened(row).size
        if size not in self._pictures:
            self._pictures[size] = _PictureShape.of(self.tensors([row], {"padding": False}), words)
        picture = self._pictures[size]
        tokens = words + picture.tokens
        if self._max_length is not None and tokens + self._params.max_new_tokens > self._max_length:
            raise ValueError(
                f"prompt and picture take {tokens} tokens; with {self._params.max_new_tokens} for the reply "
                f"that is more than the {self._max_length} this checkpoint can read"
            )
        return PassShape(-(-tokens // PAD_MULTIPLE) * PAD_MULTIPLE, picture.tensors)

    def _conversation(self, row: SutRequest, *, picture: Image.Image | None) -> list[dict[str, Any]]:
        image: dict[str, Any] = {"type": "image"} if picture is None else {"type": "image", "image": picture}
        user = {"role": "user", "content": [image, {"type": "text", "text": row.prompt}]}
        if not self._params.system_prompt:
            return [user]
        system = {"role": "system", "content": [{"type": "text", "text": self._params.system_prompt}]}
        return [system, user]

    def _tokens_of_text(self, row: SutRequest) -> int:
        """Return how many tokens the conversation takes before the picture's own are put in."""
        if row.prompt not in self._text_tokens:
            if len(self._text_tokens) >= _MOST_KNOWN_PROMPTS:
                self._text_tokens.clear()
            words = self._processor.tokenizer(self.rendered(row), add_special_tokens=True)
            self._text_tokens[row.prompt] = len(words["input_ids"])
        return self._text_tokens[row.prompt]


def _opened(row: SutRequest) -> Image.Image:
    """Return the canonical picture of a row, not yet decoded."""
    return Image.open(io.BytesIO(row.image_png), formats=("PNG",))
