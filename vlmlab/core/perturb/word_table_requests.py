"""Tables by a language model: what it is asked, how its answer is read, and what a person decides of it."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from vlmlab.core.checks import check_count
from vlmlab.core.errors import VlmLabError
from vlmlab.core.perturb.word_tables import Alternative, TableKind, WordTable, label_key

REQUEST_VERSION = "1"
MOST_LABELS, MOST_ALTERNATIVES, MOST_CHARACTERS = 25, 8, 80
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL | re.IGNORECASE)

ReviewStatus = Literal["proposed", "accepted", "refused"]

_WANTED: Mapping[TableKind, str] = {
    "homophone": (
        "homophones: words, or groups of few words, that sound the same as the label or nearly the same when "
        "they are read out in English, but are spelled otherwise. Replace one word of a longer label and "
        "keep the others. A homophone may mean something else"
    ),
    "synonym": (
        "synonyms: other common names in English of the same visible thing, in the singular. A synonym must "
        "not be a wider term, a part, or another thing"
    ),
}


class WordTableError(VlmLabError):
    """A language model's answer is no table, or a decision is about something that was not proposed."""


@dataclass(frozen=True)
class TableProposal:
    """What a language model proposed.

    Attributes:
        alternatives: label, as it was asked -> what may stand in its place; empty where it knows nothing.
        problems: label or text -> why it was left out, in a sentence.
    """

    alternatives: Mapping[str, tuple[str, ...]]
    problems: Mapping[str, str]


class ReviewedAlternative(BaseModel):
    """A proposed alternative and what a person decided."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(min_length=1, max_length=MOST_CHARACTERS)
    source: str = Field(max_length=200, description="Who proposed it, such as the model's name.")
    status: ReviewStatus = "proposed"


class TableDraft(BaseModel):
    """A table under review."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: TableKind
    labels: dict[str, tuple[ReviewedAlternative, ...]] = Field(default_factory=dict)


def label_batches(
    labels: Iterable[str], table: WordTable, *, batch_size: int = MOST_LABELS
) -> list[tuple[str, ...]]:
    """Return the labels without an entry in a table, each once, in groups for one request each.

    Raises:
        ValueError: the size is below 1 or above ``MOST_LABELS``.
    """
    check_count("batch_size", batch_size, low=1, high=MOST_LABELS)
    missing = list({label_key(label): label for label in table.missing(labels)}.values())
    return [tuple(missing[start : start + batch_size]) for start in range(0, len(missing), batch_size)]


def table_prompt(kind: TableKind, labels: Sequence[str]) -> str:
    """Return the request for alternatives of some labels; labels may hold quotes and any script.

    Raises:
        ValueError: there is no label, or more than ``MOST_LABELS``.
    """
    check_count("number of labels", len(labels), low=1, high=MOST_LABELS)
    return (
        f"For each label in the list below, give up to {MOST_ALTERNATIVES} {_WANTED[kind]}. "
        "Never give the label itself, an offensive word, or an explanation.\n\n"
        "Answer with one JSON object and nothing else. Its keys are the labels, each exactly as in the list, "
        "and its values are lists of strings, the best first. Give an empty list where there is nothing.\n\n"
        f"Labels: {json.dumps(list(labels), ensure_ascii=False)}"
    )


def read_table_reply(text: str, labels: Sequence[str]) -> TableProposal:
    """Return what an answer proposes for some labels; what breaks the form is left out and named.

    Args:
        text: the visible part of the answer: one JSON object, alone or in one fenced block.
        labels: as they were asked.

    Raises:
        WordTableError: it is not one JSON object.
    """
    pairs = _json_object(text)
    asked = {label_key(label): label for label in labels}
    found: dict[str, tuple[str, ...]] = {}
    problems: dict[str, str] = {}
    for key, value in pairs:
        label = asked.get(label_key(key))
        if label is None:
            problems[key] = "It was not asked for."
        elif label in found:
            problems[key] = "It stands twice in the answer; the first counts."
        elif not isinstance(value, list):
            problems[key] = "Its value is not a list."
        else:
            found[label] = _usable(label, value, problems)
    for label in asked.values():
        if label not in found:
            problems.setdefault(label, "The answer leaves it out.")
    return TableProposal(found, problems)


def _json_object(text: str) -> list[tuple[str, object]]:
    fenced = _FENCED.fullmatch(text.strip())
    try:
        pairs = json.loads(fenced[1] if fenced else text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        raise WordTableError(
            "The model's answer is not one JSON object.", hint="Ask again, or ask another model."
        ) from error
    if not isinstance(pairs, _Pairs):
        raise WordTableError("The model's answer is JSON, but no object.", hint="Ask again.")
    return list(pairs)


class _Pairs(list[tuple[str, object]]):
    """The members of a JSON object in their order, doubles included."""


def _usable(label: str, values: Sequence[object], problems: dict[str, str]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for value in values:
        if not isinstance(value, str):
            problems[f"{label}: {value!r}"[:MOST_CHARACTERS]] = "It is not text."
            continue
        text = " ".join(value.split())
        why = _objection(label, text)
        if not why and len(kept) == MOST_ALTERNATIVES:
            why = f"Only {MOST_ALTERNATIVES} are taken."
        if why:
            problems[f"{label}: {text}"[:MOST_CHARACTERS]] = why
        else:
            kept.setdefault(label_key(text), text)
    return tuple(kept.values())


def _objection(label: str, text: str) -> str:
    if not text:
        return "It is empty."
    if len(text) > MOST_CHARACTERS:
        return f"It is longer than {MOST_CHARACTERS} characters."
    if label_key(text) == label_key(label):
        return "It is the label itself."
    if not text.isprintable() or not any(character.isalpha() for character in text):
        return "It holds no letter, or a character that cannot be shown."
    return ""


def with_proposal(draft: TableDraft, proposal: TableProposal, *, source: str) -> TableDraft:
    """Return a draft with a proposal added; what a person decided before stays decided, in either way."""
    labels = dict(draft.labels)
    for label, texts in proposal.alternatives.items():
        known = labels.get(label_key(label), ())
        taken = {label_key(one.text) for one in known}
        new = [
            ReviewedAlternative(text=text, source=source) for text in texts if label_key(text) not in taken
        ]
        labels[label_key(label)] = (*known, *new)
    return TableDraft(kind=draft.kind, labels=labels)


def with_decision(draft: TableDraft, label: str, *, text: str, status: ReviewStatus) -> TableDraft:
    """Return a draft in which one proposed alternative has another status.

    Raises:
        WordTableError: the alternative was not proposed for this label.
    """
    key = label_key(label)
    known = draft.labels.get(key, ())
    if text not in [one.text for one in known]:
        raise WordTableError(
            f"“{text}” was not proposed for “{label}”.", hint="Load the page again and decide there."
        )
    decided = tuple(one.model_copy(update={"status": status}) if one.text == text else one for one in known)
    return TableDraft(kind=draft.kind, labels={**draft.labels, key: decided})


def reviewed_table(
    draft: TableDraft,
    *,
    statuses: frozenset[ReviewStatus] = frozenset({"accepted"}),
    base: WordTable | None = None,
) -> WordTable:
    """Return the table of a draft's alternatives with some statuses, together with a base's entries.

    A label of the draft replaces the base's entry, unless nothing of it is left.

    Raises:
        ValueError: the base is of another kind.
    """
    if base is not None and base.kind != draft.kind:
        raise ValueError(f"base must be a table of kind {draft.kind}, got {base.kind}")
    entries = dict(base.entries) if base is not None else {}
    for label, known in draft.labels.items():
        kept = tuple(
            Alternative(text=one.text, closeness="generated") for one in known if one.status in statuses
        )
        if kept:
            entries[label] = kept
    return WordTable(draft.kind, entries)
