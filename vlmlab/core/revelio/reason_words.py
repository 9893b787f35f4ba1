"""Tags for the reasons that a system gives, and a plain proposal of tags by the words of a reason."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class ReasonTag:
    """One way in which a reason goes wrong.

    Attributes:
        name: stored with findings.
        title: for people.
        words: beginnings of words; one of them in a reason proposes the tag.
    """

    name: str
    title: str
    words: tuple[str, ...]


REASON_TAGS: tuple[ReasonTag, ...] = (
    ReasonTag("ignored hazard", "Ignored hazard",
              ("clear", "empty", "no obstacle", "no hazard", "nothing", "no danger", "safe to")),
    ReasonTag("wrong distance", "Wrong distance",
              ("far away", "distance", "distant", "close", "near", "metres", "meters")),
    ReasonTag("over-caution", "Over-caution",
              ("caution", "careful", "just in case", "to be safe", "might", "may be", "could be")),
    ReasonTag("distracted by signal", "Distracted by signal",
              ("traffic light", "green light", "red light", "signal", "sign ")),
    ReasonTag("hallucinated position", "Hallucinated position",
              ("in my lane", "in the lane", "in front", "ahead", "on the left", "on the right", "behind")),
    ReasonTag("weather", "Weather",
              ("fog", "rain", "wet", "snow", "cloud", "dark", "night")),
)  # fmt: skip


def proposed_tags(reason: str) -> tuple[str, ...]:
    """Return the tags whose words stand in a reason, in the order of ``REASON_TAGS``.

    Words only: it does not understand negation, and nothing is stored until a person sets a tag.
    """
    text = f" {' '.join(reason.lower().split())} "
    return tuple(
        tag.name
        for tag in REASON_TAGS
        if any(re.search(rf"\b{re.escape(word.strip())}", text) for word in tag.words)
    )
