"""What the CARLA back end says of domains and settings, before anything is loaded."""

import dataclasses
import subprocess
import sys

import pytest
from pydantic import ValidationError

from tests.patience import PATIENCE_SECONDS
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.backends import SCENE_BACKENDS
from vlmlab.core.scenes.render.carla.params import CarlaParams, carla_obstacle, carla_unpictured

DRIVING = load_domain("driving")


def changed(**changes):
    concepts = tuple(
        dataclasses.replace(one, **changes) if one.id == "cone" else one for one in DRIVING.concepts
    )
    return dataclasses.replace(DRIVING, concepts=concepts)


def test_driving_domain_and_its_changed_versions_can_be_drawn():
    assert carla_obstacle(DRIVING) == ""
    assert carla_obstacle(changed(label="Pylon", distance="near", placement="sidewalk")) == ""


def test_domain_of_kitchens_is_refused_in_words():
    indoor = load_domain("indoor")

    assert carla_obstacle(indoor) == (
        f"CARLA draws streets, and the domain {indoor.title} does not draw as driving. "
        "Choose another picture source."
    )


@pytest.mark.parametrize("changes", [{"id": "moose"}, {"placement": "roof"}])
def test_domain_with_a_thing_that_carla_lacks_is_refused_by_name(changes):
    named = changes.get("id", "cone")

    assert carla_obstacle(changed(**changes)) == (
        f"CARLA has nothing to show for these concepts of Driving: {named}. "
        "Take them out of the domain or choose another picture source."
    )


@pytest.mark.parametrize(
    ("map_choice", "missing"), [("towns", ()), ("crossing", ("town_town01", "town_town02"))]
)
def test_map_decides_what_can_never_be_shown(map_choice, missing):
    params = CarlaParams(map=map_choice)

    assert carla_unpictured(DRIVING, params, BackendContext()) == missing


@pytest.mark.parametrize(
    ("written", "kept"), [("localhost", "127.0.0.1"), (" 10.1.2.3 ", "10.1.2.3"), ("::1", "::1")]
)
def test_address_is_an_ip_address(written, kept):
    assert CarlaParams(host=written).host == kept


@pytest.mark.parametrize("written", ["carla.example", "10.1.2.3:2000", ""])
def test_name_that_would_have_to_be_looked_up_is_refused(written):
    with pytest.raises(ValidationError, match="Write an IP address"):
        CarlaParams(host=written)


def test_table_of_back_ends_loads_neither_scenic_nor_the_client():
    code = (
        "import sys; from vlmlab.core.scenes.render.backends import SCENE_BACKENDS; "
        "assert 'carla' in SCENE_BACKENDS; "
        "print(sorted({'carla', 'scenic', 'cv2', 'pygame', 'shapely'} & set(sys.modules)))"
    )

    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
    )

    assert shown.stdout.strip() == "[]"
    assert SCENE_BACKENDS["carla"].is_remote
