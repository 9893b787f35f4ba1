"""Every kind that the sampler can ask for has a builder, with the extent that the layout counts on."""

import numpy as np
import pytest

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.blind import showcase_sets
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.layout import BUMPER_Y, EXTENTS
from vlmlab.core.scenes.render.builders import BUILDERS, people
from vlmlab.core.scenes.render.camera import Pinhole
from vlmlab.core.scenes.render.embedded import WORLDS, build_object
from vlmlab.core.scenes.render.packs import load_pack
from vlmlab.core.scenes.render.presence import THRESHOLDS
from vlmlab.core.scenes.samplers import SAMPLERS
from vlmlab.core.scenes.scene import Camera, SceneObject

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


def emergency_vehicle(variant, seed=1):
    parameters = {"appearance_seed": seed, "variant": variant}
    return build_object(SceneObject("one", "emergency_vehicle", (0, 0, 0), 0.0, parameters))


def is_lettered(material):
    picture = material.texture
    return picture is not None and int(picture.widths[0]) > 3 * int(picture.heights[0])


@pytest.mark.parametrize(("variant", "panels"), [("ambulance", 3), ("police_car", 6)])
def test_lettering_lies_flat_and_reads_from_outside(variant, panels):
    """Along the text and up the text must span a normal that points away from the vehicle."""
    mesh = emergency_vehicle(variant)
    low, high = mesh.bounds
    chosen = np.isin(mesh.material_of, [n for n, m in enumerate(mesh.materials) if is_lettered(m)])

    corners, uvs = mesh.corners[chosen].astype(float), mesh.uvs[chosen].astype(float)
    edges, steps = corners[:, 1:] - corners[:, :1], uvs[:, 1:] - uvs[:, :1]
    along, up = np.moveaxis(np.einsum("nij,njk->nik", np.linalg.inv(steps), edges), 1, 0)
    outwards = corners.mean(1) - (low + high) / 2
    facing = np.cross(along, up)
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)

    assert len(corners) == 2 * panels
    assert (up[:, 2] > 0).all()
    assert ((facing * outwards).sum(1) > 0).all()
    assert np.abs(facing).max(1) == pytest.approx(1.0)


def colours_of_light(mesh):
    """Return the number of the strongest channel of every lit material."""
    return {int(np.argmax(m.emission)) for m in mesh.materials if max(m.emission) > 1}


def test_ambulances_flash_blue_police_cars_blue_and_red_and_other_cars_not_at_all():
    assert colours_of_light(emergency_vehicle("ambulance")) == {2}
    assert colours_of_light(emergency_vehicle("police_car")) == {0, 2}
    for seed in SEEDS:
        car = build_object(SceneObject("one", "car", (0, 0, 0), 0.0, {"appearance_seed": seed}))
        assert colours_of_light(car) == set()


def test_pedestrians_differ_in_body_clothes_hair_and_skin():
    looks = set()
    for seed in range(40):
        item = SceneObject("one", "pedestrian", (0, 0, 0), 0.0, {"appearance_seed": seed})
        mesh = build_object(item)
        looks.add((len(mesh), tuple(material.albedo for material in mesh.materials)))

    assert len(looks) >= 20


def test_a_shirt_of_another_colour_keeps_the_face_and_the_trousers():
    changed, own = people._in_other_shirt("female1", (0.1, 0.2, 0.5)), load_pack("female1")

    kept = changed.material_of == own.material_of
    assert changed.materials[:-1] == own.materials
    assert set(changed.material_of[~kept]) == {len(own.materials)}
    heights = changed.corners[~kept][:, :, 2]
    assert heights.min() > 0.7
    assert heights.max() < 1.5


def test_a_far_cone_is_twenty_pixels_tall_at_640x480():
    camera = Camera((0, 0, 1.5), (0, 12, 0.6), fov=56.0)
    item = SceneObject("one", "cone", (0, BUMPER_Y + 25.0, 0), 0.0)

    _, y_min, _, y_max = Pinhole.of(camera, width=640, height=480).box_of(build_object(item).outline)

    assert y_max - y_min >= 19.5


def test_trees_are_green_in_town_1_and_in_autumn_colours_in_town_2():
    def leaves(town):
        item = SceneObject("one", "tree", (6, 9, 0), 0.0, {"appearance_seed": 1, "town": town})
        return next(m.albedo for m in build_object(item).materials if m.name == "Twig")

    assert leaves("town01")[1] > 2 * leaves("town01")[0]
    assert leaves("town02") == (1.0, 1.0, 1.0)
