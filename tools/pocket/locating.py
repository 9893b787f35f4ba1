"""Prompts that ask where things are, and the answers that are taught for them."""

import json
from collections.abc import Sequence

import numpy as np

from tools.pocket.shards import Box, PictureRecord, SeenObject
from vlmlab.core.scenes.asked_labels import LABELS, VARIANTS
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.driving import KIND_OF_CONCEPT
from vlmlab.core.seeding import pick
from vlmlab.core.suts.asking import AskingParams, localization_prompt

OWN_STYLE = "json_0_1000"
OWN_PROMPT_SHARE = 0.6
ABSENT_SHARE = 0.06
MOST_ASKED = 3
STEP = 10
"""Coordinates are written in steps of this many thousandths of the picture."""

WORDINGS = (
    "Locate {targets}. Reply with a JSON list of bbox_2d and label.",
    "Where is {targets}? Give the bounding box as JSON.",
    "Find {targets} and write the boxes as JSON.",
    "Detect {targets}. Output JSON with bbox_2d [x1, y1, x2, y2] from 0 to 1000.",
    "Please locate {targets} in this image.",
    "Draw a box around {targets}: answer with JSON only.",
    "Give the bounding box of {targets}.",
    "Output the position of {targets} in JSON format.",
    "{targets}: bounding box?",
    "Show me where {targets} can be seen.",
)
SYNONYMS: dict[str, tuple[str, ...]] = {
    "pedestrian": ("person on foot", "walking person"),
    "child": ("kid", "small child"),
    "person in a wheelchair": ("wheelchair user", "wheelchair"),
    "police officer": ("policeman", "police man"),
    "cyclist": ("person on a bicycle", "bicycle rider", "bike"),
    "ambulance": ("emergency ambulance",),
    "police car": ("police vehicle",),
    "traffic cone": ("cone", "road cone"),
    "bus stop": ("bus shelter",),
    "garbage bin": ("trash can", "waste bin", "dustbin"),
    "heap of debris": ("debris", "rubble"),
    "shipping container": ("container", "freight container"),
    "chain barrier": ("barrier", "chain fence"),
    "drinking glass": ("glass", "water glass"),
    "broken glass": ("glass shards", "shards of glass"),
    "puddle": ("puddle of water", "pool of water"),
    "knife": ("kitchen knife",),
    "knife block": ("block of knives",),
    "pair of scissors": ("scissors",),
    "open cabinet": ("open cupboard",),
    "kitchen towel": ("towel", "dish towel"),
    "power outlet": ("wall socket", "socket", "outlet"),
    "extension cord": ("cord", "power cord", "cable"),
    "microwave oven": ("microwave",),
    "frying pan": ("pan", "skillet"),
    "cup": ("mug", "coffee cup"),
    "toddler": ("baby", "small toddler"),
    "adult": ("grown-up", "adult person"),
    "person": ("human",),
}
SYNONYM_SHARE = 0.15


def labels_of_domain(slug: str) -> dict[str, frozenset[str]]:
    """Return label -> kinds that one could call so, for the things of a domain."""
    kinds = {KIND_OF_CONCEPT.get(one.id, one.id) for one in load_domain(slug).concepts if one.is_thing}
    meant: dict[str, set[str]] = {}
    for kind in sorted(kinds & LABELS.keys()):
        texts = [text for (own, _), text in VARIANTS.items() if own == kind] or [LABELS[kind].text]
        for text in texts:
            meant.setdefault(text, set()).update({kind}, LABELS[kind].mistaken_for)
    return {label: frozenset(kinds) for label, kinds in meant.items()}


def absent_labels(record: PictureRecord) -> list[str]:
    """Return labels of the picture's domain that nothing in it could be called."""
    seen = {one.kind for one in record.objects}
    named = {one.label for one in record.objects}
    return [
        label
        for label, kinds in labels_of_domain(record.domain).items()
        if kinds.isdisjoint(seen) and label not in named
    ]


def joined(labels: Sequence[str]) -> str:
    """Return labels as a prompt names them: "the cyclist, the cone and the bus stop"."""
    named = [f"the {label}" for label in labels]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def own_prompt(labels: Sequence[str]) -> str:
    """Return the prompt that the project sends to the shipped model."""
    return localization_prompt(AskingParams(prompt_style=OWN_STYLE), joined(labels))


def coordinate(value: float) -> int:
    """Return a fraction of the picture as it is written: thousandths, in steps of ``STEP``."""
    return min(1000, max(0, round(value * 1000 / STEP) * STEP))


def box_answer(objects: Sequence[SeenObject]) -> str:
    """Return the JSON text for some objects, in the order in which they were asked for."""
    rows = [{"bbox_2d": [coordinate(v) for v in one.box], "label": one.label} for one in objects]
    return json.dumps(rows)


Places = tuple[tuple[str, Box], ...]


def draw_location(
    record: PictureRecord, objects: Sequence[SeenObject], *, rng: np.random.Generator
) -> tuple[str, str, Places] | None:
    """Return a prompt, its answer, and the words of what is there with their boxes.

    None where nothing of the picture may be asked for.

    Args:
        record: the picture; it decides what is absent.
        objects: its objects, moved, perhaps.
        rng: the source of all choices.
    """
    asked = [one for one in objects if one.is_asked]
    order = [asked[int(n)] for n in rng.permutation(len(asked))]
    chosen = order[: int(rng.choice([1, 2, 3], p=[0.5, 0.3, 0.2]))]
    wanted: list[tuple[str, SeenObject | None]] = [(one.label, one) for one in chosen]
    if not wanted or rng.random() < ABSENT_SHARE:
        absent = absent_labels(record) if record.domain != "probe" else []
        if not absent:
            return None if not wanted else _asked(wanted, rng=rng)
        if len(wanted) < MOST_ASKED and rng.random() < 0.3:
            wanted.insert(int(rng.integers(len(wanted) + 1)), (pick(rng, absent), None))
        else:
            wanted = [(pick(rng, absent), None)]
    return _asked(wanted, rng=rng)


def _asked(
    wanted: Sequence[tuple[str, SeenObject | None]], *, rng: np.random.Generator
) -> tuple[str, str, Places]:
    spoken = [
        pick(rng, SYNONYMS[label]) if label in SYNONYMS and rng.random() < SYNONYM_SHARE else label
        for label, _ in wanted
    ]
    if rng.random() < OWN_PROMPT_SHARE:
        prompt = own_prompt(spoken)
    elif rng.random() < 0.3:
        prompt = localization_prompt(AskingParams(prompt_style="json_xyxy"), joined(spoken))
    else:
        prompt = pick(rng, WORDINGS).format(targets=joined(spoken))
    places = [(words, one.box) for words, (_, one) in zip(spoken, wanted, strict=True) if one is not None]
    return prompt, box_answer([one for _, one in wanted if one is not None]), tuple(places)
