"""The scene behind a sample: made again from its seed where a seed makes it, else as it was stored."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from searches.models import Sample
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.core.scenes.samplers import SAMPLERS

CHANGED = (
    "This version of the lab lays the scene out differently, so its description cannot be told any more. "
    "The picture and the boxes are those that the system was judged by."
)
UNKNOWN = "This version of the lab cannot make the scene again, so its description cannot be told."
NOT_STORED = "No description was stored with this sample."


@dataclass(frozen=True)
class RemadeScene:
    """A scene description, ``{}`` where it cannot be told; ``note`` says why."""

    description: Mapping[str, Any]
    note: str = ""


def remade_description(sample: Sample, domain: Domain, *, backend: str) -> RemadeScene:
    """Return the description of a sample's scene; its digest is compared before it is believed.

    Args:
        sample: with its ``trial`` fetched.
        domain: the version that its run names.
        backend: what drew the scenes of the run.
    """
    if sample.description:
        return RemadeScene(sample.description)
    if not sample.description_digest or backend != EMBEDDED or domain.draws_as not in SAMPLERS:
        return RemadeScene({}, NOT_STORED)
    try:
        scene = SAMPLERS[domain.draws_as](
            tuple(sample.trial.concepts), seed=sample.scene_seed, attempt=sample.attempt, domain=domain
        )
    except VlmLabError:
        return RemadeScene({}, UNKNOWN)
    if scene.digest != sample.description_digest:
        return RemadeScene({}, CHANGED)
    return RemadeScene(json.loads(scene.to_json()))
