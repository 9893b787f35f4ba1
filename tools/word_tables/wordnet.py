"""WordNet's database files: synsets, senses in their order, and how often a word was met."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

# Words for people and things that nobody should be asked to locate, as WordNet's glosses call them.
_RUDE = re.compile(
    r"obscen|slur|offensive|disparag|derogat|vulgar|profan|sexual|intercourse|prostitut|genital|penis|vagina"
    r"|vulva|testicle|scrotum|anus|buttocks|breasts|defecat|urinat|excrement|feces|semen|sodom|copulat"
    r"|masturbat|incest|whore|homosexual|slang (?:term )?for"
)
_RUDE_TOO = ("damn", "hell", "drunk", "queer", "gay")
_MARKER = re.compile(r"\((?:a|p|ip)\)$")


@dataclass(frozen=True)
class Synset:
    """One meaning.

    Attributes:
        offset: its place in the data file.
        lemmas: its words, with blanks and capitals.
        hypernyms: offsets of what it is a kind of (nouns only).
        gloss: what it means.
    """

    offset: int
    lemmas: tuple[str, ...]
    hypernyms: tuple[int, ...]
    gloss: str


@dataclass
class WordNet:
    """What the tables need of WordNet.

    Attributes:
        nouns: offset -> synset.
        noun_senses: word in small letters -> its noun synsets, the most frequent first.
        meanings: word in small letters -> keys of its synsets of all parts of speech.
        words: single words that WordNet writes in small letters.
        counts: word -> how often it was met in the texts that were tagged by sense.
        rude: words with a meaning that is offensive.
        genera: names of genera of animals and plants.
    """

    nouns: dict[int, Synset] = field(default_factory=dict)
    noun_senses: dict[str, tuple[int, ...]] = field(default_factory=dict)
    meanings: dict[str, set[str]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    rude: set[str] = field(default_factory=set)
    genera: set[str] = field(default_factory=set)

    def sense(self, name: str) -> Synset:
        """Return the noun synset that "word/number" names, the number as in WordNet's browser.

        Raises:
            KeyError: there is no such sense.
        """
        word, _, number = name.rpartition("/")
        try:
            return self.nouns[self.noun_senses[word.lower()][int(number) - 1]]
        except (KeyError, IndexError) as error:
            raise KeyError(f"WordNet has no noun sense {name}") from error

    def best_match(self, names: Iterable[str]) -> Synset | None:
        """Return the noun synset that shares the most words with some names, at least half of them."""
        wanted = {name.lower() for name in names}
        found = {offset for name in wanted for offset in self.noun_senses.get(name, ())}
        if not found:
            return None

        def shared(offset: int) -> tuple[int, int]:
            lemmas = {lemma.lower() for lemma in self.nouns[offset].lemmas}
            return len(lemmas & wanted), -len(lemmas - wanted)

        best = max(sorted(found), key=shared)
        return self.nouns[best] if 2 * shared(best)[0] >= len(wanted) else None

    def is_scientific(self, name: str) -> bool:
        """Whether a name is that of a species: a genus and more, or a capital and a foreign word."""
        first, _, rest = name.partition(" ")
        if not rest or not first.istitle():
            return False
        is_foreign = rest.islower() and rest.isalpha() and rest not in self.words
        return first in self.genera or first.lower() == rest or is_foreign

    def is_same_meaning(self, first: str, second: str) -> bool:
        """Whether two words share a meaning, so that one is a spelling or a synonym of the other."""
        return bool(self.meanings.get(first, set()) & self.meanings.get(second, set()))


def read_wordnet(folder: Path) -> WordNet:
    """Return WordNet from its folder ``dict``."""
    wordnet = WordNet()
    wordnet.rude.update(_RUDE_TOO)
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part}").read_text("latin-1").splitlines():
            if not line.startswith("  "):
                _add_synset(wordnet, part, line)
    for line in (folder / "index.noun").read_text("latin-1").splitlines():
        if not line.startswith("  "):
            fields = line.split()
            n_senses = int(fields[2])
            wordnet.noun_senses[fields[0].replace("_", " ")] = tuple(map(int, fields[-n_senses:]))
    for line in (folder / "index.sense").read_text("latin-1").splitlines():
        key, *_, count = line.split()
        word = key.partition("%")[0].replace("_", " ")
        wordnet.counts[word] = wordnet.counts.get(word, 0) + int(count)
    return wordnet


def _add_synset(wordnet: WordNet, part: str, line: str) -> None:
    head, _, gloss = line.partition(" | ")
    fields = head.split()
    n_words = int(fields[3], 16)
    lemmas = tuple(_MARKER.sub("", fields[4 + 2 * number]).replace("_", " ") for number in range(n_words))
    place = 4 + 2 * n_words
    pointers = [
        fields[place + 1 + 4 * number : place + 5 + 4 * number] for number in range(int(fields[place]))
    ]
    hypernyms = tuple(int(offset) for sign, offset, _, _ in pointers if sign in ("@", "@i"))
    if part == "noun":
        wordnet.nouns[int(fields[0])] = Synset(int(fields[0]), lemmas, hypernyms, gloss.strip())
    meaning = gloss.partition('"')[0]
    for lemma in lemmas:
        wordnet.meanings.setdefault(lemma.lower(), set()).add(f"{part}{fields[0]}")
        if lemma.isalpha() and lemma.isascii() and lemma.islower():
            wordnet.words.add(lemma)
        if lemma.startswith("genus "):
            wordnet.genera.add(lemma.removeprefix("genus "))
        if _RUDE.search(meaning):
            wordnet.rude.add(lemma.lower())
