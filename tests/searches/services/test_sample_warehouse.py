"""The warehouse example: domain, pictures and source are loaded once, a person's own warehouse stays."""

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


def test_domain_pictures_and_source_are_loaded_once_and_a_load_that_was_cut_off_is_finished():
    notes = [load_warehouse(), load_warehouse()]
    PictureSource.objects.all().delete()
    load_warehouse()

    dataset, source = Dataset.objects.get(), PictureSource.objects.get()
    loaded = f"Warehouse example loaded: {dataset.n_pictures} pictures."
    assert notes == [loaded, "The warehouse example is there already."]
    assert DomainRecord.objects.values_list("slug", "is_sample").get() == ("warehouse", True)
    assert (dataset.slug, dataset.origin, dataset.is_sample) == ("warehouse-pool", "sample", True)
    assert (dataset.recipe["n_refused"], dataset.recipe["remarks"]) == (0, [])
    assert "MakeHuman" in dataset.credits
    assert (source.slug, source.is_sample, source.dataset) == ("warehouse-pool", True, dataset)
    assert dataset.pictures.count() == dataset.n_pictures
    assert dataset.domain_version == current_domain("warehouse").version


def test_a_warehouse_of_ones_own_stays_as_it_is():
    row = add_domain(read_domain_file(example_text().replace("title: Warehouse", "title: Mine")), by=None)

    note = load_warehouse()

    assert note == "The warehouse example is left out: there is a domain “warehouse” of your own."
    assert (DomainRecord.objects.get(), Dataset.objects.count()) == (row, 0)


def test_a_copy_without_the_pictures_says_so(settings, tmp_path):
    settings.SHIPPED_MODEL_DIR = tmp_path

    assert load_warehouse() == "The pictures of the warehouse example are not in this copy."
    assert DomainRecord.objects.count() == 0


def test_the_command_loads_pictures_that_serve_every_single_concept_and_refuse_other_sets(capsys):
    call_command("load_sample_data")

    notes = capsys.readouterr().out.splitlines()
    assert notes[-4] == "Sample seed images loaded: 100 pictures."
    assert notes[-1].startswith("Warehouse example loaded: ")
    domain = current_domain("warehouse")
    tags = DatasetPicture.objects.filter(dataset__slug="warehouse-pool").values_list("concepts", flat=True)
    assert all("hall" in shown for shown in tags)
    coverage = source_overview(PictureSource.objects.get()).coverage
    assert coverage.without == ()
    assert coverage.n_sets > coverage.n_shown > coverage.n_ample > 50
    source = scene_source(domain, "warehouse-pool", width=32, height=24)
    singles = [domain.key_of(mask) for mask in domain.universe(1)]
    chosen = [source.generate(one, seed=1).provenance["chosen"] for one in singles]
    assert len(singles) == 11
    assert min(int(one.split()[2]) for one in chosen) >= 5  # "1 of 5 pictures"
    wanted = domain.canonical(["forklift_moving", "worker_no_vest", "pallet_stack_leaning", "dock_door_open"])
    with pytest.raises(GenerationError, match="shows Forklift at work, Leaning"):
        source.generate(wanted, seed=1)
