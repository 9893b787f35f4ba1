"""The part of the client of the REST API that is about datasets."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from vlmlab.client_calls import Calls
from vlmlab.client_http import part
from vlmlab.client_types import Dataset


class DatasetCalls(Calls):
    """Lists, makes and downloads datasets."""

    def datasets(self) -> list[Dataset]:
        """Return the datasets, newest first."""
        return self._all(Dataset, "/datasets", {})

    def dataset(self, dataset: Dataset | str) -> Dataset:
        """Return a dataset as it is now."""
        return self._one(Dataset, "GET", f"/datasets/{part(_slug(dataset))}")

    def make_dataset(
        self,
        title: str,
        *,
        n: int = 100,
        seed: int = 0,
        strata: Sequence[str] = (),
        size: tuple[int, int] = (448, 336),
        backend: str = "embedded",
        slug: str = "",
        description: str = "",
    ) -> Dataset:
        """Start drawing a dataset from scenes; ``wait_for_dataset`` returns it when it is complete.

        Args:
            title: for people.
            n: pictures in all.
            seed: the same seed and settings make the same pictures.
            strata: kinds of scene; empty: all of them.
            size: width and height in pixels.
            backend: ``embedded``, or the slug of a picture source.
            slug: short name; empty: made of the title.
            description: for people.
        """
        body: dict[str, Any] = {"title": title, "n": n, "seed": seed, "backend": backend, "slug": slug}
        body |= {"width": size[0], "height": size[1], "description": description}
        if strata:
            body["strata"] = list(strata)
        return self._one(Dataset, "POST", "/datasets", json=body)

    def wait_for_dataset(
        self, dataset: Dataset | str, *, poll: float = 2.0, timeout: float | None = None
    ) -> Dataset:
        """Return a dataset once it is complete, or failed.

        Raises:
            LabTimeout: it did not end in time; it goes on in the lab.
        """
        for now in self._until(timeout, poll, lambda: self.dataset(dataset), "the dataset"):
            if now.state != "making":
                return now
        raise AssertionError("unreachable")

    def dataset_pictures(self, dataset: Dataset | str) -> Iterator[dict[str, Any]]:
        """Yield the pictures of a dataset with their truth, a page at a time."""
        yield from self._lab.pages(f"/datasets/{part(_slug(dataset))}/pictures", {})

    def download_dataset(self, dataset: Dataset | str, path: str | Path) -> Path:
        """Download a dataset as an archive that appears whole or not at all."""
        return self._lab.download(f"/datasets/{part(_slug(dataset))}/export.zip", Path(path))


def _slug(dataset: Dataset | str) -> str:
    return dataset.slug if isinstance(dataset, Dataset) else dataset
