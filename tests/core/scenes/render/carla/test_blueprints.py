"""The blueprint table agrees with what servers of each version have, and every concept has a look."""

import pytest
from scenic.simulators.carla import _blueprintData

from tests.core.scenes.render.carla.fake_carla import library_ids
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.layout import EXTENTS
from vlmlab.core.scenes.render.carla.blueprints import EGO, KINDS, LOOKS
from vlmlab.core.scenes.render.carla.vocabulary import kind_of

DRIVING = load_domain("driving")


@pytest.mark.parametrize("version", LOOKS)
def test_every_blueprint_stands_in_the_library_of_its_version(version):
    ids = {one.id for look in LOOKS[version].values() for one in look.blueprints} | {EGO.id}

    assert ids - library_ids(version) == set()


@pytest.mark.parametrize("version", LOOKS)
def test_sizes_are_those_that_the_server_reports(version):
    for look in LOOKS[version].values():
        if look.attributes:  # a wheelchair is wider than the walker whose box the server reports
            continue
        for blueprint in look.blueprints:
            size = _blueprintData._DIMS[version][blueprint.id]
            ours = (blueprint.width, blueprint.length, blueprint.height)
            assert ours == pytest.approx((size["width"], size["length"], size["height"]), abs=0.13)


def test_every_thing_of_the_driving_domain_has_a_look():
    kinds = {kind_of(concept.id) for concept in DRIVING.concepts if concept.is_thing}

    assert kinds == set(KINDS) == set(LOOKS["0.9.16"])
    assert set(LOOKS["0.9.16"]) - set(LOOKS["0.9.15"]) == {"wheelchair_pedestrian"}
    assert kinds <= set(EXTENTS)


def test_no_two_kinds_of_people_share_a_blueprint_that_looks_the_same():
    kinds = ("pedestrian", "child_pedestrian", "police_pedestrian")
    ids = [one.id for kind in kinds for one in LOOKS["0.9.16"][kind].blueprints]

    assert len(ids) == len(set(ids))
