"""Words of a prompt as the numbers that a BERT model without upper case reads (WordPiece)."""

import re
import string
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby

UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
SPECIAL_TOKENS = ("[PAD]", UNKNOWN, FIRST, LAST, "[MASK]")
MAX_TOKENS = 256
LONGEST_WORD = 100
_CONTINUED = "##"
_SPECIAL = re.compile("(" + "|".join(map(re.escape, SPECIAL_TOKENS)) + ")")
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Cuts texts into the longest pieces that a vocabulary has (Schuster and Nakajima 2012; Devlin 2019).

    Args:
        vocabulary: pieces in the order of their ids; pieces inside a word begin with ``##``. It holds the
            special tokens.

    Raises:
        ValueError: a special token is missing.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: number for number, piece in enumerate(vocabulary)}
        missing = [token for token in SPECIAL_TOKENS if token not in self._ids]
        if missing:
            raise ValueError(
                f"vocabulary must hold {', '.join(SPECIAL_TOKENS)}; {', '.join(missing)} missing"
            )
        self._longest = max(map(len, vocabulary))

    def token_ids(self, text: str, *, max_tokens: int = MAX_TOKENS) -> list[int]:
        """Return the ids of a text between those of its first and last token.

        Args:
            text: any text; what does not fit is left out, as the model reads no more.
            max_tokens: ids in all, at least 2.
        """
        ids = [self._ids[FIRST]]
        for piece in self._pieces(text):
            if len(ids) == max_tokens - 1:
                break
            ids.append(piece)
        return [*ids, self._ids[LAST]]

    def _pieces(self, text: str) -> Iterator[int]:
        for part in _SPECIAL.split(text):
            if part in SPECIAL_TOKENS:
                yield self._ids[part]
                continue
            for word in _words(part):
                yield from self._of_word(word)

    def _of_word(self, word: str) -> list[int]:
        """Return the ids of one word: that of the unknown token where some rest is in no piece."""
        unknown = [self._ids[UNKNOWN]]
        if len(word) > LONGEST_WORD:
            return unknown
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = _CONTINUED if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                number = self._ids.get(prefix + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return unknown
        return found


def _words(text: str) -> Iterator[str]:
    """Yield words and single punctuation marks, in lower case and without accents."""
    for chunk in _normalized(text).split():
        for is_mark, signs in groupby(chunk, _is_punctuation):
            if is_mark:
                yield from signs
            else:
                yield "".join(signs)


def _normalized(text: str) -> str:
    cleaned = "".join(_cleaned(sign) for sign in text)
    plain = (sign for sign in unicodedata.normalize("NFD", cleaned) if unicodedata.category(sign) != "Mn")
    return "".join(sign.lower() for sign in plain)  # one by one: a Greek sigma ends no word here


def _cleaned(sign: str) -> str:
    if sign in "\t\n\r":
        return " "
    if sign == "\ufffd" or unicodedata.category(sign).startswith("C"):
        return ""
    if any(low <= ord(sign) <= high for low, high in _IDEOGRAPHS):
        return f" {sign} "
    return sign


def _is_punctuation(sign: str) -> bool:
    return sign in string.punctuation or unicodedata.category(sign).startswith("P")
