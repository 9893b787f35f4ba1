"""What the pages of operators on pictures show: each at rising severities, and the map to ImageNet-C."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import numpy as np
from django.urls import reverse

from searches.models import DatasetPicture
from searches.services.exports import csv_lines
from searches.services.operator_pictures import (
    MOST_SHOWN_BOXES,
    ShownPicture,
    thumbnail_size,
)
from searches.services.strategy_bars import operator_title
from vlmlab.core.perturb.draws import operator_generator
from vlmlab.core.perturb.image_operator import FAMILIES, Family, ImageOperator
from vlmlab.core.perturb.image_operators import IMAGE_OPERATORS
from vlmlab.core.perturb.image_truth import LEAST_TIGHT_SHARE, LEAST_VISIBLE_SHARE, honest_caps, moved_truth
from vlmlab.core.scenes.mask_checks import checked_mask
from vlmlab.core.scenes.masks import decode_mask
from vlmlab.web.boxed_pictures import BoxedPicture, read_box

SEVERITIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
LEVELS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Shot:
    """A picture under an operator at one severity.

    Attributes:
        parameter: value of what the severity sets.
        boxed: the picture, with moved boxes where there are any.
        full_url: address of the picture at its full size.
        note: what became of the truth, "" where nothing is to be said.
        is_admissible: whether a search may judge answers by the truth.
    """

    severity: float
    parameter: str
    boxed: BoxedPicture
    full_url: str
    note: str = ""
    is_admissible: bool = True

    @property
    def title(self) -> str:
        """Its severity in words."""
        return "Original" if self.severity == 0.0 else f"Severity {self.severity:g}"


@dataclass(frozen=True)
class OperatorStrip:
    """One operator with its pictures.

    Attributes:
        cap: how far it may go on this picture before the truth is not honest any more; None where not asked.
    """

    operator: ImageOperator
    shots: tuple[Shot, ...]
    cap: float | None = None

    @property
    def title(self) -> str:
        """Its name in words."""
        return operator_heading(self.operator.name)

    @property
    def sets(self) -> str:
        """What its severity sets, with the unit."""
        return setting_words(self.operator)


@dataclass(frozen=True)
class LevelRow:
    """The severities that change pictures as much as the levels of ImageNet-C."""

    name: str
    sets: str
    family: Family
    severities: tuple[float, ...]
    parameters: tuple[str, ...]

    @property
    def title(self) -> str:
        """The operator's name in words."""
        return operator_heading(self.name)

    @property
    def pairs(self) -> list[tuple[int, float, str]]:
        """Level, severity and value of the quantity."""
        return list(zip(LEVELS, self.severities, self.parameters, strict=True))


def operator_heading(name: str) -> str:
    """Return an operator's name as a heading."""
    words = operator_title(name)
    return words[0].upper() + words[1:]


def setting_words(operator: ImageOperator) -> str:
    """Return what the severity of an operator sets, with its unit."""
    return f"{operator.parameter_name} ({operator.quantity.unit})"


def parameter_words(operator: ImageOperator, severity: float) -> str:
    """Return the value of the quantity at a severity, with three significant figures."""
    return f"{operator.parameter(severity):.3g}"


def operator_strips(picture: ShownPicture, *, seed: int, family: str = "") -> list[OperatorStrip]:
    """Return every operator, or those of a family, with small pictures at rising severities."""
    return [
        OperatorStrip(
            operator, tuple(_small_shot(operator, picture, severity, seed) for severity in SEVERITIES)
        )
        for operator in IMAGE_OPERATORS.values()
        if family in ("", operator.family)
    ]


def operator_strip(operator: ImageOperator, picture: ShownPicture, *, seed: int) -> OperatorStrip:
    """Return one operator with large pictures, what it does to the truth, and how far it may go."""
    truth = _truth(picture)
    shots = tuple(_large_shot(operator, picture, severity, seed, truth) for severity in SEVERITIES)
    if truth is None or not (operator.moves_boxes or operator.hides):
        return OperatorStrip(operator, shots)
    caps = honest_caps(
        truth.boxes,
        rng_of=lambda name: operator_generator(seed, image_id=picture.sha256, operator=name),
        image_size=picture.working_size,
        masks=truth.masks,
        names=[operator.name],
    )
    return OperatorStrip(operator, shots, caps[operator.name])


def level_rows() -> list[LevelRow]:
    """Return the map between severities and levels of every operator that ImageNet-C knows."""
    rows = []
    for operator in IMAGE_OPERATORS.values():
        if operator.has_levels:
            severities = tuple(operator.level_severity(level) for level in LEVELS)
            words = tuple(parameter_words(operator, severity) for severity in severities)
            rows.append(LevelRow(operator.name, setting_words(operator), operator.family, severities, words))
    return rows


def levels_csv() -> str:
    """Return the map as a table with a row for each operator and level."""
    rows: list[tuple[object, ...]] = []
    for row in level_rows():
        operator = IMAGE_OPERATORS[row.name]
        for level, severity, _ in row.pairs:
            value = float(f"{operator.parameter(severity):.6g}")
            unit = operator.quantity.unit
            rows.append((row.name, row.family, level, severity, operator.parameter_name, value, unit))
    columns = ("operator", "family", "level", "severity", "parameter", "value", "unit")
    return "".join(csv_lines(columns, rows))


def picture_url(sha256: str, operator: str, *, severity: float, seed: int, is_small: bool) -> str:
    """Return the address of a picture under an operator; severity 0 is one address for all operators."""
    name = operator if severity else next(iter(IMAGE_OPERATORS))
    number = seed if severity else 0
    address = reverse("operator_picture", args=[sha256, name, f"{severity:g}", number])
    return f"{address}?size=small" if is_small else address


def query_of(picture: ShownPicture | None, *, seed: int) -> str:
    """Return the part of an address that names a picture and a seed."""
    parts: dict[str, str | int] = {}
    if picture is not None and picture.row is not None:
        parts = {"dataset": picture.dataset_slug, "order": picture.row.order}
    elif picture is not None:
        parts = {"upload": picture.sha256}
    return urlencode(parts | ({"seed": seed} if seed else {}))


def operators(family: str = "") -> list[OperatorStrip]:
    """Return every operator, or those of a family, without a picture."""
    return [OperatorStrip(one, ()) for one in IMAGE_OPERATORS.values() if family in ("", one.family)]


def families() -> tuple[Family, ...]:
    """Return the families in their physical order."""
    return FAMILIES


@dataclass(frozen=True, eq=False)
class _Truth:
    """What is known of a picture, in pixels of its working size."""

    boxes: np.ndarray
    labels: tuple[str, ...]
    masks: np.ndarray | None


def _truth(picture: ShownPicture, *, with_masks: bool = True) -> _Truth | None:
    if picture.row is None:
        return None
    rows = [one for one in picture.row.annotations if one.get("box")][:MOST_SHOWN_BOXES]
    if not rows:
        return None
    size = picture.working_size
    scale = np.array([size[0] / picture.width, size[1] / picture.height] * 2)
    boxes = np.array([one["box"] for one in rows], dtype=np.float64) * scale
    labels = tuple(str(one.get("label") or one.get("concept") or "thing") for one in rows)
    masks = _masks(picture.row, rows) if with_masks and size == (picture.width, picture.height) else None
    return _Truth(boxes, labels, masks)


def _masks(row: DatasetPicture, rows: Sequence[dict[str, object]]) -> np.ndarray | None:
    """Return the masks of a picture where it has one for each thing."""
    if not all(one.get("mask") for one in rows):
        return None
    size = {"width": row.width, "height": row.height}
    shape = [row.height, row.width]
    return np.stack(
        [decode_mask(checked_mask({"size": shape, "counts": one["mask"]}, **size), **size) for one in rows]
    )


def _small_shot(operator: ImageOperator, picture: ShownPicture, severity: float, seed: int) -> Shot:
    shot = _shot(operator, picture, severity, seed, is_small=True)
    truth = _truth(picture, with_masks=False) if operator.moves_boxes else None
    if truth is None:
        return shot
    moved = moved_truth(
        truth.boxes,
        {operator.name: severity},
        rng_of=lambda name: operator_generator(seed, image_id=picture.sha256, operator=name),
        image_size=picture.working_size,
    )
    boxes = tuple(
        read_box(0, "", box, kind="truth") for box in moved.boxes if box[2] > box[0] and box[3] > box[1]
    )
    width, height = picture.working_size
    return replace(shot, boxed=replace(shot.boxed, boxes=boxes, width=width, height=height))


def _large_shot(
    operator: ImageOperator, picture: ShownPicture, severity: float, seed: int, truth: _Truth | None
) -> Shot:
    shot = _shot(operator, picture, severity, seed, is_small=False)
    if truth is None:
        return shot
    moved = moved_truth(
        truth.boxes,
        {operator.name: severity},
        rng_of=lambda name: operator_generator(seed, image_id=picture.sha256, operator=name),
        image_size=picture.working_size,
        masks=truth.masks,
    )
    boxes = tuple(
        replace(read_box(number, label, box, kind="truth"), visible_percent=round(100 * float(share)))
        for number, (box, label, share) in enumerate(
            zip(moved.boxes, truth.labels, moved.visible_shares, strict=True), start=1
        )
        if box[2] > box[0] and box[3] > box[1]
    )
    least, tightest = float(moved.visible_shares.min()), float(moved.tight_shares.min())
    notes = []
    if least < LEAST_VISIBLE_SHARE:
        notes.append(f"{least:.0%} of the least visible thing is left".replace("%", " %"))
    if tightest < LEAST_TIGHT_SHARE:
        notes.append(f"a moved box may be as loose as IoU {tightest:.2f}")
    return replace(
        shot,
        boxed=replace(shot.boxed, boxes=boxes),
        note="; ".join(notes),
        is_admissible=moved.is_honest,
    )


def _shot(
    operator: ImageOperator, picture: ShownPicture, severity: float, seed: int, *, is_small: bool
) -> Shot:
    full = picture_url(picture.sha256, operator.name, severity=severity, seed=seed, is_small=False)
    small = picture_url(picture.sha256, operator.name, severity=severity, seed=seed, is_small=True)
    width, height = picture.working_size
    if is_small:
        width, height = thumbnail_size(width, height)
    title = "the original" if severity == 0.0 else f"{operator_heading(operator.name)}, severity {severity:g}"
    return Shot(
        severity=severity,
        parameter=parameter_words(operator, severity),
        boxed=BoxedPicture(small if is_small else full, f"{picture.named}: {title}", width, height),
        full_url=full,
    )
