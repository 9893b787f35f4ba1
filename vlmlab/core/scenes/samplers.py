"""The table from a built-in world to what draws layouts for it."""

from typing import Protocol

from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.indoor import sample_indoor
from vlmlab.core.scenes.scene import SceneDescription


class Sampler(Protocol):
    """Draws a scene description of a canonical, valid concept set."""

    def __call__(
        self, key: Key, *, seed: int, attempt: int = 0, domain: Domain | None = None
    ) -> SceneDescription:
        """Return the description; the same arguments give the same description.

        Raises:
            ConceptError: the set is not valid in the domain.
            GenerationError: its objects do not fit into one scene.
        """
        ...


SAMPLERS: dict[str, Sampler] = {"driving": sample_driving, "indoor": sample_indoor}
"""``Domain.draws_as`` -> sampler."""
