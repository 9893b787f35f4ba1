"""Packs several questions about one picture into one sequence, so that the picture is encoded once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from transformers import PreTrainedTokenizerFast

from tools.pocket.wordings import LETTERS, Dialogue

IGNORED = -100
END_WEIGHT = 0.3


@dataclass(frozen=True)
class PackedBatch:
    """``b`` packed sequences of length ``s``.

    Attributes:
        token_ids: ``(b, s)`` int64; the picture's place is filled with the image token.
        positions: ``(b, s)`` int64; each question restarts where the picture ends.
        segments: ``(b, s)`` int64; 0 for the picture, 1, 2, ... for the questions, -1 for padding.
        targets: ``(b, s)`` int64 next tokens; ``IGNORED`` everywhere but on answers.
        weights: ``(b, s)`` float32; 1 for the letter, ``END_WEIGHT`` for what follows.
        verdicts: ``(b, s)`` int64; at the end of each option 1 when it is the right one, else 0; ``IGNORED``
            everywhere else. Only a helper head learns from them.
    """

    token_ids: torch.Tensor
    positions: torch.Tensor
    segments: torch.Tensor
    targets: torch.Tensor
    weights: torch.Tensor
    verdicts: torch.Tensor

    def attention_mask(self) -> torch.Tensor:
        """Return the additive ``(b, 1, s, s)`` mask: causal, own question and picture only."""
        rows, columns = self.segments[:, :, None], self.segments[:, None, :]
        allowed = (columns == rows) | ((columns == 0) & (rows > 0))
        length = self.segments.shape[1]
        allowed &= torch.ones(length, length, dtype=torch.bool).tril()[None]
        return torch.zeros(allowed.shape).masked_fill_(~allowed, -1e9)[:, None]


def token_id(tokenizer: PreTrainedTokenizerFast, token: str) -> int:
    """Return the number of a token that the tokenizer knows as a whole."""
    number = tokenizer.convert_tokens_to_ids(token)
    if not isinstance(number, int):
        raise TypeError(f"token must be one token, got {token!r}")
    return number


class Packer:
    """Turns dialogues into packed batches with the chat template's own tokens."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, *, image_tokens: int) -> None:
        self.tokenizer = tokenizer
        self.image_id = token_id(tokenizer, "<image>")
        self.prefix = [*self._encode(["<|user|>"])[0], *[self.image_id] * image_tokens]
        self.suffix = self._encode(["<|end|><|assistant|>"])[0]
        self.end = int(tokenizer.eos_token_id)
        self.letters = [token_id(tokenizer, letter) for letter in LETTERS]

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        ids: list[list[int]] = self.tokenizer(list(texts))["input_ids"]
        return ids

    def pack(self, rows: Sequence[Sequence[Dialogue]]) -> PackedBatch:
        """Pack one row of dialogues for each picture; rows are padded on the right."""
        flat = [dialogue for row in rows for dialogue in row]
        prompts = iter(self._encode([d.prompt for d in flat]))
        answers = iter(self._encode([d.answer for d in flat]))
        packed = [self._pack_row([(next(prompts), next(answers), d.letter) for d in row]) for row in rows]
        length = max(len(row[0]) for row in packed)
        fills = (int(self.tokenizer.pad_token_id), 0, -1, IGNORED, 0.0, IGNORED)
        columns = []
        for number, fill in enumerate(fills):
            kind = np.float32 if number == 4 else np.int64
            table: npt.NDArray[np.generic] = np.full((len(packed), length), fill, kind)
            for place, row in enumerate(packed):
                table[place, : len(row[number])] = row[number]
            columns.append(torch.from_numpy(table))
        return PackedBatch(*columns)

    def _pack_row(self, turns: Sequence[tuple[list[int], list[int], str]]) -> tuple[list[float], ...]:
        start = len(self.prefix)
        ids: list[float] = list(self.prefix)
        positions: list[float] = list(range(start))
        segments: list[float] = [0] * start
        targets: list[float] = [IGNORED] * start
        weights: list[float] = [0.0] * start
        verdicts: list[float] = [IGNORED] * start
        for number, (prompt, answer, letter) in enumerate(turns, start=1):
            question, reply = prompt + self.suffix, [*answer, self.end]
            ids += question + reply
            positions += range(start, start + len(question) + len(reply))
            segments += [number] * (len(question) + len(reply))
            targets += [IGNORED] * (len(question) - 1) + reply + [IGNORED]
            weights += [0.0] * (len(question) - 1) + [1.0] + [END_WEIGHT] * (len(reply) - 1) + [0.0]
            verdicts += [*self._verdicts(question, letter), *[IGNORED] * len(reply)]
        return ids, positions, segments, targets, weights, verdicts

    def _verdicts(self, question: list[int], right_letter: str) -> list[int]:
        """Mark the token before the next option's letter (or the end) as right or wrong."""
        marks = [IGNORED] * len(question)
        place = -1
        starts = []
        for number in self.letters:
            if number not in question[place + 1 :]:
                return marks
            place = question.index(number, place + 1)
            starts.append(place)
        ends = [*(start - 1 for start in starts[1:]), len(question) - len(self.suffix)]
        for letter, end in zip(LETTERS, ends, strict=True):
            marks[end] = int(letter == right_letter)
        return marks
