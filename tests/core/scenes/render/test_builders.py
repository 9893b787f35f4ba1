"""Every kind that the sampler can ask for has a builder, with the extent that the layout counts on."""

import numpy as np
import pytest

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.blind import showcase_sets
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.layout import EXTENTS
from vlmlab.core.scenes.render.builders import BUILDERS
from vlmlab.core.scenes.render.embedded import WORLDS, build_object
from vlmlab.core.scenes.render.packs import load_pack
from vlmlab.core.scenes.render.presence import THRESHOLDS
from vlmlab.core.scenes.samplers import SAMPLERS
from vlmlab.core.scenes.scene import SceneObject

SEEDS = range(6)


def kinds_of(objects, *, required):
    return {item.kind for item in objects if item.is_required or not required}


def sampled_kinds(*, required=False):
    domain = load_domain("driving")
    found = set()
    for key in showcase_sets(domain):
        for seed in range(3):
            found |= kinds_of(sample_driving(key, seed=seed).objects, required=required)
    return found


def test_every_kind_of_the_sampler_has_a_builder():
    assert sampled_kinds() - set(BUILDERS) == set()


def test_every_required_kind_has_a_presence_threshold_of_its_own():
    things = {concept.id for concept in load_domain("indoor").concepts if concept.is_thing}

    assert sampled_kinds(required=True) | things == set(THRESHOLDS)


def test_every_domain_with_a_sampler_has_a_world():
    assert set(WORLDS) == set(SAMPLERS)


@pytest.mark.parametrize("extent_key", sorted(EXTENTS))
def test_builder_stays_inside_the_extent_of_the_layout(extent_key):
    kind = {"police_car": "emergency_vehicle"}.get(extent_key, extent_key)
    variant = {"police_car": "police_car", "emergency_vehicle": "ambulance"}.get(extent_key)
    extent = EXTENTS[extent_key]
    for seed in SEEDS:
        parameters = {"appearance_seed": seed, **({"variant": variant} if variant else {})}
        mesh = build_object(SceneObject("one", kind, (0, 0, 0), 0.0, parameters))

        low, high = mesh.bounds
        slack = 0.14
        assert low[0] >= extent.x_min - slack
        assert high[0] <= extent.x_max + slack
        assert low[1] >= extent.y_min - slack
        assert high[1] <= extent.y_max + slack
        assert high[2] <= extent.height + 0.6  # the bus sign stands on a taller pole
        assert low[2] >= -0.15


@pytest.mark.parametrize("kind", sorted(BUILDERS))
def test_builder_is_a_function_of_the_appearance_seed(kind):
    parameters = {"appearance_seed": 11, "colour": "red", "variant": "ambulance"}
    item = SceneObject("one", kind, (1, 9, 0), 0.2, parameters)

    first, again = build_object(item), build_object(item)

    np.testing.assert_array_equal(first.corners, again.corners)
    assert [m.albedo for m in first.materials] == [m.albedo for m in again.materials]
    assert np.isfinite(first.corners).all()
    assert np.isfinite(first.normals).all()


def test_a_container_can_be_smaller():
    def size(scale):
        item = SceneObject("one", "container", (0, 0, 0), 0.0, {"appearance_seed": 3, "scale": scale})
        low, high = build_object(item).bounds
        return high - low

    np.testing.assert_allclose(size(0.5), size(1.0) / 2, rtol=1e-3)


def test_the_two_emergency_vehicles_differ():
    def size(variant):
        item = SceneObject("one", "emergency_vehicle", (0, 0, 0), 0.0, {"variant": variant})
        low, high = build_object(item).bounds
        return high - low

    assert size("ambulance")[2] > size("police_car")[2] + 0.5


@pytest.mark.parametrize(("lit", "channel"), [("red", 0), ("green", 1)])
def test_traffic_light_glows_in_the_colour_it_shows_and_no_other(lit, channel):
    mesh = build_object(SceneObject("one", "traffic_light", (0, 0, 0), 0.0, {"colour": lit}))

    glows = np.array([m.emission for m in mesh.materials if max(m.emission) > 0])

    assert len(glows) >= 2
    assert (glows.argmax(1) == channel).all()


def test_an_unknown_kind_is_a_generation_error_that_lists_what_can_be_drawn():
    with pytest.raises(GenerationError, match="unicorn") as caught:
        build_object(SceneObject("one", "unicorn", (0, 0, 0)))

    assert "cone" in caught.value.hint


@pytest.mark.parametrize("x", [-0.35, 0.0, 0.35])
@pytest.mark.parametrize("yaw", [-0.03, 0.03, np.pi / 2])
def test_a_container_never_stands_on_the_curb(x, yaw):
    for seed in SEEDS:
        item = SceneObject("one", "container", (x, 6.0, 0.0), yaw, {"appearance_seed": seed})

        assert build_object(item).bounds[1][0] <= 1.9


def test_children_have_larger_heads_for_their_height_than_adults():
    def head_share(mesh):
        hair = mesh.corners[mesh.material_of == [one.name for one in mesh.materials].index("hair")]
        points = hair.reshape(-1, 3)
        return np.ptp(points[:, 0]) / mesh.bounds[1][2]

    adult = head_share(load_pack("h_adult_walk"))
    for seed in range(12):
        child = build_object(
            SceneObject("one", "child_pedestrian", (0, 0, 0), 0.0, {"appearance_seed": seed})
        )

        assert head_share(child) > 1.2 * adult
