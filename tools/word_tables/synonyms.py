"""Synonyms of a label: other names of the same meaning."""

from collections.abc import Collection, Mapping, Sequence

from tools.word_tables.names import ADDED, LEFT_OUT, SENSES
from tools.word_tables.wordnet import Synset, WordNet
from vlmlab.core.perturb.word_tables import Alternative, Closeness, label_key

MOST_FOR_A_LABEL = 6
_RAREST_SENSE = 2


def chosen_synonyms(label: str, wordnet: WordNet) -> list[Alternative]:
    """Return synonyms of a label of the sample set or of COCO: of its sense, and those written by hand."""
    lemmas = wordnet.sense(SENSES[label]).lemmas if label in SENSES else ()
    left_out = {label_key(label), *LEFT_OUT.get(label, ())} | wordnet.rude
    kept = [name for name in lemmas if name.lower() not in left_out and not wordnet.is_scientific(name)]
    return _alternatives("whole", [*kept, *ADDED.get(label, ())])


class ClassSynonyms:
    """Finds synonyms among the names of classes.

    Args:
        classes: the names of each class, its own first.
        wordnet: where the names come from.
    """

    def __init__(self, classes: Sequence[Sequence[str]], wordnet: WordNet) -> None:
        self._wordnet = wordnet
        owners: dict[str, set[int]] = {}
        for number, names in enumerate(classes):
            for name in names:
                owners.setdefault(label_key(name), set()).add(number)
        self._shared = frozenset(name for name, numbers in owners.items() if len(numbers) > 1)
        self._first = [label_key(names[0]) for names in classes]

    def of(self, names: Sequence[str]) -> Mapping[str, list[Alternative]]:
        """Return the synonyms of each name of a class that means no other class too.

        The first name counts as the class's own, unless it is the first name of two classes.
        """
        synset = self._wordnet.best_match(names)
        usable = [
            name for name in names if label_key(name) not in self._shared and self._is_clear(name, synset)
        ]
        scientific = [name for name in names if self._wordnet.is_scientific(name)]
        common = [name for name in usable if name not in scientific]
        found: dict[str, list[Alternative]] = {}
        for rank, name in enumerate(names):
            key = label_key(name)
            if not self._is_label(name, rank, synset):
                continue
            left_out = LEFT_OUT.get(key, frozenset())
            whole = [one for one in common if label_key(one) != key and one not in left_out]
            others = _alternatives("whole", whole) or _alternatives(
                "part", [one for one in self._by_head(key, synset) if one not in left_out]
            )
            species = [one for one in scientific if label_key(one) != key]
            found[key] = others or _alternatives("scientific", species)
        return found

    def _is_label(self, name: str, rank: int, synset: Synset | None) -> bool:
        """Whether a name stands for its class in any prompt: it means no other class, and mostly this thing.

        Args:
            name: one of the class's names.
            rank: its place among them; 0 is the class's own.
            synset: the class's meaning.
        """
        key = label_key(name)
        senses = self._wordnet.noun_senses.get(name.lower(), ())
        means_it = (
            " " in name or synset is None or synset.offset in senses[: _RAREST_SENSE if rank == 0 else 1]
        )
        if rank == 0:
            return means_it and self._first.count(key) == 1
        is_taken = key in self._shared or key in self._first
        is_word = len(name) > 3 and name[-1].isalpha() and not self._wordnet.is_scientific(name)
        return means_it and not is_taken and is_word

    def _is_clear(self, name: str, synset: Synset | None) -> bool:
        """Whether a reader would think of this meaning, and nobody would mind the word."""
        if name.lower() in self._wordnet.rude:
            return False
        senses = self._wordnet.noun_senses.get(name.lower(), ())
        return " " in name or synset is None or synset.offset in senses[:_RAREST_SENSE]

    def _by_head(self, label: str, synset: Synset | None) -> list[str]:
        """Return the label with its last word replaced by a synonym of what the thing is a kind of."""
        rest, _, head = label.rpartition(" ")
        kinds = [self._wordnet.nouns[one] for one in synset.hypernyms] if synset and rest else []
        for _ in range(4):
            for kind in kinds:
                lemmas = [
                    lemma
                    for lemma in kind.lemmas
                    if lemma.lower() != head and not self._wordnet.is_scientific(lemma)
                ]
                if any(lemma.lower() == head for lemma in kind.lemmas):
                    return [
                        f"{rest} {lemma}"
                        for lemma in lemmas
                        if self._is_clear(lemma, kind) and lemma.count(" ") < 2 and head not in lemma.split()
                    ]
            kinds = [self._wordnet.nouns[one] for kind in kinds for one in kind.hypernyms]
        return []


def _alternatives(closeness: Closeness, names: Collection[str]) -> list[Alternative]:
    unique = {label_key(name): name for name in reversed(list(names))}
    kept = list(reversed(unique.values()))[:MOST_FOR_A_LABEL]
    return [Alternative(text=name, closeness=closeness) for name in kept]
