"""What is in a dataset, counted once: pictures by kind of scene, concept and label, and which those are."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from searches.enums import DatasetState
from searches.models import Dataset, DatasetPicture
from searches.services.asked_things import things_by_name
from searches.services.seed_inputs import askable_labels
from vlmlab.core.scenes.strata import STRATA

CHUNK = 500
COLUMNS = ("order", "stratum", "concepts", "unsure_labels", "annotations")


@dataclass
class DatasetIndex:
    """Which pictures of a dataset show what; pictures are named by their places, in ascending order.

    Attributes:
        orders: all pictures.
        strata: kind of scene -> its pictures.
        concepts: canonical id -> the pictures that show it.
        asked: label -> the pictures in which it can be asked for.
        n_things: label -> how often it is annotated, asked for or not.
        usable: kind of scene -> pictures in which something can be asked for.
        table: (label, kind of scene) -> pictures in which the label can be asked for.
    """

    orders: list[int] = field(default_factory=list)
    strata: dict[str, list[int]] = field(default_factory=dict)
    concepts: dict[str, list[int]] = field(default_factory=dict)
    asked: dict[str, list[int]] = field(default_factory=dict)
    n_things: Counter[str] = field(default_factory=Counter)
    usable: Counter[str] = field(default_factory=Counter)
    table: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def n_usable(self) -> int:
        """Pictures that a modality search can start from."""
        return sum(self.usable.values())

    def add(self, picture: DatasetPicture) -> None:
        """Count one picture; they come in the order of their places."""
        self.orders.append(picture.order)
        self.strata.setdefault(picture.stratum, []).append(picture.order)
        for concept in picture.concepts:
            self.concepts.setdefault(concept, []).append(picture.order)
        labels = askable_labels(picture)
        self.usable[picture.stratum] += bool(labels)
        for label in labels:
            self.asked.setdefault(label, []).append(picture.order)
            self.table[label, picture.stratum] += 1
        named = things_by_name(picture)
        self.n_things.update(name or str(one.get("label") or "") for name, one in named)

    def matching(self, *, stratum: str = "", concept: str = "", label: str = "") -> list[int]:
        """Return the pictures that show all that is asked; "" asks for nothing."""
        groups: Iterable[tuple[str, Mapping[str, list[int]]]] = (
            (stratum, self.strata),
            (concept, self.concepts),
            (label, self.asked),
        )
        found = self.orders
        for name, by_name in groups:
            if name:
                wanted = set(by_name.get(name, ()))
                found = [order for order in found if order in wanted]
        return found

    @property
    def strata_in_order(self) -> list[str]:
        """The kinds of scene: those that the lab draws, in their order, then others, the largest first."""
        others = sorted(set(self.strata) - set(STRATA), key=lambda one: (-len(self.strata[one]), one))
        return [one for one in STRATA if one in self.strata] + others


def dataset_index(dataset: Dataset) -> DatasetIndex:
    """Return what is in a dataset; one that is ready changes no more, so it is counted once a process."""
    if dataset.state == DatasetState.READY:
        return _settled(dataset, dataset.created_at)
    return _counted(dataset)


@lru_cache(maxsize=64)
def _settled(dataset: Dataset, _created_at: datetime) -> DatasetIndex:
    return _counted(dataset)


def _counted(dataset: Dataset) -> DatasetIndex:
    index = DatasetIndex()
    rows = DatasetPicture.objects.filter(dataset=dataset).order_by("order").values(*COLUMNS)
    for row in rows.iterator(chunk_size=CHUNK):
        index.add(_picture(row, dataset))
    return index


def _picture(row: Mapping[str, Any], dataset: Dataset) -> DatasetPicture:
    return DatasetPicture(dataset=dataset, **row)
