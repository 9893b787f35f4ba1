"""Prompts for image-generating models: the domain's frame, the set's own words, and a neutral background."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.concepts import Chip, Concept, Domain, Key
from vlmlab.core.seeding import pick, rng_for

PROMPT_VERSION = "1"
_MOST_RULED_OUT = 4
_MOST_IN_A_CHOICE = 3

FRAMES: Mapping[str, str] = {
    "driving": (
        "The view straight ahead through the windscreen of a car that drives along its lane, from the eye "
        "height of the driver; the road takes up the lower half."
    ),
    "indoor": "A kitchen at home, seen by an adult who stands in it, with the counter and the floor in view.",
}
"""Sentence of a built-in domain's pictures, by ``Domain.draws_as``."""

SHORT_FRAMES: Mapping[str, str] = {
    "driving": "Photograph through the windscreen of a car on its lane",
    "indoor": "Photograph of a kitchen at home",
}
"""The same for models that read few words."""

BACKGROUNDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "driving": {
        "house fronts": (
            "white house fronts",
            "brick house fronts",
            "yellow house fronts",
            "grey house fronts",
        ),
        "roofs": ("red tiled roofs", "dark slate roofs", "brown roofs"),
        "green": ("clipped hedges", "young street trees", "tall plane trees", "lawns"),
        "pavement": ("pale paving slabs", "grey asphalt pavements", "cobbled pavements"),
        "time": ("in the morning", "around noon", "in the afternoon"),
    },
    "indoor": {
        "counter": ("a marble counter", "a wooden counter", "a grey stone counter", "a white counter"),
        "cabinets": ("white cabinets", "blue cabinets", "oak cabinets", "green cabinets", "grey cabinets"),
        "floor": ("a tiled floor", "a wooden floor", "a pale stone floor"),
        "wall": ("cream walls", "white wall tiles", "pale green walls"),
        "time": ("morning light", "noon light", "evening light"),
    },
    "": {
        "light": ("soft daylight", "bright daylight", "warm lamp light", "cool lamp light"),
        "surfaces": ("concrete surfaces", "wooden surfaces", "painted metal surfaces", "plastered walls"),
        "colours": ("muted colours", "warm colours", "cool colours", "pale colours"),
    },
}
"""Neutral words of a frame, of each row one; none names a concept, a hazard or a person."""

TIME_OF_DAY = frozenset({"time", "light"})
"""Rows that are left out where the set itself says how the light is."""


@dataclass(frozen=True)
class PicturePrompt:
    """What a picture is to show.

    Attributes:
        text: sentences that only say what is there.
        avoid: what is not to be there, without a negating word.
        background: the neutral words in ``text``.
        short: the set and little else, for models that read few words; "" where there is none.
    """

    text: str
    avoid: tuple[str, ...] = ()
    background: tuple[str, ...] = ()
    short: str = ""

    @property
    def whole(self) -> str:
        """The text for models without a negative prompt: what to leave out stands in its last sentence."""
        return f"{self.text} Leave out: {'; '.join(self.avoid)}." if self.avoid else self.text


def picture_prompt(
    domain: Domain,
    key: Key,
    *,
    seed: int,
    attempt: int = 0,
    style: str = "",
    avoid: str = "",
    max_words: int = 200,
    max_characters: int | None = None,
) -> PicturePrompt:
    """Return the prompt of a canonical set; the seed and the attempt choose its background words.

    When it is too long, background words go first, then the style, then the words of what to leave out;
    the frame and the concepts stay.

    Args:
        domain: of the set.
        key: the set.
        seed: of the scene.
        attempt: pictures that were asked for before this one.
        style: first sentence, "" for none.
        avoid: what every picture leaves out, with commas between.
        max_words: of everything together.
        max_characters: of everything together; None for no limit.

    Raises:
        GenerationError: the concepts' words alone are too long.
    """
    background = background_words(domain, key, seed=seed, attempt=attempt)
    left_out = (*(part.strip() for part in avoid.split(",") if part.strip()), *ruled_out(domain, key))
    core, short = f"{frame_of(domain)} {_shown(domain, key)}", _short(domain, key)
    for kept_style, kept_avoid, kept_background in (
        (style, left_out, background),
        (style, left_out, ()),
        ("", left_out, ()),
        ("", (), ()),
    ):
        sentences = [kept_style, core, f"Around it: {', '.join(kept_background)}." if kept_background else ""]
        text = " ".join(part for part in sentences if part)
        prompt = PicturePrompt(text, kept_avoid, kept_background, short)
        is_short = max_characters is None or len(prompt.whole) <= max_characters
        if is_short and len(prompt.whole.split()) <= max_words:
            return prompt
    raise GenerationError(
        f"The words for {', '.join(key)} are too long for this picture source.",
        hint="Use fewer concepts at once, shorten their snippets, or raise the most words of a prompt.",
    )


def frame_of(domain: Domain) -> str:
    """Return the sentence that says from where a domain's scenes are seen."""
    return FRAMES.get(domain.draws_as) or f"One realistic scene of the kind: {domain.title}."


def background_words(domain: Domain, key: Key, *, seed: int, attempt: int = 0) -> tuple[str, ...]:
    """Return one neutral word of each row of the domain's table, drawn by the seed and the attempt."""
    rng = rng_for(seed, "image_api", "background", attempt)
    says_light = any(_is_weather(domain.concept(one)) for one in key)
    drawn = [
        (name, pick(rng, words)) for name, words in _backgrounds(domain).items()
    ]  # every row is drawn, so that a concept more changes no other word
    return tuple(word for name, word in drawn if not (says_light and name in TIME_OF_DAY))


def ruled_out(domain: Domain, key: Key) -> tuple[str, ...]:
    """Return the words of things that a set says are not there: counterparts that exclude its concepts.

    Counterparts stand in a choice of few (``at_most_one``) or on the other side of an ``excludes`` row;
    places, distances and weather have no counterpart that a model might add.
    """
    chosen, found = set(key), []
    for constraint in domain.constraints:
        if constraint.type == "at_most_one" and len(constraint.ids) <= _MOST_IN_A_CHOICE:
            sides = [(constraint.ids, constraint.ids)]
        elif constraint.type == "excludes":
            sides = [(constraint.ids, constraint.other_ids), (constraint.other_ids, constraint.ids)]
        else:
            continue
        for mine, others in sides:
            if chosen & set(mine) and len(others) <= _MOST_IN_A_CHOICE:
                found += [one for one in others if one not in chosen]
    names = [one for one in dict.fromkeys(found) if _is_shown_thing(domain.concept(one))]
    return tuple(_words_of(domain.concept(one)) for one in names[:_MOST_RULED_OUT])


def _shown(domain: Domain, key: Key) -> str:
    """Return the sentence that lists what must be seen, places and distances beside what they change."""
    chips = domain.groups_for_display(key)
    things = [_chip_words(chip) for chip in chips if _is_shown_thing(chip.concept)]
    weather = [_words_of(chip.concept) for chip in chips if _is_weather(chip.concept)]
    places = [
        _chip_words(chip)
        for chip in chips
        if not _is_shown_thing(chip.concept) and not _is_weather(chip.concept)
    ]
    sentences = [f"The place: {', '.join(places)}."] if places else []
    if things:
        sentences.append(f"It clearly shows {_numbered(things)}.")
    if weather:
        sentences.append(f"The weather and the light: {', '.join(weather)}.")
    if len(things) > 1:
        sentences.append("Each of them can be seen whole and recognised.")
    return " ".join(sentences)


def _short(domain: Domain, key: Key) -> str:
    """Return the set in as few words as it takes, places and distances beside what they change."""
    frame = SHORT_FRAMES.get(domain.draws_as) or f"Photograph, {domain.title}"
    return f"{frame}: {'; '.join(_chip_words(chip) for chip in domain.groups_for_display(key))}."


def _chip_words(chip: Chip) -> str:
    return ", ".join([_words_of(chip.concept), *(_words_of(modifier) for modifier in chip.modifiers)])


def _words_of(concept: Concept) -> str:
    return (concept.snippet or concept.label).strip().rstrip(".")


def _numbered(things: Sequence[str]) -> str:
    if len(things) == 1:
        return things[0]
    return "; ".join(f"({number}) {words}" for number, words in enumerate(things, 1))


def _is_shown_thing(concept: Concept) -> bool:
    """Whether a concept is something that a model adds or leaves out; a place is not."""
    return concept.is_thing or concept.kind == "signal"


def _is_weather(concept: Concept) -> bool:
    """Whether a concept says how the weather or the light is; a modifier that changes no entity does."""
    return concept.kind == "modifier" and not concept.joins_entity


def _backgrounds(domain: Domain) -> Mapping[str, tuple[str, ...]]:
    return BACKGROUNDS.get(domain.draws_as, BACKGROUNDS[""])
