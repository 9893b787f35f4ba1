"""Four fixed kinds of scene, and how an annotated picture of each is drawn: which sets, which labels count.

A stratum is what results are told apart by, so its definition must not drift: the sets it draws from, the
words its things are called and what counts as visible stand here and nowhere else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from vlmlab.core.errors import ConfigError, GenerationError, SourceAwayError
from vlmlab.core.scenes.asked_labels import LABELS, AskedLabel, label_of
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.driving import KIND_OF_CONCEPT, LIGHT_COLOURS
from vlmlab.core.scenes.scene import Annotation, GeneratedScene, SceneSource
from vlmlab.core.seeding import derive_seed, pick, rng_for

Box = tuple[float, float, float, float]

MAX_CONCEPTS = 3
TRIES = 12
LEAST_VISIBLE_FRACTION = 0.7
"""Truth of which less can be seen is not asked for."""

LEAST_PICTURE_SHARE = 0.0005
"""Smallest share of the picture that a thing that is asked for covers: 75 pixels at 448x336."""

LEAST_SIDE_PIXELS = 6.0
LEAST_ANNOTATED_PIXELS = 16
"""A thing that shows less is not annotated at all."""

JUNCTION_CONCEPTS = ("intersection_ego", *LIGHT_COLOURS)


@dataclass(frozen=True)
class Stratum:
    """One kind of scene.

    Attributes:
        id: its name in files and addresses.
        title, description: for people.
        domain: slug of the built-in domain it is drawn in.
        has: whether a valid set of the domain belongs to it.
    """

    id: str
    title: str
    description: str
    domain: str
    has: Callable[[Domain, Key], bool]


def _is_junction(_domain: Domain, key: Key) -> bool:
    return any(one in JUNCTION_CONCEPTS for one in key)


def _is_on_floor(domain: Domain, key: Key) -> bool:
    """Return whether something of the set stands or lies on the floor, people included."""
    return any("floor" in domain.concept(one).placement for one in key)


STRATA: Mapping[str, Stratum] = {
    one.id: one
    for one in (
        Stratum(
            "street",
            "Street",
            "Driving along a street, without junction or traffic light ahead.",
            "driving",
            lambda domain, key: not _is_junction(domain, key),
        ),
        Stratum(
            "junction",
            "Junction",
            "Driving towards a junction or a traffic light.",
            "driving",
            _is_junction,
        ),
        Stratum(
            "kitchen_counter",
            "Kitchen counter",
            "A kitchen where all that matters is on the counter, the stove, the sink or the wall.",
            "indoor",
            lambda domain, key: not _is_on_floor(domain, key),
        ),
        Stratum(
            "kitchen_floor",
            "Kitchen floor",
            "A kitchen where something matters on the floor, people included.",
            "indoor",
            _is_on_floor,
        ),
    )
}


@dataclass(frozen=True)
class TruthBox:
    """One annotated thing.

    Attributes:
        label: what it is called, in English, singular.
        kind, concept: of the scene object.
        is_asked: whether "locate the LABEL" has exactly this answer in the picture.
        box: tight box of what can be seen: x_min, y_min, x_max, y_max in pixels.
        amodal_box: of the whole thing, cut at the frame.
        visible_pixels, visible_fraction: as in ``Annotation``.
        mask: compressed COCO run-length string of the visible pixels, "" where unknown.
    """

    label: str
    kind: str
    concept: str
    is_asked: bool
    box: Box
    amodal_box: Box
    visible_pixels: int
    visible_fraction: float
    mask: str = ""


@dataclass(frozen=True)
class AnnotatedScene:
    """One picture of a stratum with its truth; ``index`` counts the pictures of the stratum from 0."""

    stratum: str
    index: int
    scene: GeneratedScene
    truth: tuple[TruthBox, ...]

    @property
    def asked(self) -> tuple[str, ...]:
        """The labels that may be asked for, sorted."""
        return tuple(sorted({one.label for one in self.truth if one.is_asked}))


def find_stratum(name: str) -> Stratum:
    """Return a stratum by its id.

    Raises:
        ConfigError: there is none of this name.
    """
    stratum = STRATA.get(name)
    if stratum is None:
        raise ConfigError(
            f"There is no kind of scene “{name}”.", hint=f"Known: {', '.join(STRATA)}.", field="strata"
        )
    return stratum


def pick_set(stratum: Stratum, domain: Domain, *, seed: int, index: int, tried: int = 0) -> Key:
    """Draw the concept set of a picture: first what is asked for, evenly, then its company.

    Args:
        stratum: which sets are wanted.
        domain: its domain.
        seed: of the dataset.
        index: number of the picture within the stratum.
        tried: how many sets of this picture could not be drawn.

    Returns:
        A valid canonical set of 1 to ``MAX_CONCEPTS`` concepts of the stratum.
    """
    table = _sets_by_thing(stratum.id, domain)
    rng = rng_for(seed, "dataset set", stratum.id, index, tried)
    things = list(table)
    by_size = table[pick(rng, things)]
    sizes = sorted(by_size)
    keys = by_size[pick(rng, sizes)]
    return pick(rng, keys)


def draw_annotated(
    stratum: Stratum, domain: Domain, source: SceneSource, *, seed: int, index: int, size: tuple[int, int]
) -> AnnotatedScene:
    """Draw one annotated picture that shows at least one thing that can be asked for.

    The result depends on (stratum, domain, source, seed, index, size) only.

    Args:
        stratum: which kind of scene.
        domain: its domain.
        source: what draws; it must know where things are.
        seed: of the dataset.
        index: number of the picture within the stratum.
        size: width and height of the pictures in pixels.

    Raises:
        SourceAwayError: no scene at all can be made now.
        GenerationError: ``TRIES`` sets in a row could not be drawn or show nothing to ask for.
    """
    reason = ""
    for tried in range(TRIES):
        key = pick_set(stratum, domain, seed=seed, index=index, tried=tried)
        scene_seed = derive_seed(seed, "dataset scene", stratum.id, index, tried)
        try:
            scene = source.generate(key, seed=scene_seed)
        except SourceAwayError:
            raise
        except GenerationError as error:
            reason = error.message
            continue
        drawn = AnnotatedScene(stratum.id, index, scene, truth_of(scene, domain, size=size))
        if drawn.asked:
            return drawn
        reason = f"Nothing in the scene of {', '.join(key)} can be asked for."
    raise GenerationError(
        f"{TRIES} sets in a row made no picture for {stratum.title.lower()}. The last reason: {reason}",
        hint="Choose another seed, or leave this kind of scene out.",
    )


def truth_of(scene: GeneratedScene, domain: Domain, *, size: tuple[int, int]) -> tuple[TruthBox, ...]:
    """Return what is annotated of a scene: the required things that can be seen, in scene order.

    A label is asked for when the thing is whole enough and large enough, and nothing else in the picture,
    distractors included, could be meant by it.
    """
    variants = {one.id: one.parameters for one in scene.description.objects}
    named = [(one, label_of(one.kind, variants.get(one.object_id, {}))) for one in scene.annotations]
    kinds = [one.kind for one in scene.annotations]
    labels = [name.text for _, name in named if name is not None]
    truth = []
    for one, name in named:
        box = one.visible_box
        if not one.is_required or box is None or one.visible_pixels < LEAST_ANNOTATED_PIXELS:
            continue
        text = name.text if name is not None else words_of(one, domain)
        is_alone = name is not None and labels.count(text) == 1 and not _is_mistakable(name, one, kinds)
        truth.append(
            TruthBox(
                label=text,
                kind=one.kind,
                concept=one.concept,
                is_asked=is_alone and _is_plain(one, box, size),
                box=box,
                amodal_box=one.amodal_box,
                visible_pixels=one.visible_pixels,
                visible_fraction=round(one.visible_fraction, 6),
                mask=scene.masks.get(one.object_id, ""),
            )
        )
    return tuple(truth)


def words_of(annotation: Annotation, domain: Domain) -> str:
    """Return what a thing without a fixed label is called: the label of its concept, or its kind in words."""
    if annotation.concept in domain.index:
        return domain.concept(annotation.concept).label.lower()
    return annotation.kind.replace("_", " ")


def _is_mistakable(name: AskedLabel, one: Annotation, kinds: list[str]) -> bool:
    others = list(kinds)
    others.remove(one.kind)
    return any(kind in name.mistaken_for for kind in others)


def _is_plain(one: Annotation, box: Box, size: tuple[int, int]) -> bool:
    width, height = box[2] - box[0], box[3] - box[1]
    return (
        one.visible_fraction >= LEAST_VISIBLE_FRACTION
        and one.visible_pixels >= LEAST_PICTURE_SHARE * size[0] * size[1]
        and min(width, height) >= LEAST_SIDE_PIXELS
    )


@lru_cache(maxsize=8)
def _sets_by_thing(stratum_id: str, domain: Domain) -> dict[str, dict[int, list[Key]]]:
    """Return the sets of a stratum: what can be asked for -> number of concepts -> sets that have it."""
    stratum = STRATA[stratum_id]
    found: dict[str, dict[int, list[Key]]] = {}
    for mask in domain.universe(MAX_CONCEPTS):
        key = domain.key_of(int(mask))
        if not stratum.has(domain, key):
            continue
        for one in key:
            if is_askable(domain, one):
                found.setdefault(one, {}).setdefault(len(key), []).append(key)
    if not found:
        raise GenerationError(
            f"The domain {domain.title} has no set of concepts for {stratum.title.lower()}.",
            hint="Leave this kind of scene out.",
        )
    return {one: found[one] for one in sorted(found)}


def is_askable(domain: Domain, concept_id: str) -> bool:
    """Return whether a concept puts a thing into the scene that has a label."""
    return domain.concept(concept_id).is_thing and KIND_OF_CONCEPT.get(concept_id, concept_id) in LABELS
