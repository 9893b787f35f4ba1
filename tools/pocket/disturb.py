"""Small faults in the words of training prompts, so that a misspelt prompt is harder but not unreadable."""

import numpy as np

NEIGHBOURS = {
    **{"a": "s", "b": "v", "c": "x", "d": "f", "e": "r", "f": "g", "g": "h", "h": "j", "i": "o", "j": "k"},
    **{"k": "l", "l": "k", "m": "n", "n": "m", "o": "p", "p": "o", "q": "w", "r": "t", "s": "d", "t": "y"},
    **{"u": "i", "v": "c", "w": "e", "x": "z", "y": "u", "z": "x"},
}


def disturbed(text: str, *, rng: np.random.Generator) -> str:
    """Leave most texts as they are; give some typos, dropped words or another case."""
    chance = rng.random()
    if chance < 0.80:
        return text
    if chance < 0.89:
        return with_typos(text, int(rng.integers(1, 5)), rng=rng)
    if chance < 0.95:
        return without_words(text, 0.08, rng=rng)
    return lower_words(text)


def with_typos(text: str, count: int, *, rng: np.random.Generator) -> str:
    """Swap, drop, double or replace ``count`` lowercase letters; capitals, digits and spaces stay."""
    letters = list(text)
    for _ in range(count):
        places = [i for i, sign in enumerate(letters[:-1]) if sign.islower()]
        if not places:
            break
        place = places[int(rng.integers(len(places)))]
        kind = int(rng.integers(4))
        if kind == 0 and letters[place + 1].islower():
            letters[place], letters[place + 1] = letters[place + 1], letters[place]
        elif kind == 1:
            del letters[place]
        elif kind == 2:
            letters.insert(place, letters[place])
        else:
            letters[place] = NEIGHBOURS.get(letters[place], letters[place])
    return "".join(letters)


def without_words(text: str, share: float, *, rng: np.random.Generator) -> str:
    """Drop about ``share`` of the lowercase words; words with a capital, a digit or a line end stay."""
    words = text.split(" ")
    kept = [word for word in words if not word.isalpha() or not word.islower() or rng.random() >= share]
    return " ".join(kept)


def lower_words(text: str) -> str:
    """Write words in lower case; letters that stand alone (options, T and F) stay."""
    return " ".join(word if len(word.strip(".,:)(\n")) == 1 else word.lower() for word in text.split(" "))
