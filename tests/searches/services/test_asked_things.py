"""Pools of photographs are asked for in the words of their domain; all others as they name their things."""

import pytest

from searches.models import DatasetPicture
from searches.services.asked_things import things_by_name
from searches.services.dataset_gallery import asked_boxes
from searches.services.dataset_index import dataset_index
from searches.services.dataset_pages import dataset_page
from searches.services.seed_inputs import askable_labels, things_of
from searches.services.seed_plans import SeedPlan, check_ready, chosen_seeds
from searches.services.word_table_drafts import dataset_labels
from tests.searches.modality_factory import make_seed_dataset
from tests.searches.pools import make_pool
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.catalogue import load_domain

pytestmark = pytest.mark.django_db
BOX = [2, 2, 10, 10]


def tagged(label: str, concept: str) -> dict:
    return {"label": label, "concept": concept, "box": BOX, "mask": ""}


def the_picture(dataset, *things) -> DatasetPicture:
    row = dataset.pictures.first()
    row.annotations = list(things)
    row.save()
    return row


def test_a_thing_of_a_pool_is_asked_for_by_the_words_of_its_concept():
    concept = load_domain("driving").concept("child_pedestrian")
    row = the_picture(make_pool(shown=((concept.id,),)), tagged(concept.id, concept.id))

    (label,) = askable_labels(row)

    assert label == "child"
    assert things_of(row, label) == row.annotations
    assert things_of(row, concept.id) == row.annotations  # campaigns that were started before still read it
    assert [box.label for box in asked_boxes(row)] == [label]
    assert dataset_labels(row.dataset) == [label]


@pytest.mark.parametrize("kind", ["state", "scene", "map", "signal", "modifier"])
def test_states_and_places_are_not_asked_for(kind):
    domains = [load_domain("driving"), load_domain("indoor")]
    domain, concept = next((d, c) for d in domains for c in d.concepts if c.kind == kind)
    dataset = make_pool(shown=((concept.id,),), domain=domain.slug)

    assert askable_labels(dataset.pictures.get()) == ()
    with pytest.raises(VlmLabError, match="can be asked for"):
        check_ready(dataset)
    page = dataset_page(dataset, dataset_index(dataset))
    assert (page.can_be_searched, [one.id for one in page.counts.never_asked]) == (False, [concept.id])


def test_a_distance_is_no_part_of_what_a_thing_is_called():
    row = the_picture(make_pool(shown=((),)), tagged("a", "obstruction_near"), tagged("b", "obstruction_far"))

    assert askable_labels(row) == ("container",)
    assert len(things_of(row, "container")) == 2


def test_company_in_a_pool_keeps_its_name_without_marks_of_an_id():
    row = the_picture(make_pool(shown=((),)), tagged("hand_truck", ""), tagged("Box", ""))

    assert askable_labels(row) == ("Box", "hand truck")


def test_a_pool_whose_domain_is_gone_has_nothing_to_ask_for():
    assert askable_labels(make_pool(domain="moon").pictures.first()) == ()


def test_scenes_and_seed_imports_name_their_things_themselves():
    scene = the_picture(make_pool(shown=((),)), tagged("child_reaching", "cone") | {"is_asked": True})
    seeds = make_seed_dataset(1, label="hand_truck")

    assert [name for name, _ in things_by_name(scene)] == ["child_reaching"]
    assert askable_labels(seeds.pictures.get()) == ("hand_truck",)


def test_a_plan_asks_in_words_with_a_fixed_number_of_queries(django_assert_max_num_queries):
    domain = load_domain("driving")
    dataset = make_pool(shown=(("cone",),) * 6, domain_version=domain.version)

    with django_assert_max_num_queries(6):
        chosen = chosen_seeds(dataset, SeedPlan())

    words = domain.concept("cone").label.lower()
    assert [one.label for one in chosen] == [words] * 6
