"""The first turn of a reply: what is written past the token that ends it is invented, not answered."""

import re

_BEGINS = (
    r"<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<\|turn>|<\|(?:user|system|human|observation)\|>"
    r"|<｜(?:User|System)｜>|\[INST\]"
)
_ENDS = (
    r"<\|(?:im_end|endoftext|eot_id|eom_id|end_of_text|end_of_sentence|end_of_turn|endofturn|eos|return|call)\|>"
    r"|<\|END_OF_TURN_TOKEN\|>|<｜end▁of▁sentence｜>|<(?:eos|end_of_turn|end_of_utterance|turn\||eoa)>|\[EOS\]"
)
# A message of thinking also ends; the one with the answer follows it.
_MESSAGE_END = r"<\|end\|>(?!\s*+<\|start\|>\s*+assistant\b)"
_MARK = re.compile(
    rf"(?P<mark>{_BEGINS}|{_ENDS}|{_MESSAGE_END})|(?P<open><s>)|(?P<close></s>)", re.IGNORECASE
)
_PADDING = re.compile(
    r"(?:\s|\0|</?pad>|<bos>|<\|(?:pad|begin_of_text|startoftext)\|>|<｜begin▁of▁sentence｜>)*+"
)
_HEADER = re.compile(
    r"\s*+(?:<\|im_start\|>|<start_of_turn>|<\|turn>|<\|start_header_id\|>|<\|start\|>)\s*+"
    r"(?:assistant|model)\s*+(?:<\|end_header_id\|>)?+\s*+",
    re.IGNORECASE,
)
# In words: "Human:" may well name a box, so both sides of an invented conversation must be there.
_ASKED = re.compile(
    r"^[ \t]{0,4}(?:#{1,4} ?)?\**(?:human|user|instruction|question)\**:", re.IGNORECASE | re.MULTILINE
)
_ANSWERED = re.compile(
    r"^[ \t]{0,4}(?:#{1,4} ?)?\**(?:assistant|response|model)\**:", re.IGNORECASE | re.MULTILINE
)


def first_turn(raw: str) -> str:
    """Return a reply up to the first token that ends or begins a turn after anything was said.

    Tokens before the first word only begin or pad the reply and are dropped with their header. A ``</s>``
    that closes an ``<s>`` within the text is markup for struck-out words and ends nothing. Linear time.
    """
    start = position = 0
    n_struck = 0
    for match in _MARK.finditer(raw):
        if match.start() < position:
            continue
        is_begun = start < match.start() and not _PADDING.fullmatch(raw, start, match.start())
        if not is_begun:
            header = _HEADER.match(raw, match.start())
            start = position = header.end() if header else match.end()
        elif match["open"]:
            n_struck += 1
        elif match["close"] and n_struck:
            n_struck -= 1
        else:
            return _before_words(raw[start : match.start()])
    return _before_words(raw[start:])


def _before_words(text: str) -> str:
    """Return a text up to the first question of a conversation that is written out in words."""
    answered = 0
    for match in _ANSWERED.finditer(text):
        answered = match.start()
    asked = next(
        (match for match in _ASKED.finditer(text, 0, answered) if text[: match.start()].strip()), None
    )
    return text if asked is None else text[: asked.start()]
