"""The driving question in many wordings, so that the pocket VLM reads its prompt instead of guessing it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from tools.pocket.truth import ACTIONS, SceneTruth, truth_of
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.questions import ask_question

LETTERS = "ABC"
ORDERS = tuple(permutations(ACTIONS))
REAL_PROMPT_SHARE = 0.6
REASON_SHARE = 0.12
REASONS = {
    "R2_red_light": "The light is red.",
    "R4_green_light": "The light is green and the lane is free.",
    "R5_junction": "A junction comes up and no green light clears it.",
    "R6_adverse_weather": "Heavy rain or fog hides the road.",
    "R7_default": "The lane is free.",
}
STEMS = (
    "You are driving the car whose camera took this picture. What should it do now?",
    "What should the driver do now?",
    "Choose the safest action for the ego vehicle.",
    "Look at the road ahead. Which action is right?",
    "Driving decision?",
    "Is it safe to go on? Pick one option.",
    "The car moves at 24 km/h. What must it do next?",
    "You see the view through the windscreen. Decide what the vehicle does.",
    "Which of these would a careful driver choose?",
    "Plan the next action of the car.",
)
SPEECH = {
    "emergency_stop": (
        "emergency stop",
        "make an emergency stop",
        "brake hard and stop",
        "stop at once",
        "full stop",
    ),
    "slow_down": ("slow down", "reduce speed", "brake gently", "go slower", "drive slower and be ready"),
    "continue": ("continue", "keep going", "drive on", "continue at this speed", "go on normally"),
}
LAYOUTS = (
    "\n{letter}) {text}",
    "\n{letter}. {text}",
    "\n({letter}) {text}",
    " {letter}) {text}",
    " {letter}: {text},",
)
ENDINGS = (
    "\nAnswer with one letter.",
    "\nAnswer with the letter only.",
    " Reply with a letter.",
    "\nAnswer A, B or C.",
    "",
)
NEIGHBOURS = {
    **{"a": "s", "b": "v", "c": "x", "d": "f", "e": "r", "f": "g", "g": "h", "h": "j", "i": "o", "j": "k"},
    **{"k": "l", "l": "k", "m": "n", "n": "m", "o": "p", "p": "o", "q": "w", "r": "t", "s": "d", "t": "y"},
    **{"u": "i", "v": "c", "w": "e", "x": "z", "y": "u", "z": "x"},
}


@dataclass(frozen=True)
class Dialogue:
    """One prompt with the answer that is taught for it."""

    prompt: str
    answer: str
    letter: str


def draw_dialogue(domain: Domain, truth: SceneTruth, *, rng: np.random.Generator) -> Dialogue:
    """Ask about a scene: mostly the project's own question, else another wording; letters are shuffled."""
    chance = rng.random()
    if chance < REAL_PROMPT_SHARE:
        wants_reason = chance < REASON_SHARE
        question = ask_question(domain, truth.key, seed=int(rng.integers(2**31)), ask_reason=wants_reason)
        letter = question.expected_letter
        answer = f"{letter}\n{reason_sentence(domain, truth)}" if wants_reason else letter
        return Dialogue(disturbed(question.prompt, rng=rng), answer, letter)
    order = ORDERS[int(rng.integers(len(ORDERS)))]
    letter = LETTERS[order.index(truth.action)]
    return Dialogue(disturbed(_other_wording(order, rng=rng), rng=rng), letter, letter)


def reason_sentence(domain: Domain, truth: SceneTruth) -> str:
    """Return the sentence that is taught as the reason: what in this scene decides, named where it can be."""
    wanted = {"R1_obstacle_near": "close", "R3_obstacle_far": "far"}.get(truth.rule_id)
    if wanted is None:
        return REASONS[truth.rule_id]
    name = next(domain.concept(thing.concept).label for thing in truth.things if thing.state == wanted)
    place = "close ahead" if wanted == "close" else "further ahead"
    return f"{name} in the lane, {place}."


def _other_wording(order: Sequence[str], *, rng: np.random.Generator) -> str:
    layout = LAYOUTS[int(rng.integers(len(LAYOUTS)))]
    has_capital = rng.random() < 0.4
    plain = rng.random() < 0.5
    options = []
    for letter, action in zip(LETTERS, order, strict=True):
        speech = SPEECH[action][0 if plain else int(rng.integers(len(SPEECH[action])))]
        text = speech[:1].upper() + speech[1:] if has_capital else speech
        options.append(layout.format(letter=letter, text=text))
    stem = STEMS[int(rng.integers(len(STEMS)))]
    return stem + "".join(options) + ENDINGS[int(rng.integers(len(ENDINGS)))]


def disturbed(text: str, *, rng: np.random.Generator) -> str:
    """Leave most texts as they are; give some typos, dropped words or another case."""
    chance = rng.random()
    if chance < 0.82:
        return text
    if chance < 0.90:
        return with_typos(text, int(rng.integers(1, 4)), rng=rng)
    if chance < 0.95:
        return without_words(text, 0.08, rng=rng)
    return _lower_words(text)


def with_typos(text: str, count: int, *, rng: np.random.Generator) -> str:
    """Swap, drop, double or replace ``count`` lowercase letters; option letters and spaces stay."""
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
    """Drop about ``share`` of the lowercase words (option letters stay)."""
    words = text.split(" ")
    kept = [word for word in words if not word.islower() or "\n" in word or rng.random() >= share]
    return " ".join(kept)


def _lower_words(text: str) -> str:
    return "".join(sign if sign in LETTERS else sign.lower() for sign in text)


def prompt_corpus(domain: Domain, keys: Sequence[tuple[str, ...]], *, rng: np.random.Generator) -> list[str]:
    """Return one real prompt and one other wording for each key: what the tokenizer learns from."""
    texts = []
    for key in keys:
        texts.append(ask_question(domain, key, seed=int(rng.integers(2**31))).prompt)
        texts.append(_other_wording(ORDERS[int(rng.integers(len(ORDERS)))], rng=rng))
        texts.append(ask_question(domain, key, seed=int(rng.integers(2**31)), ask_reason=True).prompt)
        texts.append(reason_sentence(domain, truth_of(domain, key)))
    return texts
