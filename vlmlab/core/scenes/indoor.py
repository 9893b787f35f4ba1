"""Turns a kitchen concept set into a scene description: slots, poses, light and camera."""

from vlmlab.core.errors import ConceptError, GenerationError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.scene import SceneDescription


def sample_indoor(key: Key, *, seed: int, attempt: int = 0, domain: Domain | None = None) -> SceneDescription:
    """Draw a kitchen scene of a concept set.

    Args:
        key: canonical ids.
        seed: the scene seed.
        attempt: number of layouts of this seed that were rejected before.
        domain: a domain that ``draws_as`` indoor; the built-in one by default.

    Raises:
        ConceptError: the set is not valid in the domain.
        GenerationError: its objects do not fit into one scene.
    """
    domain = domain or load_domain("indoor")
    reason = domain.why_invalid(key)
    if reason is not None:
        raise ConceptError(reason, field="concepts")
    raise GenerationError("Kitchens cannot be drawn yet.")
