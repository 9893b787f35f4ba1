"""Turns a kitchen concept set into a scene description: slots, poses, light and camera."""

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.indoor_bodies import DISTRACTOR_KINDS
from vlmlab.core.scenes.indoor_light import kitchen_light
from vlmlab.core.scenes.indoor_places import Placed, put
from vlmlab.core.scenes.indoor_search import KitchenLayout, add_distractors, find_kitchen_layout
from vlmlab.core.scenes.kitchen_frame import COUNTER_DEPTH, SINK_X
from vlmlab.core.scenes.scene import Parameter, SceneDescription, SceneObject
from vlmlab.core.seeding import derive_seed, rng_for

CABINETS = ("cabinet_open", "cabinet_closed")


def sample_indoor(key: Key, *, seed: int, attempt: int = 0, domain: Domain | None = None) -> SceneDescription:
    """Draw a kitchen scene of a concept set.

    What the concepts do not fix is drawn from generators of its own: positions from ``(seed, "layout",
    concept, attempt)``, looks from ``(seed, "appearance", concept)``, the room, its light and what else
    stands on the counter from the seed alone. So another thing recolours nothing, and a new attempt changes
    positions and camera only.

    Objects have the parameter ``appearance_seed``. The world has ``room_seed`` and ``has_microwave``. Where
    the set does not speak of the cabinet under the sink, a closed one is drawn that is no concept.

    Args:
        key: canonical ids.
        seed: the scene seed.
        attempt: number of layouts of this seed that were rejected before.
        domain: a domain that ``draws_as`` indoor; the built-in one by default.

    Raises:
        ConceptError: the set is not valid in the domain.
        GenerationError: its things do not fit into one kitchen.
    """
    domain = domain or load_domain("indoor")
    reason = domain.why_invalid(key)
    if reason is not None:
        raise ConceptError(reason, field="concepts")
    kinds = [entity.concept_id for entity in domain.entities(key)]
    layout = find_kitchen_layout(kinds, seed=seed, attempt=attempt)
    return SceneDescription(
        domain="indoor",
        concepts=key,
        seed=seed,
        attempt=attempt,
        camera=layout.camera,
        environment=kitchen_light(kinds, seed=seed),
        world={
            "room_seed": _appearance_seed(seed, "room"),
            "has_microwave": "microwave_open_hot" in kinds,
        },
        objects=(*(_object(layout.placed[kind], seed, kind) for kind in kinds), *_others(layout, seed)),
    )


def _others(layout: KitchenLayout, seed: int) -> list[SceneObject]:
    """Return what no concept asks for: a closed cabinet and one or two things on the counter."""
    others = []
    if not layout.placed.keys() & set(CABINETS):
        others.append(put("cabinet_closed", (SINK_X, -COUNTER_DEPTH, 0.0), 0.0))
    rng = rng_for(seed, "surroundings")
    chosen = [str(kind) for kind in rng.permutation(DISTRACTOR_KINDS)[: int(rng.integers(1, 3))]]
    others += add_distractors(layout, chosen, seed=seed).values()
    return [_object(item, seed, "") for item in others]


def _object(item: Placed, seed: int, concept: str) -> SceneObject:
    parameters: dict[str, Parameter] = {"appearance_seed": _appearance_seed(seed, item.kind)}
    return SceneObject(
        id=item.kind,
        kind=item.kind,
        position=item.position,
        yaw=item.yaw,
        parameters=parameters,
        concept=concept,
        is_required=bool(concept),
    )


def _appearance_seed(seed: int, kind: str) -> int:
    return derive_seed(seed, "appearance", kind, 0) % 2**32
