"""Faults of layouts are told in labels, and counted without their numbers."""

import pytest

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.indoor import sample_indoor
from vlmlab.core.scenes.render.fault_words import in_labels, without_numbers

DRIVING, INDOOR = load_domain("driving"), load_domain("indoor")


def test_the_kind_of_a_required_thing_becomes_the_label_of_its_concept():
    street = sample_driving(("cone", "far"), seed=1)
    kitchen = sample_indoor(INDOOR.canonical(["glass_upright"]), seed=1)
    label = INDOOR.concept("glass_upright").label

    assert in_labels("cone is hidden to 61%", street, DRIVING) == "“Cone” is hidden to 61%"
    assert in_labels("glass_upright shows only 3 pixels", kitchen, INDOOR) == f"“{label}” shows only 3 pixels"


def test_a_fault_of_anything_else_stays_as_it_is():
    street = sample_driving(("cone", "far"), seed=1)

    assert in_labels("cyclist is behind the camera", street, DRIVING) == "cyclist is behind the camera"
    assert in_labels("The things do not fit", street, DRIVING) == "The things do not fit"


@pytest.mark.parametrize(
    ("fault", "plain"),
    [
        ("“Cone” is hidden to 61%", "“Cone” is hidden too much"),
        ("“Cone” shows only 3 pixels", "“Cone” shows too few pixels"),
        ("“Cone” is behind the camera", "“Cone” is behind the camera"),
        ("None of 8 layouts shows all", "None of … layouts shows all"),
    ],
)
def test_numbers_give_way_to_words(fault, plain):
    assert without_numbers(fault) == plain
