"""Words for what a layout fails to show: labels in place of kinds, and like faults told as one."""

import re
from collections.abc import Sequence

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.scene import SceneDescription

_MEASURED = (
    (re.compile(r"is hidden to \d+%"), "is hidden too much"),
    (re.compile(r"shows only \d+ pixels"), "shows too few pixels"),
    (re.compile(r"\d+"), "…"),
)


def in_labels(fault: str, description: SceneDescription, domain: Domain) -> str:
    """Return a fault with the label of the concept in place of the kind that it begins with."""
    kind, _, rest = fault.partition(" ")
    concept = next(
        (item.concept for item in description.objects if item.is_required and item.kind == kind), ""
    )
    return f"“{domain.concept(concept).label}” {rest}" if concept else fault


def without_numbers(fault: str) -> str:
    """Return a fault without what was measured, so that faults that differ in that alone are equal."""
    for measured, words in _MEASURED:
        fault = measured.sub(words, fault)
    return fault


def nothing_shows(concepts: Key, domain: Domain, faults: Sequence[str]) -> GenerationError:
    """Return the error of a set of which no layout shows everything.

    Args:
        concepts: the set.
        domain: of the set.
        faults: one for each layout; those that differ in their numbers alone are told as one.
    """
    alike: dict[str, list[str]] = {}
    for fault in faults:
        alike.setdefault(without_numbers(fault), []).append(fault)
    ordered = sorted(alike.values(), key=lambda one: (-len(one), one[0]))
    counted = "; ".join(f"{one[0]} ({len(one)}x)" for one in ordered)
    labels = ", ".join(f"“{domain.concept(one).label}”" for one in concepts)
    return GenerationError(
        f"None of {len(faults)} layouts shows all of {labels}: {counted}.",
        hint="Use fewer concepts at once, or another seed.",
    )
