"""English plurals of labels, so that "all buses" is found and "all coaches" put in its place."""

import re
from collections.abc import Mapping

IRREGULAR: Mapping[str, str] = {
    "child": "children", "foot": "feet", "goose": "geese", "knife": "knives", "leaf": "leaves",
    "loaf": "loaves", "man": "men", "mouse": "mice", "ox": "oxen", "person": "people", "scarf": "scarves",
    "shelf": "shelves", "tooth": "teeth", "wife": "wives", "wolf": "wolves", "woman": "women",
}  # fmt: skip
_UNCHANGED = frozenset(
    ("sheep", "fish", "deer", "aircraft", "moose", "bison", "cattle", "debris", "glassware")
)
_COMPOUNDS = ("man", "woman", "person", "child", "mouse", "knife", "wolf", "fish", "sheep")
_RELATION = re.compile(r" (?:of|in|for|with|using|to|on) ")
_HISSING = re.compile(r"(?:s|x|z|ch|sh)$")
_WITH_Y = re.compile(r"(?<=[^aeiou])y$")


def plural_of(label: str) -> str | None:
    """Return the plural of a label in small letters, or None where it has none or stands in the plural.

    The word before "of", "in" and the like is the one that changes: "pairs of scissors".
    """
    relation = _RELATION.search(label)
    named, rest = (label[: relation.start()], label[relation.start() :]) if relation else (label, "")
    before, blank, head = named.rpartition(" ")
    plural = _plural_word(head)
    return f"{before}{blank}{plural}{rest}" if plural else None


def _plural_word(word: str) -> str | None:
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word in _UNCHANGED or not word[-1:].isalpha() or not word.isascii() or re.search(r"[^us]s$", word):
        return None
    for ending in _COMPOUNDS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            whole = _plural_word(ending)
            return word.removesuffix(ending) + whole if whole else None
    if _WITH_Y.search(word):
        return f"{word[:-1]}ies"
    return f"{word}es" if _HISSING.search(word) else f"{word}s"
