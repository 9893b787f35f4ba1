"""The work of an import of seed images: one picture a step, saved whenever somebody wants to stop."""

from collections.abc import Callable
from typing import Any

from django.db import transaction

from searches.enums import DatasetState
from searches.models import Dataset, DatasetPicture, User
from searches.services.audit import record
from searches.services.blobs import store_blob, touch_blob
from searches.services.dataset_imports_pictures import free_name
from searches.services.datasets import pictures_digest
from searches.services.seed_import_report import (
    RECIPE_KEY,
    SeedImport,
    noted,
    report_so_far,
    seed_import_of,
)
from vlmlab.core.errors import VlmLabError
from vlmlab.core.seed_images.faults import SeedImportError
from vlmlab.core.seed_images.files import SourceFiles
from vlmlab.core.seed_images.importing import LookedAt, import_steps
from vlmlab.core.seed_images.pictures import SeedPicture
from vlmlab.core.seed_images.settings import ImportLimits

MOST_UNSAVED = 200
NOTHING_TAKEN = "No picture can be used. What was refused, and why, stands below."


class SeedImportWork:
    """One import from where its dataset is.

    What is not saved when a worker dies is done again: the source gives the same pictures in the same order.

    Args:
        dataset: that is being imported.
        files: of the source.
        limits: how much is taken.
        max_pixels: of all pictures together; None for no limit.
        may_write: asked in the transaction that writes; False ends the work.

    Raises:
        VlmLabError: settings are wrong, the format cannot be told, or another version began the import.
    """

    def __init__(
        self,
        dataset: Dataset,
        files: SourceFiles,
        *,
        limits: ImportLimits,
        max_pixels: int | None = None,
        may_write: Callable[[], bool] = lambda: True,
    ) -> None:
        seeds = seed_import_of(dataset)
        if seeds is None:
            raise VlmLabError(
                "This import was begun by another version of the lab.", hint="Upload the files again."
            )
        self._dataset, self._seeds, self._may_write = dataset, seeds, may_write
        self._max_pixels, self._n_pixels = max_pixels, seeds.n_pixels
        self._rows: list[DatasetPicture] = []
        known = dict(dataset.pictures.order_by("order").values_list("image_sha256", "file_name"))
        self._n_taken, self.n_described = len(known), seeds.n_described
        self._names = {name.casefold() for name in known.values()}
        self._report = report_so_far(seeds, n_pictures=len(known))
        self._steps = import_steps(
            files,
            seeds.settings,
            report=self._report,
            limits=limits,
            before=LookedAt(seeds.n_described, known),
        )

    def step(self) -> bool:
        """Look at one picture; False when there is none left.

        Raises:
            SeedImportError: the source is too large.
            StorageError: the disk is full.
        """
        try:
            picture = next(self._steps)
        except StopIteration:
            return False
        self.n_described += 1
        if picture is not None:
            self._take(picture)
        return len(self._rows) < MOST_UNSAVED or self.save()

    def save(self, *, n_files: int | None = None) -> bool:
        """Write what was done so far; False when another worker, or nobody, is to go on.

        Args:
            n_files: pictures in the source.
        """
        seeds = self._noted(n_files)
        with transaction.atomic():
            locked = self._locked()
            if locked is None:
                return False
            self._write(locked, seeds)
        self._seeds = seeds
        return True

    def finish(self, *, n_files: int, by: User | None) -> None:
        """Write what is left and make the dataset ready, or failed where no picture is sound."""
        if not self.save(n_files=n_files):
            return
        seeds = self._seeds.model_copy(update={"digest": pictures_digest(self._dataset)})
        with transaction.atomic():
            locked = self._locked()
            if locked is None:
                return
            self._write(locked, seeds)
            is_empty = locked.n_pictures == 0
            locked.state = DatasetState.FAILED if is_empty else DatasetState.READY
            locked.error = NOTHING_TAKEN if is_empty else ""
            locked.save(update_fields=["state", "error"])
            after = {"upload": seeds.archive, "pictures": locked.n_pictures, "refused": seeds.n_refused}
            record(by, "imported", locked, after=after)

    def _take(self, picture: SeedPicture) -> None:
        self._n_pixels += picture.image.width * picture.image.height
        if self._max_pixels is not None and self._n_pixels > self._max_pixels:
            raise SeedImportError(
                f"The pictures have more than {self._max_pixels / 1e6:,.0f} million pixels together.",
                hint="Scale them down, or import them with `manage.py import_dataset --kind seeds`.",
            )
        store_blob(picture.image.png)
        order = self._n_taken + len(self._rows)
        self._rows.append(
            DatasetPicture(
                dataset=self._dataset,
                order=order,
                file_name=free_name(picture.file, taken=self._names, number=order),
                image_sha256=picture.image.sha256,
                width=picture.image.width,
                height=picture.image.height,
                stratum=picture.stratum,
                unsure_labels=list(picture.unsure_labels),
                annotations=_annotations(picture),
            )
        )

    def _noted(self, n_files: int | None) -> SeedImport:
        seeds = noted(self._seeds, self._report, n_described=self.n_described, n_pixels=self._n_pixels)
        return seeds if n_files is None else seeds.model_copy(update={"n_files": n_files})

    def _locked(self) -> Dataset | None:
        locked = Dataset.objects.select_for_update().filter(pk=self._dataset.pk).first()
        return locked if locked is not None and self._may_write() else None

    def _write(self, locked: Dataset, seeds: SeedImport) -> None:
        for row in self._rows:
            touch_blob(row.image_sha256)  # a long slice may have outlived the grace of collection
        DatasetPicture.objects.bulk_create(self._rows, batch_size=100)
        self._n_taken += len(self._rows)
        self._rows = []
        locked.n_pictures = self._n_taken
        locked.recipe = {**locked.recipe, RECIPE_KEY: seeds.model_dump(mode="json")}
        locked.save(update_fields=["n_pictures", "recipe"])


def _annotations(picture: SeedPicture) -> list[dict[str, Any]]:
    """Return the things of a picture as rows hold them."""
    return [
        {
            "label": one.label,
            "concept": "",
            "is_asked": one.label not in picture.unsure_labels,
            "box": list(one.box),
            "amodal_box": list(one.box),
            "visible_fraction": 1.0,
            "mask": one.mask,
            "flags": list(one.flags),
        }
        for one in picture.things
    ]
