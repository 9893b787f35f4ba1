"""The warehouse pictures: which sets get one, what a picture shows, and that the same seed draws the same."""

import json

import numpy as np
import pytest
from PIL import Image

from tools.warehouse_pool.drawing import draw
from tools.warehouse_pool.files import BODIES, write_pool
from tools.warehouse_pool.layout import arrange
from tools.warehouse_pool.plan import ENOUGH, FEWEST_OWN, chosen_sets, fits, rule_sets, valid_sets
from vlmlab.core.scenes.domain_files import example_text, read_domain_file
from vlmlab.core.scenes.masks import decode_mask
from vlmlab.core.scenes.render.credits import attributions
from vlmlab.core.seeding import rng_for

WAREHOUSE = read_domain_file(example_text()).domain
SIZE = {"width": 64, "height": 48}


@pytest.fixture(scope="module")
def drawn():
    return draw(("forklift_parked", "worker_vest"), seed=0, number=3, **SIZE)


def test_every_single_concept_gets_enough_pictures_and_every_set_that_a_rule_speaks_of_its_own():
    plan = chosen_sets(WAREHOUSE, count=150)

    singles = [one for one in valid_sets(WAREHOUSE) if len(one) == 1]
    assert plan == chosen_sets(WAREHOUSE, count=150)
    assert len(plan) == 150
    assert all(WAREHOUSE.is_compatible(one) for one in plan)
    assert all(sum(fits(shown, one, WAREHOUSE) for shown in plan) >= ENOUGH for one in singles)
    assert all(plan.count(one) >= FEWEST_OWN for one in rule_sets(WAREHOUSE))


def test_a_picture_that_changes_the_answer_helps_no_smaller_set():
    assert fits(("spill", "cable_loose"), ("spill",), WAREHOUSE)
    assert not fits(("spill", "cone"), ("spill",), WAREHOUSE)
    assert not fits(("spill",), ("spill", "cone"), WAREHOUSE)


@pytest.mark.parametrize("concept", [one.id for one in WAREHOUSE.concepts if one.id != "hall"])
def test_every_concept_has_a_shape_in_the_hall(concept):
    arrangement = arrange((concept,), rng_for(0, "test", concept))

    [thing] = arrangement.things
    low, high = thing.mesh.bounds
    assert thing.concept == concept
    assert (high - low).min() > 0.01
    assert 2.0 < low[1] < 10.0  # before the camera, not beyond the end wall


def test_people_in_one_picture_are_dressed_alike():
    def brightest(concepts):
        things = {one.concept: one.mesh for one in arrange(concepts, rng_for(5, "test")).things}
        return max(max(one.albedo) for one in things["worker_on_ladder"].materials if one.name == "")

    assert brightest(("worker_vest", "worker_on_ladder")) > 1.0  # fluorescent
    assert brightest(("worker_no_vest", "worker_on_ladder")) < 1.0


def test_a_picture_shows_every_concept_with_a_box_about_its_mask(drawn):
    assert [one.concept for one in drawn.seen] == ["forklift_parked", "worker_vest"]
    for one in drawn.seen:
        rows, columns = np.nonzero(one.mask)
        assert one.box == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)


def test_the_same_seed_and_number_draw_the_same_picture(drawn):
    again = draw(drawn.concepts, seed=0, number=3, **SIZE)

    assert (again.image == drawn.image).all()


def test_a_pool_is_written_with_its_truth_and_its_credits(drawn, tmp_path):
    (tmp_path / "009-old.jpg").write_bytes(b"old")

    write_pool(tmp_path, [drawn], seed=0)

    coco = json.loads((tmp_path / "instances.json").read_text())
    [image] = coco["images"]
    assert [path.name for path in tmp_path.glob("*.jpg")] == [image["file_name"]]
    assert Image.open(tmp_path / image["file_name"]).size == (64, 48)
    assert image["concepts"] == ["hall", "forklift_parked", "worker_vest"]
    assert [one["name"] for one in coco["categories"]] == ["forklift_parked", "worker_vest"]
    for row, seen in zip(coco["annotations"], drawn.seen, strict=True):
        counts = row["segmentation"]["counts"]
        assert (decode_mask(counts, width=64, height=48) == seen.mask).all()
    authors = {one.author for one in attributions() if one.asset in BODIES}
    text = (tmp_path / "CREDITS.txt").read_text()
    assert all(author in text for author in authors)
