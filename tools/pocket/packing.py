"""Packs several questions about one picture into one sequence, so that the picture is encoded once."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Encoding, Tokenizer
from transformers import PreTrainedTokenizerFast

from tools.pocket.disturb import disturbed
from tools.pocket.shards import Box
from tools.pocket.tokenizer import ANSWER_PARTS, coordinate_rows, spelled
from tools.pocket.wordings import Dialogue

IGNORED = -100
NO_BOX = -1.0
_NOWHERE: Box = (NO_BOX, NO_BOX, NO_BOX, NO_BOX)
CHOICES = ("A", "B", "C", "D", "T", "F")
CHOICE_WEIGHT, COORDINATE_WEIGHT, OPENING_WEIGHT, OTHER_WEIGHT = 3.0, 1.0, 0.5, 0.12
SPELLED_SHARE = 0.12
LENGTH_STEP = 64
"""Batches are padded to multiples of this many tokens: for each new shape kernels are made and kept."""

CUT_EVERY = 24
"""Characters between two cuts of a prompt that is spelled out (a seeded stand-in for BPE dropout)."""


MarkT = TypeVar("MarkT")


@dataclass(frozen=True)
class PackedBatch:
    """``b`` packed sequences of length ``s``.

    Attributes:
        token_ids: ``(b, s)`` int64; the picture's place is filled with the image token.
        positions: ``(b, s)`` int64; each question restarts where the picture ends.
        segments: ``(b, s)`` int64; 0 for the picture, 1, 2, ... for the questions, -1 for padding.
        targets: ``(b, s)`` int64 next tokens; ``IGNORED`` everywhere but on answers.
        weights: ``(b, s)`` float32; how much each target counts.
        verdicts: ``(b, s)`` int64; at the end of each option or statement 1 when it is right, else 0;
            ``IGNORED`` everywhere else. Only a helper head learns from them.
        boxes: ``(b, s, 4)`` float32; at the end of the words for a thing its box in fractions, ``NO_BOX``
            everywhere else. Only a helper head learns from them.
    """

    token_ids: torch.Tensor
    positions: torch.Tensor
    segments: torch.Tensor
    targets: torch.Tensor
    weights: torch.Tensor
    verdicts: torch.Tensor
    boxes: torch.Tensor

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


@dataclass(frozen=True)
class _Turn:
    question: list[int]
    reply: list[int]
    verdicts: list[int]
    boxes: list[Box]


class Packer:
    """Turns dialogues into packed batches with the chat template's own tokens."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast, *, image_tokens: int) -> None:
        self.tokenizer = tokenizer
        self.image_id = token_id(tokenizer, "<image>")
        self.prefix = [token_id(tokenizer, "<|user|>"), *[self.image_id] * image_tokens]
        self.suffix = [token_id(tokenizer, "<|end|>"), token_id(tokenizer, "<|assistant|>")]
        self.end = int(tokenizer.eos_token_id)
        self._whole = tokenizer.backend_tokenizer
        self._spelled: Tokenizer = spelled(tokenizer)
        self._weights = np.full(len(tokenizer), OTHER_WEIGHT, np.float32)
        for row in coordinate_rows(tokenizer):
            self._weights[list(row)] = COORDINATE_WEIGHT
        for letter in CHOICES:
            self._weights[token_id(tokenizer, letter)] = CHOICE_WEIGHT
        self._weights[token_id(tokenizer, ANSWER_PARTS[0])] = OPENING_WEIGHT

    def pack(
        self, rows: Sequence[Sequence[Dialogue]], *, rng: np.random.Generator | None = None
    ) -> PackedBatch:
        """Pack one row of dialogues for each picture; rows are padded on the right.

        Args:
            rows: the dialogues of each picture.
            rng: disturbs the words of some prompts and spells some out; None leaves all as they are.
        """
        packed = [self._pack_row([self._turn(one, rng) for one in row]) for row in rows]
        length = -(-max(len(row[0]) for row in packed) // LENGTH_STEP) * LENGTH_STEP
        fills = (int(self.tokenizer.pad_token_id), 0, -1, IGNORED, 0.0, IGNORED)
        columns = []
        for number, fill in enumerate(fills):
            kind = np.float32 if number == 4 else np.int64
            table: npt.NDArray[np.generic] = np.full((len(packed), length), fill, kind)
            for place, row in enumerate(packed):
                table[place, : len(row[number])] = row[number]
            columns.append(torch.from_numpy(table))
        boxes = np.full((len(packed), length, 4), NO_BOX, np.float32)
        for place, row in enumerate(packed):
            boxes[place, : len(row[-1])] = row[-1]
        columns.append(torch.from_numpy(boxes))
        return PackedBatch(*columns)

    def _turn(self, dialogue: Dialogue, rng: np.random.Generator | None) -> _Turn:
        prompt = dialogue.prompt if rng is None else disturbed(dialogue.prompt, rng=rng)
        is_spelled = rng is not None and rng.random() < SPELLED_SHARE
        pieces = cut(prompt, rng=rng) if rng is not None and is_spelled else [prompt]
        tokenizer = self._spelled if is_spelled else self._whole
        read = _Read([tokenizer.encode(piece) for piece in pieces], pieces)
        question = [*read.ids, *self.suffix]
        reply = [*self._whole.encode(dialogue.answer).ids, self.end]
        verdicts = [IGNORED] * (len(question) + len(reply))
        boxes: list[Box] = [_NOWHERE] * (len(question) + len(reply))
        if prompt == dialogue.prompt:
            for place, is_right in _ends(prompt, dialogue.claims, read):
                verdicts[place] = int(is_right)
            for place, box in _ends(prompt, dialogue.places, read):
                boxes[place] = box
        return _Turn(question, reply, verdicts, boxes)

    def _pack_row(self, turns: Sequence[_Turn]) -> tuple[list[Any], ...]:
        start = len(self.prefix)
        ids: list[float] = list(self.prefix)
        positions: list[float] = list(range(start))
        segments: list[float] = [0] * start
        targets: list[float] = [IGNORED] * start
        weights: list[float] = [0.0] * start
        verdicts: list[float] = [IGNORED] * start
        boxes: list[Box] = [_NOWHERE] * start
        for number, turn in enumerate(turns, start=1):
            length = len(turn.question) + len(turn.reply)
            ids += turn.question + turn.reply
            positions += range(start, start + length)
            segments += [number] * length
            targets += [IGNORED] * (len(turn.question) - 1) + turn.reply + [IGNORED]
            weights += [0.0] * (len(turn.question) - 1) + self._weights[turn.reply].tolist() + [0.0]
            verdicts += turn.verdicts
            boxes += turn.boxes
        return ids, positions, segments, targets, weights, verdicts, boxes


def cut(text: str, *, rng: np.random.Generator) -> list[str]:
    """Cut a text at random places, so that words fall apart as merges left out by chance would have it."""
    count = len(text) // CUT_EVERY
    if not count:
        return [text]
    places = sorted(int(place) for place in rng.choice(np.arange(1, len(text)), count, replace=False))
    return [text[start:end] for start, end in pairwise([0, *places, len(text)])]


class _Read:
    """A text that was read in pieces: its tokens, and in which of them a character lies."""

    def __init__(self, encodings: Sequence[Encoding], pieces: Sequence[str]) -> None:
        self._rows = list(zip(encodings, pieces, strict=True))
        self.ids = [number for encoded in encodings for number in encoded.ids]

    def char_to_token(self, char: int) -> int | None:
        tokens = 0
        for encoded, piece in self._rows:
            if char < len(piece):
                place = encoded.char_to_token(char)
                return None if place is None else tokens + int(place)
            char, tokens = char - len(piece), tokens + len(encoded.ids)
        return None


def _ends(prompt: str, marked: Sequence[tuple[str, MarkT]], read: _Read) -> list[tuple[int, MarkT]]:
    """Return the token in which each marked text ends, with its mark."""
    found: list[tuple[int, MarkT]] = []
    start = 0
    for text, mark in marked:
        at = prompt.find(text, start)
        if at < 0:
            continue
        start = at + len(text)
        place = read.char_to_token(start - 1)
        if place is not None:
            found.append((place, mark))
    return found
