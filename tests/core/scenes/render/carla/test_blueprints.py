"""The blueprint table agrees with what servers of its version have, and every concept has a look."""

import pytest
from scenic.simulators.carla import _blueprintData

from tests.core.scenes.render.carla.fake_actors import library_ids
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.layout import EXTENTS
from vlmlab.core.scenes.render.carla.blueprints import CARLA_VERSION, EGO, LOOKS
from vlmlab.core.scenes.render.carla.vocabulary import kind_of

DRIVING = load_domain("driving")


def test_every_blueprint_stands_in_the_library_of_its_version():
    ids = {one.id for look in LOOKS.values() for one in look.blueprints} | {EGO.id}

    assert ids - library_ids() == set()


def test_sizes_are_those_that_the_server_reports():
    for look in LOOKS.values():
        if look.attributes:  # a wheelchair is wider than the walker whose box the server reports
            continue
        for blueprint in look.blueprints:
            size = _blueprintData._DIMS[CARLA_VERSION][blueprint.id]
            ours = (blueprint.width, blueprint.length, blueprint.height)
            assert ours == pytest.approx((size["width"], size["length"], size["height"]), abs=0.13)


def test_every_thing_of_the_driving_domain_has_a_look():
    kinds = {kind_of(concept.id) for concept in DRIVING.concepts if concept.is_thing}

    assert kinds == set(LOOKS)
    assert kinds <= set(EXTENTS)


def test_no_two_kinds_of_people_share_a_blueprint_that_looks_the_same():
    kinds = ("pedestrian", "child_pedestrian", "police_pedestrian")
    ids = [one.id for kind in kinds for one in LOOKS[kind].blueprints]

    assert len(ids) == len(set(ids))
