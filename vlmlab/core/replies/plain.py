"""What every reader does first: drop special tokens, thinking and markup, and bound the length."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from vlmlab.core.replies.turns import first_turn

MAX_CHARACTERS = 65_536
_MAX_MARKS_IN_A_ROW = 8

NAMED_TOKENS = r"</?s>|</?(?:pad|eos|bos|unk|end_of_turn|start_of_turn|end_of_utterance)>|\[(?:EOS|PAD|BOS)\]"
_SPECIAL_TOKEN = re.compile(rf"<\|[A-Za-z_0-9]{{1,32}}\|>|<｜[^｜>\n]{{1,32}}｜>|{NAMED_TOKENS}")
_THINKING_WORDS = r"(?:think|thinking|thought|reasoning|reflection|scratchpad)"
# The last line: models that write in channels, one for thinking and tools and one for the answer.
_THINKING_TAG = re.compile(
    rf"<(?P<close>/?){_THINKING_WORDS}>|\[(?P<close2>/?)THINK\]|◁(?P<close3>/?)think▷"
    r"|<\|channel\|>\s{0,4}(?:analysis|commentary|(?P<close4>final))[^<\n]{0,80}<\|message\|>"
    r"|<\|channel>|(?P<close5><channel\|>)",
    re.IGNORECASE,
)
_CLOSING = ("close", "close2", "close3", "close4", "close5")
# In quotes it is a label or a mention, not the tag.
_OPEN_ANSWER, _CLOSE_ANSWER = (
    re.compile(r"(?<![\"'])<answer>", re.IGNORECASE),
    re.compile(r"</answer>", re.IGNORECASE),
)
_STRUCK_OUT = re.compile(r"~~[^~\n]{0,200}~~")
_INLINE_TAG = re.compile(r"</?(?:b|i|u|em|strong|p|span|div|code|center|h[1-6]|br)\s?/?>", re.IGNORECASE)
_LATEX_FONT = re.compile(r"\\(?:text|textbf|textit|mathbf|mathrm|mathit|bf|rm)\s?(?=\{)|\\[()\[\],;!]")
_MARKDOWN = re.compile(
    r"[*`$]|(?<![A-Za-z0-9])_{1,3}|_{1,3}(?![A-Za-z0-9])|^[ \t]*(?:#{1,6}|>)[ \t]", re.MULTILINE
)
_BLANKS, _NEWLINES = re.compile(r"[^\S\n]+"), re.compile(r" ?\n[ \n]*")


@dataclass(frozen=True)
class Visible:
    """The part of a reply that counts as the answer.

    Attributes:
        text: the reply without special tokens and finished thinking.
        is_unfinished_thinking: a thinking block was opened last and never closed.
    """

    text: str
    is_unfinished_thinking: bool = False


@lru_cache(maxsize=2)  # the letter and the reason are read from the same reply, one after the other
def visible_part(raw: str) -> Visible:
    """Return what the first turn says after its last closed thinking block, in the last ``<answer>`` if any.

    Linear in the length of ``raw``. A lone closing tag counts: some templates open the block in
    the prompt.
    """
    answer = answer_part(raw)
    return Visible(_SPECIAL_TOKEN.sub("", answer.text).strip(), answer.is_unfinished_thinking)


def answer_part(raw: str) -> Visible:
    """Return the same part as ``visible_part`` with the special tokens inside of it."""
    raw = first_turn(raw)
    start, is_open = 0, False
    for tag in _THINKING_TAG.finditer(raw):
        if any(tag.group(name) for name in _CLOSING):
            start, is_open = tag.end(), False
        else:
            is_open = True
    if is_open:
        return Visible("", is_unfinished_thinking=True)
    text = raw[start:]
    opened = [match.end() for match in _OPEN_ANSWER.finditer(text)]
    if opened:
        closed = _CLOSE_ANSWER.search(text, opened[-1])
        text = text[opened[-1] : closed.start() if closed else len(text)]
    return Visible(text)


def compatible_form(text: str) -> str:
    """Return the NFKC form (full-width letters become plain); long runs of marks are cut to eight.

    Unicode orders a run of combining marks by insertion, which is quadratic: hence the cut.
    """
    if text.isascii():
        return text
    kept: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= _MAX_MARKS_IN_A_ROW:
            kept.append(character)
    return unicodedata.normalize("NFKC", "".join(kept))


def plain_text(text: str) -> str:
    """Return one visible text without markup: NFKC, no markdown or LaTeX fonts, single blanks.

    Lines are kept; every run of blank lines becomes one line break. Struck-out words are dropped.
    """
    # One character may become eighteen; what grows past the limit is no answer anybody meant.
    text = compatible_form(text)[:MAX_CHARACTERS].replace("\r", "\n")
    for pattern in (_STRUCK_OUT, _INLINE_TAG, _LATEX_FONT, _MARKDOWN):
        text = pattern.sub("", text)
    return _NEWLINES.sub("\n", _BLANKS.sub(" ", text)).strip()
