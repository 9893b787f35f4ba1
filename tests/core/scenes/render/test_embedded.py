"""The embedded back end: golden pictures, determinism, agreement of boxes and masks, a missing Embree."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.indoor import sample_indoor
from vlmlab.core.scenes.render import tracer
from vlmlab.core.scenes.render.embedded import EmbeddedBackend
from vlmlab.core.scenes.scene import Camera, SceneDescription, SceneObject

CASES = Path(__file__).parent / "cases"
WIDTH, HEIGHT = 96, 72
CLEAR = {"sun_dir": (0.2, -0.7, 0.7), "exposure": 0.55, "cloud": 0.25}
TOWN = {"town": "town01", "wetness": 0.0, "junction_distance": None, "appearance_seed": 4}


def scene_with(*objects, world=None, environment=None):
    """Return a small hand-written description."""
    return SceneDescription(
        domain="driving",
        concepts=("cone",),
        seed=7,
        attempt=0,
        camera=Camera((0, 0, 1.5), (0, 12, 0.6)),
        environment={**CLEAR, **(environment or {})},
        world={**TOWN, **(world or {})},
        objects=objects,
    )


def cone(x=0.0, y=6.0, *, name="cone_0"):
    return SceneObject(name, "cone", (x, y, 0.0), 0.0, {"appearance_seed": 1}, "cone", True)


def render(description, **options):
    options = {"width": WIDTH, "height": HEIGHT, "quality": "fast", **options}
    return EmbeddedBackend().render(description, **options)


LAMPS = (-0.9, -1.4, 2.3, 2.0, 1.9, 1.8, 0.3, 0.9, -1.4, 2.3, 2.0, 1.9, 1.8, 0.3)


def thing(kind, x, y, z=0.0, *, yaw=0.0):
    return SceneObject(kind, kind, (x, y, z), yaw, {"appearance_seed": 1}, kind, True)


def kitchen_with(*objects, lamps=LAMPS):
    """Return a small hand-written kitchen, seen from the middle of the room."""
    cabinet = SceneObject("cabinet", "cabinet_closed", (-0.95, -0.62, 0.0))
    return SceneDescription(
        domain="indoor",
        concepts=("kitchen",),
        seed=7,
        attempt=0,
        camera=Camera((0.3, -2.9, 1.5), (0.25, -0.6, 0.75), 62.0),
        environment={"indoor": True, "ambient": (0.42, 0.42, 0.43), "exposure": 0.72, "lamps": lamps},
        world={"room_seed": 3, "has_microwave": False},
        objects=(*objects, cabinet),
    )


GOLDEN = {
    "kitchen": kitchen_with(
        thing("toddler_standing", -0.35, -1.1, yaw=0.3),
        thing("towel_burning", 0.95, -0.31, 0.94),
        thing("glass_tipped", 0.2, -0.64, 0.91),
    ),
    "cone_wet": scene_with(cone(), world={"wetness": 1.0}, environment={"rain": 0.3}),
    "red_light_town02": scene_with(
        SceneObject("light", "traffic_light", (2.5, 15.0, 0.0), 0.0, {"colour": "red"}, "light_red", True),
        world={"town": "town02", "junction_distance": 12.0},
    ),
}


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_render_matches_the_golden_picture(name):
    """Descriptions must be equal; pixels may differ a little between processors."""
    digests = json.loads((CASES / "golden_digests.json").read_text())

    picture = render(GOLDEN[name]).image

    golden = np.asarray(Image.open(CASES / f"golden_{name}.png").convert("RGB"), np.float32)
    difference = np.abs(golden - picture)
    assert digests[name] == GOLDEN[name].digest
    assert difference.mean() < 1.0
    assert np.percentile(difference, 99) < 16


def test_render_gives_the_same_bytes_in_another_process():
    key, seed = ("light_green", "cyclist", "weather_soft_rain"), 9
    script = (
        "import hashlib\n"
        "from vlmlab.core.scenes.driving import sample_driving\n"
        "from vlmlab.core.scenes.render.embedded import EmbeddedBackend\n"
        f"d = sample_driving({key!r}, seed={seed})\n"
        f"r = EmbeddedBackend().render(d, width={WIDTH}, height={HEIGHT}, quality='standard')\n"
        "print(hashlib.sha256(r.image.tobytes()).hexdigest())\n"
    )

    here = render(sample_driving(key, seed=seed), quality="standard").image
    there = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert there.stdout.strip() == hashlib.sha256(here.tobytes()).hexdigest()


def test_a_kitchen_has_the_same_bytes_in_another_process():
    key, seed = ("kitchen", "stove_on", "toddler_standing"), 4
    script = (
        "import hashlib\n"
        "from vlmlab.core.scenes.indoor import sample_indoor\n"
        "from vlmlab.core.scenes.render.embedded import EmbeddedBackend\n"
        f"d = sample_indoor({key!r}, seed={seed})\n"
        f"r = EmbeddedBackend().render(d, width={WIDTH}, height={HEIGHT}, quality='standard')\n"
        "print(d.digest, hashlib.sha256(r.image.tobytes()).hexdigest())\n"
    )
    description = sample_indoor(key, seed=seed)

    here = render(description, quality="standard").image
    there = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert there.stdout.split() == [description.digest, hashlib.sha256(here.tobytes()).hexdigest()]


def test_a_kitchen_is_brighter_under_stronger_lamps():
    weak = tuple(value * 0.3 if number % 7 in (3, 4, 5) else value for number, value in enumerate(LAMPS))

    dim, bright = (render(kitchen_with(lamps=lamps)).image.mean() for lamps in (weak, LAMPS))

    assert bright > dim + 25


def test_things_built_in_take_the_seed_of_their_room():
    def cabinet(room):
        description = kitchen_with()
        world = {**description.world, "room_seed": room}
        built = EmbeddedBackend().build(replace(description, world=world))
        return {material.albedo for material in built.meshes[-1].materials}

    assert cabinet(3) == cabinet(3)
    assert any(cabinet(room) != cabinet(3) for room in range(3))


def test_steam_lies_outside_the_boxes_of_its_mug():
    drawn = render(kitchen_with(thing("hot_beverage", 0.2, -0.64, 0.91)), width=160, height=120)

    mug = next(item for item in drawn.annotations if item.object_id == "hot_beverage")
    rows = np.nonzero(drawn.masks["hot_beverage"])[0]
    assert mug.visible_box[3] - mug.visible_box[1] < 16
    assert rows.min() >= mug.amodal_box[1] - 1.5


def test_masks_lie_inside_the_visible_boxes_and_those_inside_the_amodal_boxes():
    drawn = render(scene_with(cone(-1.0, 5.0, name="a"), cone(1.0, 9.0, name="b")), width=160, height=120)

    annotations = {annotation.object_id: annotation for annotation in drawn.annotations}
    assert set(drawn.masks) == {"a", "b"}
    for name, mask in drawn.masks.items():
        rows, columns = np.nonzero(mask)
        x_min, y_min, x_max, y_max = annotations[name].visible_box
        assert x_min <= columns.min() <= columns.max() < x_max
        assert y_min <= rows.min() <= rows.max() < y_max
        assert annotations[name].visible_pixels == mask.sum()
        amodal = annotations[name].amodal_box
        assert amodal[0] - 1.5 <= x_min
        assert x_max <= amodal[2] + 1.5
        assert annotations[name].visible_fraction > 0.95


@pytest.mark.parametrize(
    ("key", "seed"),
    [(("knife_edge", "cabinet_open"), 779458527), (("loose_cord_floor",), 3037148141)],
    ids=["cabinet", "cord"],
)
def test_what_is_seen_of_a_thing_lies_in_the_box_of_all_of_it(key, seed):
    # Both are large meshes, of which a presence check looks at one corner a triangle.
    description = sample_indoor(key, seed=seed)

    drawn = EmbeddedBackend().render(description, width=160, height=120, quality="fast")

    for one in drawn.annotations:
        visible, whole = one.visible_box or one.amodal_box, one.amodal_box
        assert (whole[0] <= visible[0], whole[1] <= visible[1]) == (True, True)
        assert (visible[2] <= whole[2], visible[3] <= whole[3]) == (True, True)
        assert min(whole) >= 0
        assert (whole[2] <= 160, whole[3] <= 120) == (True, True)


def test_a_nearer_cone_stands_lower_and_larger_in_the_picture():
    drawn = render(
        scene_with(cone(-1.0, 5.0, name="near"), cone(1.0, 15.0, name="far")), width=160, height=120
    )

    boxes = {annotation.object_id: annotation.visible_box for annotation in drawn.annotations}
    assert boxes["near"][3] > boxes["far"][3]
    assert boxes["near"][3] - boxes["near"][1] > 2 * (boxes["far"][3] - boxes["far"][1])


def test_what_stands_in_front_takes_the_pixels():
    box = SceneObject(
        "box", "container", (0.0, 6.0, 0.0), 0.0, {"appearance_seed": 1}, "obstruction_near", True
    )

    drawn = render(scene_with(box, cone(0.0, 12.0)))

    hidden = next(annotation for annotation in drawn.annotations if annotation.object_id == "cone_0")
    assert hidden.visible_pixels == 0
    assert hidden.visible_box is None
    assert hidden.visible_fraction == 0.0


def test_adding_an_object_leaves_the_rest_of_the_picture_as_it_was():
    empty = render(scene_with()).image.astype(int)
    full = render(scene_with(cone(0.9, 7.0)))

    box = next(annotation for annotation in full.annotations if annotation.is_required).visible_box
    sky = slice(0, int(box[1]) - 25)
    assert np.abs(full.image[sky].astype(int) - empty[sky]).mean() < 4


def mean_colour(picture):
    return picture.reshape(-1, 3).astype(float).mean(0)


def test_fog_lifts_the_far_road_towards_grey_and_lowers_contrast():
    clear = render(scene_with()).image
    foggy = render(scene_with(environment={"fog": 0.042, "fog_col": (0.72, 0.73, 0.74)})).image

    assert foggy.std() < 0.7 * clear.std()


def test_the_two_towns_look_different():
    first = render(scene_with()).image.astype(int)
    second = render(scene_with(world={"town": "town02"})).image.astype(int)

    assert np.abs(first - second).mean() > 15


def test_fast_and_standard_look_the_same_at_low_resolution():
    description = sample_driving(("pedestrian",), seed=2)

    fast = render(description, width=224, height=168, quality="fast").image.astype(float)
    standard = render(description, width=224, height=168, quality="standard").image.astype(float)

    assert np.abs(fast - standard).mean() < 7
    assert np.abs(mean_colour(fast) - mean_colour(standard)).max() < 2


def test_provenance_says_what_made_the_picture():
    description = scene_with()

    provenance = render(description).provenance

    assert provenance["backend"] == "embedded"
    assert provenance["size"] == f"{WIDTH}x{HEIGHT}"
    assert provenance["quality"] == "fast"
    assert provenance["description"] == description.digest


def test_an_unknown_quality_is_refused_by_name():
    with pytest.raises(ValueError, match="quality"):
        render(scene_with(), quality="superb")


def test_a_domain_without_a_world_is_a_generation_error():
    with pytest.raises(GenerationError, match="moon"):
        render(replace(scene_with(), domain="moon"))


def test_missing_embree_is_a_generation_error_with_a_hint(monkeypatch):
    monkeypatch.setitem(sys.modules, "embreex.rtcore_scene", None)
    monkeypatch.setitem(sys.modules, "embreex.mesh_construction", None)

    with pytest.raises(GenerationError, match="embreex") as caught:
        render(scene_with())

    assert "pip install embreex" in caught.value.hint


def test_importing_the_back_end_does_not_load_embree():
    script = "import sys, vlmlab.core.scenes.render.generator; print('embreex' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
    assert tracer.SKY == -1
