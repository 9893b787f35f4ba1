"""The warehouse as sample data: an example domain, pictures for it, and a source that takes them."""

from pathlib import Path

from django.conf import settings

from searches.models import Dataset, DomainRecord, PictureSource
from searches.services.dataset_imports import ImportWish, import_folder
from searches.services.domain_edits import add_domain
from searches.services.sources import SourceWish, create_source
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.domain_files import example_text, read_domain_file
from vlmlab.core.scenes.render.image_pool_params import IMAGE_POOL
from vlmlab.web.numbers import write_many

FOLDER = "warehouse_pool"
DOMAIN_SLUG = "warehouse"
SLUG = "warehouse-pool"
TITLE = "Warehouse pool"
LICENCE = "CC0 1.0"
NOTE = "The example that comes with the lab"
ABOUT_DATASET = "Drawn pictures of a storage hall, each tagged with what it shows of the example domain."
ABOUT_SOURCE = (
    "Takes drawn pictures of a storage hall from a dataset of the lab. A picture stands for a set "
    "only where whatever else it shows leaves question and answer as they are."
)


def load_warehouse() -> str:
    """Add the example domain, its pictures and their source; what is there already stays as it is.

    Each step is a short transaction of its own, so that pages can write meanwhile; a load that was cut off is
    finished by the next one.

    Returns:
        One sentence on what was done or left out.
    """
    folder = Path(settings.SHIPPED_MODEL_DIR) / FOLDER
    if PictureSource.objects.filter(slug=SLUG).exists():
        return "The warehouse example is there already."
    if not folder.is_dir():
        return "The pictures of the warehouse example are not in this copy."
    if DomainRecord.objects.filter(slug=DOMAIN_SLUG, is_sample=False).exists():
        return "The warehouse example is left out: there is a domain “warehouse” of your own."
    try:
        _add_domain()
        dataset = Dataset.objects.filter(slug=SLUG, is_sample=True).first() or _add_pictures(folder)
        _add_source(dataset)
    except VlmLabError as error:
        return f"The warehouse example cannot be loaded: {error}"
    return f"Warehouse example loaded: {write_many(dataset.n_pictures, 'picture')}."


def _add_domain() -> None:
    if not DomainRecord.objects.filter(slug=DOMAIN_SLUG).exists():
        add_domain(read_domain_file(example_text(DOMAIN_SLUG)), by=None, note=NOTE, is_sample=True)


def _add_pictures(folder: Path) -> Dataset:
    wish = ImportWish(
        title=TITLE,
        slug=SLUG,
        domain=DOMAIN_SLUG,
        description=ABOUT_DATASET,
        licence=LICENCE,
        credits=(folder / "CREDITS.txt").read_text(encoding="utf-8"),
        is_sample=True,
    )
    return import_folder(folder, wish).dataset


def _add_source(dataset: Dataset) -> None:
    wish = SourceWish(
        name=TITLE,
        slug=SLUG,
        kind=IMAGE_POOL,
        params={"match": "same_answer"},
        description=ABOUT_SOURCE,
        dataset=dataset.pk,
    )
    create_source(wish, by=None, is_sample=True)
