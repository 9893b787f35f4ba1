"""From a stored picture to the clean input of a modality search: which label is asked, with which words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from searches.models import DatasetPicture
from searches.services.asked_things import things_by_name
from searches.services.blobs import StorageError, open_blob
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import decode_png
from vlmlab.core.most.evaluate import SeedImage
from vlmlab.core.scenes.masks import decode_mask
from vlmlab.core.seeding import pick, rng_for
from vlmlab.core.suts.asking import AskingParams, localization_prompt, protected_parts

MOST_LABEL_CHARACTERS = 120  # the column of runs and clean answers

Masks = npt.NDArray[np.bool_]


def askable_labels(picture: DatasetPicture) -> tuple[str, ...]:
    """Return the labels of a picture that may be asked for, sorted: those whose things are all known.

    Pictures of scenes say it of each thing (``is_asked``); of others every label may be asked that the
    import was sure of. Things in pools of photographs go by the words of their domain.
    """
    unsure = set(picture.unsure_labels)
    labels = {name for name, one in things_by_name(picture) if one.get("is_asked", True)}
    return tuple(sorted(one for one in labels - unsure if one.strip() and len(one) <= MOST_LABEL_CHARACTERS))


def chosen_label(picture: DatasetPicture, *, seed: int) -> str | None:
    """Return the one label that a picture is asked for, or None where there is none.

    It depends on the seed and the picture only, so that every system and regime is asked the same.
    """
    labels = askable_labels(picture)
    return label_among(labels, picture.image_sha256, seed=seed) if labels else None


def label_among(labels: Sequence[str], image_sha256: str, *, seed: int) -> str:
    """Return which of the sorted askable labels of a picture is asked for; at least one is needed."""
    return pick(rng_for(seed, "label", image_sha256), labels)


def things_of(picture: DatasetPicture, label: str) -> list[dict[str, Any]]:
    """Return the annotations that a label means, in the order of the picture."""
    named = [one for name, one in things_by_name(picture) if name == label]
    return named or [one for one in picture.annotations if one.get("label") == label]


def words_for(label: str, n: int) -> str:
    """Return the words that ask for the ``n`` things of a label: "the bus", "every bus"."""
    return f"the {label}" if n == 1 else f"every {label}"


def seed_image_of(
    picture: DatasetPicture, label: str, *, asking: AskingParams, protect_format: bool
) -> SeedImage:
    """Return the clean input of a picture: pixels, complete prompt, truth and what stays as it is.

    Args:
        picture: the stored picture.
        label: one of its askable labels.
        asking: how the system is asked.
        protect_format: whether the part of the prompt that says how to answer is protected.

    Raises:
        VlmLabError: nothing of this label is in the picture, or its file is gone or damaged.
    """
    things = things_of(picture, label)
    if not things:
        raise VlmLabError(
            f"Nothing called “{label}” is annotated in {_name(picture)}.",
            hint="The dataset was changed. Start a new campaign on it.",
        )
    pixels = _pixels(picture)
    return SeedImage(
        image_id=picture.image_sha256,
        pixels=pixels,
        label=label,
        prompt=localization_prompt(asking, words_for(label, len(things))),
        truth=np.array([one["box"] for one in things], dtype=np.float64).reshape(-1, 4),
        masks=_masks(things, picture),
        protected=protected_parts(asking) if protect_format else (),
    )


def _pixels(picture: DatasetPicture) -> npt.NDArray[np.uint8]:
    try:
        with open_blob(picture.image_sha256) as file:
            content = file.read()
    except StorageError as error:
        raise StorageError(
            f"The picture {_name(picture)} is not stored any more.",
            hint="Restore the folder in VLMLAB_BLOB_DIR from a backup, or import the dataset again.",
        ) from error
    pixels = decode_png(content)
    if pixels.shape[:2] != (picture.height, picture.width):
        raise StorageError(
            f"The stored picture {_name(picture)} has {pixels.shape[1]} x {pixels.shape[0]} pixels instead "
            f"of {picture.width} x {picture.height}.",
            hint="Restore the folder in VLMLAB_BLOB_DIR from a backup, or import the dataset again.",
        )
    return pixels


def _masks(things: Sequence[dict[str, Any]], picture: DatasetPicture) -> Masks | None:
    """Return ``(n, h, w)`` masks, or None unless every thing has one that can be read."""
    texts = [str(one.get("mask") or "") for one in things]
    if not all(texts):
        return None
    try:
        masks = [decode_mask(one, width=picture.width, height=picture.height) for one in texts]
    except ValueError:
        return None  # the boxes say where the things are, too
    return np.stack(masks) if all(one.any() for one in masks) else None


def _name(picture: DatasetPicture) -> str:
    return picture.file_name or f"{picture.order + 1} of the dataset"
