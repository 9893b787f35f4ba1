"""The warehouse example: domain, pictures and source are loaded once, a person's own warehouse stays."""

from itertools import combinations

import pytest
from django.core.management import call_command

from searches.models import Dataset, DatasetPicture, DomainRecord, PictureSource
from searches.services.domain_edits import add_domain
from searches.services.domain_store import current_domain
from searches.services.sample_warehouse import load_warehouse
from searches.services.scene_sources import scene_source
from searches.services.source_pages import source_overview
from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.domain_files import example_text, read_domain_file

pytestmark = pytest.mark.django_db


@pytest.fixture
def loaded():
    return load_warehouse()


def test_domain_pictures_and_source_are_loaded_as_samples(loaded):
    dataset, source = Dataset.objects.get(), PictureSource.objects.get()

    assert loaded == f"Warehouse example loaded: {dataset.n_pictures} pictures."
    assert DomainRecord.objects.values_list("slug", "is_sample").get() == ("warehouse", True)
    assert (dataset.slug, dataset.origin, dataset.is_sample) == ("warehouse-pool", "sample", True)
    assert (dataset.recipe["n_refused"], dataset.recipe["remarks"]) == (0, [])
    assert "MakeHuman" in dataset.credits
    assert (source.slug, source.is_sample, source.dataset) == ("warehouse-pool", True, dataset)
    assert dataset.pictures.count() == dataset.n_pictures
    assert dataset.domain_version == current_domain("warehouse").version


def test_loading_twice_changes_nothing(loaded):
    assert load_warehouse() == "The warehouse example is there already."
    assert (Dataset.objects.count(), PictureSource.objects.count()) == (1, 1)


def test_a_load_that_was_cut_off_is_finished(loaded):
    PictureSource.objects.all().delete()

    load_warehouse()

    assert (Dataset.objects.count(), PictureSource.objects.count()) == (1, 1)


def test_a_warehouse_of_ones_own_stays_as_it_is():
    row = add_domain(read_domain_file(example_text().replace("title: Warehouse", "title: Mine")), by=None)

    note = load_warehouse()

    assert note == "The warehouse example is left out: there is a domain “warehouse” of your own."
    assert (DomainRecord.objects.get(), Dataset.objects.count()) == (row, 0)


def test_a_copy_without_the_pictures_says_so(settings, tmp_path):
    settings.SHIPPED_MODEL_DIR = tmp_path

    assert load_warehouse() == "The pictures of the warehouse example are not in this copy."
    assert DomainRecord.objects.count() == 0


def test_every_picture_shows_the_hall_and_nothing_that_excludes_each_other(loaded):
    domain = current_domain("warehouse")

    for concepts in DatasetPicture.objects.values_list("concepts", flat=True):
        assert "hall" in concepts
        assert all(domain.why_invalid(tuple(pair)) is None or _lacks_a_rule(domain, pair)
                   for pair in combinations(concepts, 2))  # fmt: skip


def _lacks_a_rule(domain, pair):
    return "No rule says" in domain.why_invalid(tuple(pair))


def test_every_valid_single_concept_has_enough_pictures_for_the_samples_of_a_set(loaded):
    domain = current_domain("warehouse")
    source = scene_source(domain, "warehouse-pool", width=32, height=24)

    singles = [domain.key_of(mask) for mask in domain.universe(1)]
    counts = [int(source.generate(one, seed=1).provenance["chosen"].split()[2]) for one in singles]

    assert len(singles) == 11
    assert min(counts) >= 5


def test_a_set_without_pictures_is_refused_with_the_reason(loaded):
    domain = current_domain("warehouse")
    source = scene_source(domain, "warehouse-pool", width=32, height=24)
    wanted = domain.canonical(["forklift_moving", "worker_no_vest", "pallet_stack_leaning", "dock_door_open"])

    with pytest.raises(GenerationError) as raised:
        source.generate(wanted, seed=1)

    assert raised.value.message.startswith("No picture of the pool shows Forklift at work, Leaning pallet")


def test_the_page_of_the_source_says_how_many_sets_have_pictures(loaded):
    coverage = source_overview(PictureSource.objects.get()).coverage

    assert coverage.without == ()
    assert coverage.n_sets > coverage.n_shown > coverage.n_ample > 100


def test_the_command_loads_it_beside_the_rest(capsys):
    call_command("load_sample_data")

    assert capsys.readouterr().out.splitlines()[-1].startswith("Warehouse example loaded: ")
