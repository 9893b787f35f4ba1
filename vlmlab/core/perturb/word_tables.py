"""Tables of other words for labels: the shipped ones, and the way they are kept."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from vlmlab.core.perturb.text_plurals import plural_of
from vlmlab.core.perturb.text_tokens import words_of

TableKind = Literal["homophone", "synonym"]
Closeness = Literal["exact", "split", "respelled", "near", "whole", "part", "scientific", "generated"]
"""How an alternative was found.

Homophones: ``exact`` (a word with the same phonemes), ``split`` (two words with the same phonemes),
``respelled`` (no word, but read out alike), ``near`` (a word with one phoneme that is easily mistaken).
Synonyms: ``whole`` (another name of the thing), ``part`` (its last word is replaced by a synonym of its
own), ``scientific`` (the name of the species). Both: ``generated`` (by a language model).
"""


class Alternative(BaseModel):
    """One other way to say a label."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(min_length=1, max_length=200)
    closeness: Closeness


@dataclass(frozen=True)
class LabelForm:
    """How a label can stand in a prompt: as it is, or in the plural.

    Attributes:
        text: in small letters.
        label: whose form it is.
        n_words: number of words.
        is_plural: whether an alternative has to be put in the plural too.
    """

    text: str
    label: str
    n_words: int
    is_plural: bool


@dataclass(frozen=True)
class WordTable:
    """Labels and what may stand in their place.

    Attributes:
        kind: what the alternatives are.
        entries: label in small letters -> alternatives, the best first; none is empty.
    """

    kind: TableKind
    entries: Mapping[str, tuple[Alternative, ...]]

    def alternatives(self, label: str) -> tuple[str, ...]:
        """Return what may stand in place of a label, the best first; nothing for an unknown one."""
        return tuple(one.text for one in self.entries.get(label_key(label), ()))

    def missing(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return the labels without an entry, in the order given."""
        return tuple(label for label in labels if label_key(label) not in self.entries)

    @cached_property
    def forms_by_first_word(self) -> Mapping[str, tuple[LabelForm, ...]]:
        """First word of a label or its plural -> its forms, the longest first; labels that end in a word."""
        forms = {
            label: LabelForm(label, label, len(words_of(label)), is_plural=False) for label in self.entries
        }
        for label in self.entries:
            plural = plural_of(label)
            if plural is not None and plural not in forms:
                forms[plural] = LabelForm(plural, label, len(words_of(plural)), is_plural=True)
        found: dict[str, list[LabelForm]] = {}
        for text, form in sorted(forms.items()):
            spans = words_of(text)
            if spans and spans[0][0] == 0 and spans[-1][1] == len(text):
                found.setdefault(text[: spans[0][1]], []).append(form)
        return {first: tuple(sorted(some, key=lambda one: -one.n_words)) for first, some in found.items()}


def label_key(label: str) -> str:
    """Return a label as tables keep it: small letters, single blanks."""
    return " ".join(label.casefold().split())


def table_of(kind: TableKind, entries: Mapping[str, Iterable[Alternative]]) -> WordTable:
    """Return a table with its labels in the form of ``label_key``; labels without alternatives are left out.

    Raises:
        ValueError: two labels are the same but for capitals and blanks.
    """
    kept: dict[str, tuple[Alternative, ...]] = {}
    for label, alternatives in entries.items():
        key = label_key(label)
        if key in kept:
            raise ValueError(f"two labels are the same but for capitals and blanks: {label!r}")
        others = tuple(one for one in alternatives if label_key(one.text) != key)
        if others:
            kept[key] = others
    return WordTable(kind, kept)


@lru_cache(maxsize=2)
def shipped_table(kind: TableKind) -> WordTable:
    """Return the table that comes with the program: labels of the sample set, of COCO and of ImageNet-1k."""
    text = resources.files("vlmlab.core.perturb.data").joinpath(f"{kind}s.json").read_text("utf-8")
    entries: dict[str, dict[Closeness, list[str]]] = json.loads(text)["labels"]
    return WordTable(
        kind,
        {
            label: tuple(
                Alternative.model_construct(text=one, closeness=closeness)
                for closeness, texts in groups.items()
                for one in texts
            )
            for label, groups in entries.items()
        },
    )


@lru_cache(maxsize=1)
def label_sets() -> Mapping[str, tuple[str, ...]]:
    """Return the labels that the shipped tables were made for: ``sample``, ``coco``, ``imagenet``."""
    text = resources.files("vlmlab.core.perturb.data").joinpath("labels.json").read_text("utf-8")
    return {name: tuple(labels) for name, labels in json.loads(text)["sets"].items()}
