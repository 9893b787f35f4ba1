"""Four cells that can be compared, cells that cannot, and bases on which they can."""

import pytest

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.verdicts.cells import find_bases, plan_cells

DRIVING, INDOOR = load_domain("driving"), load_domain("indoor")


def test_cells_of_a_pair_on_a_base():
    plan = plan_cells(DRIVING, "weather_foggy", "cyclist", base=("obstruction_near",))

    assert (plan.kind, plan.why) == ("comparable", "")
    assert plan.keys == (
        ("obstruction_near", "cyclist", "weather_foggy"),
        ("obstruction_near",),
        ("obstruction_near", "weather_foggy"),
        ("obstruction_near", "cyclist"),
    )
    assert plan.settings == {
        "first": "weather_foggy", "second": "cyclist", "base": ["obstruction_near"], "kind": "comparable",
    }  # fmt: skip


def test_the_empty_base_cannot_be_drawn():
    plan = plan_cells(DRIVING, "cyclist", "cone")

    assert plan.kind == "invalid"
    assert plan.why.startswith("A cell with nothing cannot be drawn")


def test_cells_with_other_answers_are_label_changing():
    plan = plan_cells(DRIVING, "cyclist", "cone", base=("light_green",))

    assert plan.kind == "label_changing"
    assert plan.why == (
        "The cells expect different answers (both: Emergency stop, neither: Continue, first: Emergency stop, "
        "second: Emergency stop)."
    )


def test_cells_with_other_questions_are_label_changing():
    plan = plan_cells(INDOOR, "glass_tipped", "child_running", base=("wet_floor",))

    assert plan.kind in ("label_changing", "invalid")
    kinds = {
        plan_cells(INDOOR, "coffee_spill", "child_running", base=(one.id,)).why
        for one in INDOOR.concepts
        if one.id not in ("coffee_spill", "child_running")
    }
    assert "The cells are asked different questions." in kinds


@pytest.mark.parametrize(
    ("first", "second", "base"),
    [("cone", "cone", ()), ("cone", "cyclist", ("cone",)), ("cone", "cyclist", ("cyclist",))],
)
def test_two_concepts_beside_the_base_are_needed(first, second, base):
    with pytest.raises(ValueError, match="two concepts beside the base"):
        plan_cells(DRIVING, first, second, base=base)


@pytest.mark.parametrize(
    ("domain", "first", "second"),
    [(DRIVING, "cyclist", "weather_foggy"), (INDOOR, "wet_floor", "glass_tipped")],
)
def test_found_bases_are_those_whose_cells_compare(domain, first, second):
    found = find_bases(domain, first, second, most=10_000)

    small = [
        domain.key_of(int(mask))
        for mask in domain.universe(2, excluded=(first, second))
        if plan_cells(domain, first, second, base=domain.key_of(int(mask))).kind == "comparable"
    ]
    assert [base for base in found if len(base) <= 2] == small
    assert len(small) > 3
    assert find_bases(domain, first, second, most=2) == found[:2]


def test_bases_near_the_set_at_hand_come_first():
    assert find_bases(DRIVING, "cyclist", "weather_foggy", prefer=("cone",))[0] == ("cone",)
    with pytest.raises(ValueError, match="two different concepts"):
        find_bases(DRIVING, "cone", "cone")
