"""Names of a domain file that a built-in world must be able to place."""

import pytest

from vlmlab.core.scenes.catalogue import built_in_content
from vlmlab.core.scenes.domain_files import check_content


@pytest.mark.parametrize(
    ("concept", "change", "problem"),
    [
        (
            "cone", {"distance": ""},
            "distance: A thing on a road needs a distance. Write one of: near, default, far, junction.",
        ),
        (
            "cone", {"placement": "roof"},
            "placement: It has no place on a road. Write one of: lane, sidewalk.",
        ),
        (
            "on_sidewalk", {"sets": {"placement": "roof"}},
            "sets: It moves things to no place on a road. Write one of: lane, sidewalk.",
        ),
    ],
)  # fmt: skip
def test_what_the_built_in_road_cannot_place_is_refused(concept, change, problem):
    content = built_in_content("driving")
    number, row = next(pair for pair in enumerate(content["concepts"]) if pair[1]["id"] == concept)
    row.update(change)

    checked = check_content(content)

    assert [str(one) for one in checked.errors] == [f"concept {number + 1} “{concept}”, {problem}"]


def test_a_domain_that_the_road_does_not_draw_needs_no_distances():
    content = built_in_content("driving")
    for row in content["concepts"]:
        if row["id"] == "cone":
            row["distance"] = ""
    del content["draws_as"]

    assert check_content(content).is_valid
