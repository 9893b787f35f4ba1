"""Other spellings that are read out alike: "nife" for "knife"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

Phonemes = tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """Letters that can be written otherwise without another sound.

    Attributes:
        letters: pattern of the letters.
        other: what is written in their place.
        sound: phonemes in a row that the word must have for the letters to be spoken so.
        place: where in the word: anywhere, at its start or at its end.
        never: phonemes that the word must not have, because the letters could stand for them.
    """

    letters: re.Pattern[str]
    other: str
    sound: Phonemes
    place: str = "any"
    never: frozenset[str] = frozenset()


def _rule(letters: str, other: str, sound: str, *, place: str = "any", never: str = "") -> Rule:
    return Rule(re.compile(letters), other, tuple(sound.split()), place, frozenset(never.split()))


_C = "([bdfgklmnprstvz])"
RULES: Sequence[Rule] = (
    _rule("^kn", "n", "N", place="start"),
    _rule("^wr", "r", "R", place="start"),
    _rule("^sc(?=[eiy])", "s", "S", place="start"),
    _rule("^wh", "w", "W", place="start"),
    _rule("^o(?=v)", "u", "AH", place="start"),
    _rule("^g(?=[ei])", "j", "JH", place="start"),
    _rule("mb$", "m", "M", place="end"),
    _rule("ph", "f", "F"),
    _rule("ck", "k", "K"),
    _rule("c(?=[aoulrt])", "k", "K"),
    _rule("(?<!s)c(?=[eiy])", "s", "S"),
    _rule("(?<!c)k(?=[aou])", "c", "K"),
    _rule("qu", "kw", "K W"),
    _rule("x", "ks", "K S"),
    _rule("ight$", "ite", "AY T", place="end"),
    _rule("ee(?=.)", "ea", "IY"),
    _rule("(?<=[^aeiou])ee$", "ie", "IY", place="end"),
    _rule("ea", "ee", "IY", never="EH EY"),
    _rule("ea(?!r)", "e", "EH", never="IY EY"),
    _rule("eo", "e", "EH", never="IY"),
    _rule(f"oa{_C}$", r"o\1e", "OW"),
    _rule(f"(?<=[^aeiou])o{_C}e$", r"oa\1", "OW"),
    _rule(f"(?<=[^aeiou])a{_C}e$", r"ai\1", "EY"),
    _rule(f"(?<=[^aeiou])i{_C}e$", r"y\1e", "AY"),
    _rule(f"(?<=[^aeioqu])u{_C}e$", r"oo\1", "UW"),
    _rule(f"oo{_C}$", r"u\1e", "UW"),
    _rule("oo(?=th)", "u", "UW"),
    _rule("(?<=[^aeiou])i(?=[ln]d|o)", "y", "AY"),
    _rule("(?<=[^aeiou])ie$", "ye", "AY", place="end"),
    _rule("is$", "ees", "IY Z", place="end"),
    _rule("air$", "are", "EH R", place="end"),
    _rule("are$", "air", "EH R", place="end"),
    _rule("ai(?!r)", "ay", "EY"),
    _rule("ay(?=.)", "ai", "EY"),
    _rule("ou(?!r|gh)", "ow", "AW", never="OW"),
    _rule("ow(?=[^e])", "ou", "AW", never="OW"),
    _rule("oi", "oy", "OY"),
    _rule("oy(?=.)", "oi", "OY"),
    _rule("au", "aw", "AO"),
    _rule("aw", "au", "AO"),
    _rule("og$", "awg", "AO G", place="end"),
    _rule("(?<=[^aeiou])ir(?=[^aeiour])", "ur", "ER"),
    _rule("(?<=[^aeiou])ur(?=[^aeiour])", "er", "ER"),
    _rule("(?<=[^aeiou])er(?=[^aeiour])", "ur", "ER"),
    _rule("er$", "ur", "ER", place="end"),
    _rule("or$", "er", "ER", place="end"),
    _rule("ar$", "er", "ER", place="end"),
    _rule("(?<=[^aeioucg])le$", "el", "AH L", place="end"),
    _rule("(?<=[^aeiourw])[aei]l$", "le", "AH L", place="end"),
    _rule("ension$", "ention", "SH AH N", place="end"),
    _rule("tion$", "shun", "SH AH N", place="end"),
    _rule("(?<=.[^aeiou])y$", "ie", "IY", place="end"),
    _rule("(?<=[^aeiou])ie$", "y", "IY", place="end"),
    _rule("dge$", "j", "JH", place="end"),
    _rule("dg(?=e[rd])", "j", "JH"),
    _rule("(?<=[^aeioud])ge$", "j", "JH", place="end"),
    _rule("(?<=[^aeiou])age$", "ige", "JH", place="end", never="ZH EY"),
    _rule("tch", "ch", "CH"),
    _rule("(?<=[nri])ch$", "tch", "CH", place="end"),
    _rule("ance$", "ence", "AH N S", place="end"),
    _rule("ence$", "ance", "AH N S", place="end"),
    _rule("(?<=[^aeiou])ant$", "ent", "AH N T", place="end"),
    _rule("(?<=[^aeiou])ent$", "ant", "AH N T", place="end"),
    _rule("(?<=[aeiou])([bdfgklmnprtz])\\1(?=[aeiouly])", r"\1", ""),
    _rule("ss$", "s", "S", place="end"),
    _rule("(?<=.[^aeiou])a$", "ah", "AH", place="end"),
    _rule("(?<=[rn])k$", "ck", "K", place="end"),
    _rule("^f", "ph", "F", place="start"),
)
"""Tried in this order; the rules with the least doubt stand first. Our choice."""


def respellings(word: str, phonemes: Phonemes) -> list[str]:
    """Return spellings of a word that differ by one rule, the least doubtful first."""
    found = [
        word[: match.start()] + match.expand(rule.other) + word[match.end() :]
        for rule in RULES
        if not rule.never & set(phonemes) and _has(phonemes, rule)
        for match in rule.letters.finditer(word)
    ]
    return [one for one in dict.fromkeys(found) if one != word]


def _has(phonemes: Phonemes, rule: Rule) -> bool:
    size = len(rule.sound)
    if rule.place == "start":
        return phonemes[:size] == rule.sound
    if rule.place == "end":
        return phonemes[-size:] == rule.sound
    return any(phonemes[start : start + size] == rule.sound for start in range(len(phonemes) - size + 1))
