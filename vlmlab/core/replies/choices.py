"""Reading which lettered option a reply chose; what names no option clearly is invalid, never a guess."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from vlmlab.core.replies.option_patterns import OptionPatterns, patterns_for
from vlmlab.core.replies.plain import MAX_CHARACTERS, Visible, plain_text, visible_part
from vlmlab.core.replies.statements import StatementReading, read_statements, statements_from_mapping

InvalidReason = Literal[
    "",
    "no_output",
    "unfinished_thinking",
    "too_long",
    "refusal",
    "safety",
    "several_letters",
    "no_choice",
    "truncated",
]
Rule = Literal["", "json", "marker", "letter_line", "letter_and_text", "option_mention", "option_text"]

_ANSWER_KEYS = (
    "answer",
    "final_answer",
    "choice",
    "option",
    "letter",
    "selection",
    "selected_option",
    "action",
)
_REASON_KEYS = ("reason", "explanation", "why", "because", "rationale", "justification")
_STATEMENT_KEYS = ("statements", "verdicts", "recognition", "tf", "true_false")
_MAX_JSON_DEPTH = 64


@dataclass(frozen=True)
class ChoiceReading:
    """What a reply to a lettered question says.

    Attributes:
        status: "answered", or "invalid" when no single option was named.
        letter: the chosen letter of the option set, else None.
        statements: one true/false/None a statement, in the order of the prompt.
        reason: why the reply is invalid, else "".
        rule: which rule found the letter, else "".
    """

    status: Literal["answered", "invalid"]
    letter: str | None = None
    statements: list[bool | None] = field(default_factory=list)
    reason: InvalidReason = ""
    rule: Rule = ""


def parse_choice(
    text: str,
    *,
    options: Mapping[str, str] | Sequence[str],
    n_statements: int = 0,
    finish_reason: str = "stop",
) -> ChoiceReading:
    """Read the chosen letter and the true/false statements of a reply.

    Rules in this order: JSON with an answer key; the last explicit marker ("the answer is B");
    the only line that is a letter; a line that starts like "B. ..."; "option B"; a line that is
    exactly one option's text. Two letters under the same rule, or none, make the reply invalid.

    Args:
        text: the raw reply. Linear time; never raises for any text.
        options: letter -> text shown to the system, or just the letters.
        n_statements: how many statements the prompt asked to mark T or F.
        finish_reason: why the text ended (``FinishReason`` of the SUT).

    Returns:
        A reading whose letter, if any, is one of ``options``.

    Raises:
        ValueError: ``options`` is empty or ``n_statements`` is negative.
    """
    if n_statements < 0:
        raise ValueError(f"n_statements must be 0 or more, got {n_statements}")
    patterns = patterns_for(options)
    visible = visible_part(text)
    unread: list[bool | None] = [None] * n_statements
    refused = _refused_before_reading(visible, finish_reason)
    if refused:
        return ChoiceReading("invalid", statements=unread, reason=refused)
    record = _json_object(visible.text)
    statements = _read_statements(record, plain_text(visible.text), n_statements)
    is_cut = finish_reason == "length"
    found = _from_json(record, patterns) or _from_text(statements.rest, patterns, is_cut=is_cut)
    if found.letter is not None:
        return ChoiceReading("answered", found.letter, list(statements.verdicts), rule=found.rule)
    reason: InvalidReason = "several_letters" if found.is_undecided else "no_choice"
    if finish_reason == "length" and not found.is_undecided:
        reason = "truncated"
    return ChoiceReading("invalid", statements=list(statements.verdicts), reason=reason)


def reason_of(text: str, *, options: Mapping[str, str] | Sequence[str], max_length: int = 300) -> str:
    """Return the first sentence of reason a reply gives beside its letter, or "" when it gives none.

    Args:
        text: the raw reply to a prompt that asked for one sentence of reason.
        options: as for ``parse_choice``.
        max_length: longest sentence in characters; longer ones end in an ellipsis.
    """
    visible = visible_part(text)
    if visible.is_unfinished_thinking or len(visible.text) > MAX_CHARACTERS:
        return ""
    record = _json_object(visible.text)
    for key in _REASON_KEYS:
        if isinstance(record.get(key), str):
            return _first_sentence(plain_text(str(record[key])), max_length)
    if record:
        return ""
    return _first_sentence(patterns_for(options).without_answer(plain_text(visible.text)), max_length)


@dataclass(frozen=True)
class _Found:
    letter: str | None = None
    rule: Rule = ""
    is_undecided: bool = False


def _refused_before_reading(visible: Visible, finish_reason: str) -> InvalidReason:
    if finish_reason == "refusal":
        return "refusal"
    if finish_reason == "safety":
        return "safety"
    if visible.is_unfinished_thinking:
        return "unfinished_thinking"
    if not visible.text:
        return "no_output"
    return "too_long" if len(visible.text) > MAX_CHARACTERS else ""


def _json_object(text: str) -> dict[str, object]:
    """Return the object between the first ``{`` and the last ``}`` with lower-case keys, else {}."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start or text.count("{") > _MAX_JSON_DEPTH or text.count("[") > 1_000:
        return {}
    try:
        value = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return {}
    return {str(key).strip().lower().replace(" ", "_"): item for key, item in value.items()}


def _read_statements(record: Mapping[str, object], plain: str, n_statements: int) -> StatementReading:
    if n_statements and record:
        candidates = [record.get(key) for key in _STATEMENT_KEYS] + [dict(record)]
        for candidate in candidates:
            verdicts = statements_from_mapping(candidate, n_statements)
            if verdicts is not None:
                return StatementReading(verdicts, plain)
    return read_statements(plain, n_statements)


def _from_json(record: Mapping[str, object], patterns: OptionPatterns) -> _Found | None:
    """Read an answer key; one that names no option settles the reply as invalid."""
    for key in _ANSWER_KEYS:
        if key in record:
            value = record[key]
            single = value[0] if isinstance(value, list) and len(value) == 1 else value
            fragment = plain_text(single[:2_000]) if isinstance(single, str) else str(single)[:20]
            return _Found(patterns.letter_of_fragment(fragment), "json")
    return None


def _from_text(text: str, patterns: OptionPatterns, *, is_cut: bool) -> _Found:
    """Apply the rules of the module in order; the first that finds anything decides.

    A reply that was cut while it weighed its options has not chosen one: a mere mention counts for nothing.
    """
    marker = patterns.last_marker(text)
    if marker is not None:
        return _Found(marker or None, "marker", is_undecided=not marker)
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    rules: tuple[tuple[Rule, set[str]], ...] = (
        ("letter_line", patterns.letter_lines(lines)),
        ("letter_and_text", patterns.letters_with_text(lines)),
        ("option_mention", patterns.mentions(text)),
        ("option_text", patterns.text_lines(lines)),
    )
    for rule, letters in rules:
        if letters and not (is_cut and rule == "option_mention"):
            return _Found(min(letters), rule) if len(letters) == 1 else _Found(is_undecided=True)
    return _Found()


def _first_sentence(text: str, max_length: int) -> str:
    """Return the text up to the first full stop that ends a sentence, on one line."""
    text = " ".join(text.split())
    for index, character in enumerate(text[: max_length + 1]):
        ends = character in "!?。！？" or (character == "." and text[index + 1 : index + 2] in ("", " "))
        if ends and index >= 3:
            return text[: index + 1]
    return text if len(text) <= max_length else text[: max_length - 1].rstrip() + "…"
