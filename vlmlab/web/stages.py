"""The stages of a search as words: in a sentence, and as a line of a run's log."""

_PLACES = {"random": "at random", "warm-up": "in the warm-up", "level": "at level", "round": "in round"}

_SEVERAL = frozenset({"fresh", "paired", "smaller", "inputs"})  # first words of stages that are many things


def at_stage(stage: str) -> str:
    """Return a stage as it stands in a sentence: ``at level 2``, ``in round 14``, ``at random``."""
    name, _, number = stage.partition(" ")
    place = _PLACES.get(name)
    return f"{place} {number}".strip() if place else f"in {stage}" if stage else ""


def stage_line(stage: str) -> str:
    """Return what a run's log says when a stage begins."""
    name, _, number = stage.partition(" ")
    if name == "random":
        return "Random sets are asked."
    if name == "warm-up":
        return "Warm-up: the smallest sets come first."
    if name == "level":
        return f"Level {number}: sets of {number} concept{'' if number == '1' else 's'}."
    verb = "begin" if name in _SEVERAL else "begins"
    return f"{stage[:1].upper()}{stage[1:]} {verb}."
