"""Contact sheets and the command that writes them."""

import io
from importlib import resources

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from PIL import Image

from vlmlab.core.errors import ConceptError, GenerationError
from vlmlab.core.scenes.blind import BlindItem, blind_items, showcase_sets
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.render.sheet import (
    LABEL_HEIGHT,
    SheetCell,
    beside,
    compose_sheet,
    draw_blind,
    draw_cells,
    read_sets,
)
from vlmlab.core.scenes.scene import Annotation, GeneratedScene


def grey_scene(key, seed=1, *, box=None):
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), (90, 90, 90)).save(buffer, "PNG")
    annotations = (Annotation("a", "cone", "cone", True, box, box, 9, 1.0),) if box else ()
    return GeneratedScene(sample_driving(key, seed=seed), buffer.getvalue(), "", annotations, {})


class HalfSource:
    """Can draw everything but cones."""

    identity = "half"

    def generate(self, concepts, *, seed):
        if "cone" in concepts:
            raise GenerationError("No cones today.")
        return grey_scene(concepts, seed)


def test_showcase_sets_hold_every_concept_of_the_domain_in_order_and_are_valid():
    domain = load_domain("driving")

    sets = showcase_sets(domain)

    assert len(sets) == len(domain.concepts) == 30
    assert all(concept.id in key for concept, key in zip(domain.concepts, sets, strict=True))
    assert all(domain.is_compatible(key) for key in sets)


def test_read_sets_takes_a_set_a_line_and_skips_comments():
    text = "# mine\ncone, far\n\n weather_foggy_0 ,pedestrian\n"

    assert read_sets(text, load_domain("driving")) == (("cone", "far"), ("pedestrian", "weather_foggy"))


def test_read_sets_names_the_concept_that_does_not_exist():
    with pytest.raises(ConceptError, match="unicorn"):
        read_sets("unicorn", load_domain("driving"))


def test_draw_cells_keeps_the_place_of_a_set_that_cannot_be_drawn():
    cells = draw_cells(HalfSource(), [("pedestrian",), ("cone",)], seed=1)

    assert [cell.label for cell in cells] == ["pedestrian", "cone"]
    assert cells[0].scene is not None
    assert cells[1] == SheetCell("cone", None, "No cones today.")


def test_blind_items_hold_every_concept_as_often_as_asked_in_an_order_of_the_seed():
    domain = load_domain("driving")

    items = blind_items(domain, repeats=2, seed=5)

    concepts = [item.concept for item in items]
    assert sorted(concepts) == sorted([concept.id for concept in domain.concepts] * 2)
    assert concepts != [concept.id for concept in domain.concepts for _ in range(2)]
    assert all(domain.is_compatible(item.key) and item.concept in item.key for item in items)
    assert items == blind_items(domain, repeats=2, seed=5)
    assert items != blind_items(domain, repeats=2, seed=6)


def test_draw_blind_labels_pictures_with_numbers_only():
    items = (BlindItem("pedestrian", ("pedestrian",), 4), BlindItem("cone", ("cone",), 5))

    cells = draw_blind(HalfSource(), items)

    assert [cell.label for cell in cells] == ["1", "2"]
    assert cells[0].scene is not None
    assert cells[0].scene.description.seed == 4


def test_compose_sheet_lays_cells_out_in_rows():
    cells = [SheetCell(str(number), grey_scene(("pedestrian",))) for number in range(5)]

    sheet = compose_sheet(cells, width=40, height=30, columns=3)

    assert sheet.size == (120, 2 * (30 + LABEL_HEIGHT))
    assert sheet.getpixel((60, 10)) == (90, 90, 90)
    assert sheet.getpixel((110, 30 + LABEL_HEIGHT + 10)) == (255, 255, 255)


def test_compose_sheet_draws_the_boxes_of_required_objects_only_when_asked():
    cells = [SheetCell("a", grey_scene(("cone",), box=(5.0, 5.0, 20.0, 20.0)))]

    plain = np.asarray(compose_sheet(cells, width=40, height=30, with_labels=False))
    boxed = np.asarray(compose_sheet(cells, width=40, height=30, with_labels=False, with_boxes=True))

    assert (plain == 90).all()
    assert (boxed[5, 5:20] != 90).any(-1).all()
    assert (boxed[10, 10] == 90).all()


def test_render_sheet_command_writes_a_picture_of_the_sets_in_a_file(tmp_path):
    (tmp_path / "sets.txt").write_text("cone\nweather_foggy, pedestrian\n")
    out = tmp_path / "sheet.png"

    call_command(
        "render_sheet", "--domain", "driving", "--out", str(out), "--size", "64x48", "--quality", "fast",
        "--sets", str(tmp_path / "sets.txt"), "--seed", "3", stdout=io.StringIO(),
    )  # fmt: skip

    assert Image.open(out).size == (128, 48 + LABEL_HEIGHT)


@pytest.mark.parametrize("size", ["big", "0x0", "9000x10", "320"])
def test_render_sheet_command_refuses_a_strange_size(size):
    with pytest.raises(CommandError, match="--size"):
        call_command("render_sheet", "--size", size)


def test_render_sheet_command_names_a_file_it_cannot_read(tmp_path):
    with pytest.raises(CommandError, match=r"none\.txt"):
        call_command("render_sheet", "--sets", str(tmp_path / "none.txt"))


@pytest.mark.parametrize("slug", ["driving", "indoor"])
def test_the_compositions_that_travel_with_the_domains_are_24_valid_sets_of_3_to_5(slug):
    domain = load_domain(slug)
    folder = resources.files("vlmlab.core.scenes.domains").joinpath("examples")
    text = folder.joinpath(f"compositions_{slug}.txt").read_text(encoding="utf-8")

    sets = read_sets(text, domain)

    assert len(set(sets)) == 24
    assert {len(key) for key in sets} == {3, 4, 5}
    assert [domain.why_invalid(key) for key in sets] == [None] * 24
    assert {concept.id for concept in domain.concepts} == {one for key in sets for one in key}


def test_a_label_that_is_wider_than_its_picture_is_cut_and_stays_in_its_place():
    long = ", ".join(["stove_on", "towel_burning", "adult_reacting", "child_far_microwave"])
    cells = [SheetCell(long, None, ""), SheetCell("", None, "")]
    sheet = np.asarray(compose_sheet(cells, width=120, height=20, columns=2))
    strip = sheet[20 : 20 + LABEL_HEIGHT]
    assert (strip[:, :120] < 128).any()
    assert (strip[:, 120:] == 255).all()


def test_pairs_stand_beside_each_other_in_the_order_of_the_sets():
    left = [SheetCell("a", None, "fine"), SheetCell("b", None, "fine")]
    right = [SheetCell("a", None, "fast"), SheetCell("b", None, "fast")]
    assert [(one.label, one.reason) for one in beside(left, right)] == [
        ("a", "fine"), ("a", "fast"), ("b", "fine"), ("b", "fast"),
    ]  # fmt: skip


def test_render_sheet_command_draws_each_scene_twice_for_comparing_qualities(tmp_path):
    sets, out = tmp_path / "sets.txt", tmp_path / "pairs.png"
    sets.write_text("knife_block\n")
    call_command(
        "render_sheet", domain="indoor", sets=sets, out=out, size="64x48", columns=2, beside_fine=True
    )
    pair = np.asarray(Image.open(out).convert("RGB"), dtype=float)[:48]
    left, right = pair[:, :64], pair[:, 64:128]
    assert 0 < np.abs(left - right).mean() < 12  # the same scene, other rays
