"""Prompts that ask where things are, and the boxes that are taught for them."""

from dataclasses import replace

import pytest

from tests.tools.pocket_parts import record, seen
from tools.pocket.locating import (
    SYNONYMS,
    WORDINGS,
    absent_labels,
    box_answer,
    coordinate,
    draw_location,
    joined,
    labels_of_domain,
    own_prompt,
)
from tools.pocket.shards import PictureRecord, SeenObject
from vlmlab.core.conventions import RELATIVE_1000
from vlmlab.core.replies.boxes import parse_boxes
from vlmlab.core.seeding import rng_for
from vlmlab.core.suts.asking import AskingParams, localization_prompt
from vlmlab.core.suts.prompt_styles import PROMPT_STYLES

HALF_A_STEP = 5.0


def test_labels_are_joined_as_a_prompt_names_them():
    assert joined(["cyclist"]) == "the cyclist"
    assert joined(["cyclist", "cone"]) == "the cyclist and the cone"
    assert joined(["cyclist", "cone", "bus stop"]) == "the cyclist, the cone and the bus stop"


def test_the_own_prompt_is_the_one_of_the_shipped_style():
    asked = own_prompt(["traffic cone", "cyclist"])

    targets = "the traffic cone and the cyclist"
    assert asked == localization_prompt(AskingParams(prompt_style="json_0_1000"), targets)
    assert asked == PROMPT_STYLES["json_0_1000"].localization.replace("{targets}", targets)


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0, 0), (0.004, 0), (0.006, 10), (0.123, 120), (0.127, 130), (0.999, 1000), (1.2, 1000), (-0.3, 0)],
)
def test_coordinates_are_thousandths_in_steps_of_ten(value, written):
    assert coordinate(value) == written


def test_a_box_answer_is_the_json_of_the_study_and_empty_for_nothing():
    rows = [seen("cone", box=(0.104, 0.2, 0.306, 0.41)), seen("cyclist", box=(0.0, 0.0, 1.0, 1.0))]

    assert box_answer(rows) == (
        '[{"bbox_2d": [100, 200, 310, 410], "label": "traffic cone"}, '
        '{"bbox_2d": [0, 0, 1000, 1000], "label": "cyclist"}]'
    )
    assert box_answer([]) == "[]"


def test_a_box_answer_is_read_back_to_within_half_a_step():
    rng = rng_for(1, "boxes")
    for _ in range(50):
        x0, y0, width, height = rng.uniform(0.0, 0.5, 4)
        boxes = [(x0, y0, x0 + width + 0.02, y0 + height + 0.02), (0.3, 0.4, 0.5, 0.6)]
        rows = [seen("cone", box=boxes[0]), seen("cyclist", box=boxes[1])]

        reading = parse_boxes(box_answer(rows), convention=RELATIVE_1000, image_size=(1000, 1000))

        assert (reading.status, reading.flags) == ("boxes", ())
        assert [item.label for item in reading.items] == ["traffic cone", "cyclist"]
        found = [value for item in reading.items for value in item.box]
        wanted = [value * 1000 for box in boxes for value in box]
        assert found == pytest.approx(wanted, abs=HALF_A_STEP + 1e-9)


def test_the_answer_for_nothing_is_read_as_nothing():
    assert parse_boxes(box_answer([]), convention=RELATIVE_1000, image_size=(9, 9)).status == "empty"


def test_labels_of_a_domain_know_the_kinds_that_could_be_called_so():
    driving, indoor = labels_of_domain("driving"), labels_of_domain("indoor")

    assert driving["traffic cone"] == {"cone"}
    assert {"ambulance", "police car"} <= set(driving)
    assert driving["pedestrian"] == {
        "pedestrian", "child_pedestrian", "wheelchair_pedestrian", "police_pedestrian",
    }  # fmt: skip
    assert indoor["frying pan"] == {"pan_stove", "pan_counter"}
    assert "knife" not in driving


def test_absent_labels_name_nothing_that_the_picture_shows_or_that_could_be_meant():
    labels = absent_labels(record("driving", "wheelchair_pedestrian", "cone"))

    meant = {"traffic cone", "person in a wheelchair", "pedestrian"}
    assert sorted(labels) == sorted(set(labels_of_domain("driving")) - meant)
    assert "child" in labels


def test_an_unseen_thing_of_the_set_counts_as_absent_and_an_unasked_one_does_not():
    hidden = replace(record("driving", "cone"), objects=())
    vehicle = replace(
        record("driving", "emergency_vehicle"),
        objects=(seen("emergency_vehicle", label="police car", is_asked=False),),
    )

    assert "traffic cone" in absent_labels(hidden)
    assert {"police car", "ambulance"}.isdisjoint(absent_labels(vehicle))


def labels_meant(prompt):
    """Return every label of driving whose own name or synonym a prompt names."""
    names = {label: (label, *SYNONYMS.get(label, ())) for label in labels_of_domain("driving")}
    return {label for label, words in names.items() if any(f"the {word}" in prompt for word in words)}


def test_drawn_locations_ask_for_asked_things_and_seldom_for_absent_ones():
    objects = (
        seen("cone", box=(0.1, 0.2, 0.3, 0.4)),
        seen("cyclist", box=(0.5, 0.5, 0.6, 0.9)),
        seen("bus_stop", box=(0.7, 0.1, 0.9, 0.9), is_asked=False),
    )
    found = PictureRecord("driving", ("cyclist", "cone", "bus_stop"), 0, objects)
    rng = rng_for(2, "locations")
    sizes, own, empty, mixed = [], 0, 0, 0

    for _ in range(1000):
        prompt, answer, places = draw_location(found, objects, rng=rng)
        reading = parse_boxes(answer, convention=RELATIVE_1000, image_size=(1000, 1000))
        answered = [item.label for item in reading.items]
        own += prompt.startswith("Find the") and prompt.endswith("Answer [] if there is none.")
        empty += reading.status == "empty"
        mixed += bool(answered) and len(labels_meant(prompt)) > len(answered)
        sizes.append(len(answered))
        assert set(answered) <= {"traffic cone", "cyclist"}
        assert set(answered) <= labels_meant(prompt)
        assert "bus stop" not in prompt
        assert [box for _, box in places] == [
            one.box for label in answered for one in objects if one.label == label
        ]
        starts = [prompt.index(words) for words, _ in places]
        assert starts == sorted(starts)

    assert 20 <= empty <= 80
    assert 2 <= mixed <= 45
    assert sizes.count(1) > 380
    assert sizes.count(2) > 380
    assert 620 <= own <= 790


def test_nothing_is_located_where_nothing_may_be_asked_for():
    objects = (SeenObject("", "red rectangle", "red rectangle", False, (0.1, 0.1, 0.5, 0.5)),)

    assert draw_location(PictureRecord("probe", (), 0, objects), objects, rng=rng_for(3, "probe")) is None


def test_a_picture_without_asked_things_is_asked_about_absent_ones():
    found = replace(record("driving", "cone"), objects=())

    answers = {draw_location(found, (), rng=rng_for(4, "absent", n))[1] for n in range(30)}

    assert answers == {"[]"}


def test_every_wording_names_its_targets_once():
    assert [text.count("{targets}") for text in WORDINGS] == [1] * len(WORDINGS)
