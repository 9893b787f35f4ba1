"""Reading true/false verdicts about numbered statements out of a reply, and taking them away."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_VERDICT = r"(?:true|false|True|False|TRUE|FALSE|[TF])"
_END = r"(?![A-Za-z0-9'/|])(?! ?(?:/|or\b))"
_NUMBERED = re.compile(
    r"^[^\w(]{0,4}(?:(?:statement|claim|question|no\.?|s|q) ?)?[(\[#]{0,2}(\d{1,3})(?!\d)(.*)$", re.IGNORECASE
)
_LEADING = re.compile(rf"^[^\w\n]{{0,6}}({_VERDICT}){_END}")
_TRAILING = re.compile(rf"(?:[:=>.(\[–—-]|\bis) ?[(\[\"']?({_VERDICT})[)\]\"'.!]{{0,3}}$")
_SEVERAL = re.compile(
    r"(?<![\w.])[(\[]?(\d{1,3}) ?(?:[.):=\]-]{1,2} ?|(?<= )is )"
    rf"[(\[\"']?({_VERDICT}){_END}[)\]\"',;]{{0,3}}"
)
_ANOTHER = re.compile(r"\b(?:statement|claim|question) ?#?\d|\b\d{1,3} (?:is|are)\b", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s,;|/&\[\]()\"'.•-]+")
_KEEP_FROM = re.compile(r"\b(?:(?:final|correct|my) )?answer\b", re.IGNORECASE)
_LABEL = re.compile(r"^[^:\n]{0,40}: ?")


@dataclass(frozen=True)
class StatementReading:
    """Verdicts and the text that is left.

    Attributes:
        verdicts: one entry a statement; None where nothing, or a contradiction, was said.
        rest: the reply without the lines that held verdicts.
    """

    verdicts: tuple[bool | None, ...]
    rest: str


def read_statements(text: str, n_statements: int) -> StatementReading:
    """Read ``T``/``F`` by statement number, or by order when exactly ``n_statements`` stand alone.

    Args:
        text: plain text (see ``plain_text``).
        n_statements: how many statements the prompt held; 0 leaves the text alone.

    Returns:
        The verdicts and the text without them. Linear in the length of the text.
    """
    if n_statements <= 0:
        return StatementReading((), text)
    lines = text.split("\n")
    found: dict[int, bool | None] = {}
    rest = [_take_numbered(line, found) for line in lines]
    if any(1 <= number <= n_statements for number in found):
        verdicts = tuple(found.get(number) for number in range(1, n_statements + 1))
        return StatementReading(verdicts, "\n".join(line for line in rest if line))
    return _read_by_order(lines, n_statements)


def statements_from_mapping(values: object, n_statements: int) -> tuple[bool | None, ...] | None:
    """Read verdicts out of a decoded JSON list or number-keyed object; None when it holds none."""
    if isinstance(values, Mapping):
        by_number = {str(key).strip().lstrip("sSqQ#"): value for key, value in values.items()}
        ordered: list[object] = [by_number.get(str(number)) for number in range(1, n_statements + 1)]
    elif isinstance(values, list) and len(values) == n_statements:
        ordered = list(values)
    else:
        return None
    verdicts = tuple(_verdict_of(value) for value in ordered)
    return verdicts if any(verdict is not None for verdict in verdicts) else None


def _verdict_of(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    return {"t": True, "true": True, "f": False, "false": False}.get(word)


def _note(found: dict[int, bool | None], number: int, word: str) -> None:
    """Store a verdict; two different ones about the same statement become None."""
    verdict = _verdict_of(word)
    found[number] = verdict if found.get(number, verdict) == verdict else None


def _take_numbered(line: str, found: dict[int, bool | None]) -> str:
    """Store the verdicts of one line and return what remains of it."""
    several = list(_SEVERAL.finditer(line))
    if len(several) > 1:
        for match in several:
            _note(found, int(match.group(1)), match.group(2))
        return _SEVERAL.sub("", line).strip()
    numbered = _NUMBERED.match(line)
    if numbered is None:
        return line
    body = numbered.group(2)
    verdict = _LEADING.match(body)
    if verdict is None and not _ANOTHER.search(body):
        verdict = _TRAILING.search(body[-40:])
    if verdict is None:
        return line
    _note(found, int(numbered.group(1)), verdict.group(1))
    answer = _KEEP_FROM.search(body)
    return body[answer.start() :] if answer else ""


def _words(line: str) -> list[str]:
    """Return the verdict words of a line that holds nothing else, else an empty list."""
    for candidate in (line, _LABEL.sub("", line, count=1)):
        if re.fullmatch(r"[TF]{2,64}", candidate):
            return list(candidate)
        words = [word for word in _SEPARATORS.split(candidate) if word] if len(candidate) < 2_000 else []
        if words and all(re.fullmatch(_VERDICT, word) for word in words):
            return words
    return []


def _read_by_order(lines: list[str], n_statements: int) -> StatementReading:
    """Read one line of exactly n verdicts, or n verdicts standing alone on their lines."""
    words = [_words(line) for line in lines]
    whole = [index for index, line_words in enumerate(words) if len(line_words) == n_statements]
    alone = [index for index, line_words in enumerate(words) if len(line_words) == 1]
    if len(whole) == 1:
        taken, verdicts = whole, tuple(_verdict_of(word) for word in words[whole[0]])
    elif len(alone) == n_statements:
        taken, verdicts = alone, tuple(_verdict_of(words[index][0]) for index in alone)
    else:
        return StatementReading((None,) * n_statements, "\n".join(lines))
    dropped = set(taken)
    return StatementReading(verdicts, "\n".join(line for i, line in enumerate(lines) if i not in dropped))
