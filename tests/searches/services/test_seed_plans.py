"""Which pictures a plan takes: stratified, in turn, the same each time; what is refused."""

from collections import Counter

import pytest
from pydantic import ValidationError

from searches.enums import DatasetState
from searches.services.seed_inputs import chosen_label
from searches.services.seed_plans import (
    SeedPlan,
    StratumCount,
    check_ready,
    chosen_seeds,
    plan_strata,
    seed_rows,
    stratum_counts,
)
from tests.searches.modality_factory import make_seed_dataset
from vlmlab.core.errors import VlmLabError

pytestmark = pytest.mark.django_db


def orders(dataset, **plan):
    """Return stratum and order of the chosen pictures."""
    order_of = dict(dataset.pictures.values_list("pk", "order"))
    return [
        (seed.row.stratum, order_of[seed.row.picture_id]) for seed in chosen_seeds(dataset, SeedPlan(**plan))
    ]


def test_seed_images_are_dealt_to_the_strata_in_turn():
    dataset = make_seed_dataset(12, strata=("street", "kitchen", "field"))

    chosen = orders(dataset, n_seed_images=7, seed=3)

    assert [stratum for stratum, _ in chosen] == ["field", "kitchen", "street"] * 2 + ["field"]


def test_a_stratum_that_is_used_up_leaves_its_turn_to_the_others():
    dataset = make_seed_dataset(6, strata=("a", "b", "b"))

    chosen = orders(dataset, seed=3)

    assert [stratum for stratum, _ in chosen] == ["a", "b", "a", "b", "b", "b"]
    assert sorted(order for _, order in chosen) == list(range(6))


def test_the_same_seed_takes_the_same_images_and_more_images_begin_with_them():
    dataset = make_seed_dataset(40)

    few, many = orders(dataset, n_seed_images=6, seed=5), orders(dataset, n_seed_images=20, seed=5)

    assert many[:6] == few == orders(dataset, n_seed_images=6, seed=5)
    assert few != orders(dataset, n_seed_images=6, seed=6)


def test_a_number_above_what_there_is_takes_all():
    assert len(orders(make_seed_dataset(5), n_seed_images=1000)) == 5


def test_only_chosen_strata_are_taken_and_each_image_is_asked_as_the_picture_says():
    dataset = make_seed_dataset(8, strata=("street", "kitchen"))
    for picture in dataset.pictures.all():
        picture.annotations = [picture.annotations[0] | {"label": label} for label in ("bus", "cup", "dog")]
        picture.save()
    pictures = {picture.pk: picture for picture in dataset.pictures.all()}

    seeds = chosen_seeds(dataset, SeedPlan(strata=("kitchen",), seed=9))

    assert {seed.row.stratum for seed in seeds} == {"kitchen"}
    assert [seed.label for seed in seeds] == [
        chosen_label(pictures[seed.row.picture_id], seed=9) for seed in seeds
    ]


def test_pictures_without_anything_to_ask_for_are_no_seed_images():
    dataset = make_seed_dataset(4)
    dataset.pictures.filter(order=0).update(annotations=[])
    dataset.pictures.filter(order=1).update(unsure_labels=["cup"])

    assert len(seed_rows(dataset)) == 2
    assert stratum_counts(dataset) == (StratumCount("kitchen", 1), StratumCount("street", 1))


def test_what_is_remembered_of_a_dataset_follows_its_pictures():
    dataset = make_seed_dataset(4)
    before = len(seed_rows(dataset))
    dataset.pictures.filter(order=3).delete()

    assert (before, len(seed_rows(dataset))) == (4, 3)


def test_a_second_look_at_a_dataset_reads_no_pictures(django_assert_num_queries):
    dataset = make_seed_dataset(30)
    seed_rows(dataset)

    with django_assert_num_queries(1):
        assert len(seed_rows(dataset)) == 30


def test_all_strata_are_named_where_none_is_chosen():
    dataset = make_seed_dataset(4, strata=("b", "a"))

    assert plan_strata(dataset, SeedPlan()) == ("a", "b")
    assert plan_strata(dataset, SeedPlan(strata=("b", "b"))) == ("b",)


def test_an_unknown_stratum_is_refused_with_those_that_there_are():
    with pytest.raises(VlmLabError, match=r"no stratum called “moon”.*It has kitchen, street") as caught:
        chosen_seeds(make_seed_dataset(2), SeedPlan(strata=("street", "moon")))
    assert caught.value.field == "strata"


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (DatasetState.MAKING, r"is not ready \(being made\)"),
        (DatasetState.FAILED, r"is not ready \(failed\)"),
    ],
)
def test_a_dataset_that_is_not_ready_is_refused(state, sentence):
    with pytest.raises(VlmLabError, match=sentence) as caught:
        check_ready(make_seed_dataset(2, state=state))
    assert caught.value.field == "dataset"


def test_a_dataset_with_nothing_to_ask_for_is_refused():
    dataset = make_seed_dataset(2)
    dataset.pictures.update(annotations=[])

    with pytest.raises(VlmLabError, match="no picture has a box with a label") as caught:
        check_ready(dataset)
    assert caught.value.field == "dataset"


@pytest.mark.parametrize(
    "values", [{"n_seed_images": 0}, {"seed": -1}, {"seed": 2**63}, {"replicates": 0}, {"colour": "red"}]
)
def test_a_plan_out_of_range_is_refused(values):
    with pytest.raises(ValidationError):
        SeedPlan(**values)


def test_strata_of_equal_size_get_equal_shares():
    dataset = make_seed_dataset(40, strata=("a", "b", "c", "d"))

    shares = Counter(stratum for stratum, _ in orders(dataset, n_seed_images=20, seed=1))

    assert shares == {"a": 5, "b": 5, "c": 5, "d": 5}
