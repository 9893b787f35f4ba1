"""What each thing in a picture is called when a system is asked where it is."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from searches.models import DatasetPicture
from searches.services.domain_store import find_domain
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.concepts import Domain

ASKED_KINDS = frozenset({"entity", "object", "agent"})
"""Concepts with a box that everybody means: no states, places, signals, and nothing that a whole scene is."""


def things_by_name(picture: DatasetPicture) -> list[tuple[str, dict[str, Any]]]:
    """Return the things of a picture in its order, each with what it is called; "" where nobody can say.

    Scenes and imports of seed images name their things. Pools of photographs tag them with concepts of a
    domain: such a thing is called as the domain calls its concept in words, and one whose concept is a
    state or a place is not called anything.
    """
    words: Mapping[str, str] | None = None
    named = []
    for one in picture.annotations:
        name, concept = str(one.get("label") or ""), str(one.get("concept") or "")
        if _is_tagged(one, name, concept) and picture.dataset.domain:
            words = _words_of(picture) if words is None else words
            name = words.get(concept, "") if concept else name.replace("_", " ")
        named.append((name, one))
    return named


def _is_tagged(thing: Mapping[str, Any], name: str, concept: str) -> bool:
    """Whether a thing may be of a pool: nobody said whether to ask for it, and its name may be an id."""
    return "is_asked" not in thing and bool(concept or "_" in name)


def _words_of(picture: DatasetPicture) -> Mapping[str, str]:
    try:
        return _words(find_domain(picture.dataset.domain_ref))
    except ConceptError:
        return {}  # the domain is gone, and with it what its concepts are


@lru_cache(maxsize=32)
def _words(domain: Domain) -> Mapping[str, str]:
    """Return concept -> words; what stands behind a comma, such as a distance, is not what a thing is."""
    things = (one for one in domain.concepts if one.kind in ASKED_KINDS)
    return {one.id: one.label.partition(",")[0].strip().lower() for one in things}
