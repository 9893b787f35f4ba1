"""The scenes of one mode of a regression, with what both systems answered to each, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from searches.models import CaseSample, FollowUpItem, Sample
from searches.services.regressions import ModeLine, RegressionPage

WHICH = {"differ": "Answered differently", "both": "Both wrong", "neither": "Both right", "all": "All"}


@dataclass(frozen=True)
class ScenePair:
    """One scene.

    Attributes:
        number: of the scene in its item.
        old, new: what the systems answered; None where nobody asked or no answer came.
        is_flagged: a person said that something is wrong with it, so it counts for neither.
    """

    number: int
    old: Sample | CaseSample | None
    new: Sample | CaseSample | None
    is_flagged: bool = False

    @property
    def kind(self) -> str:
        """Which of ``WHICH`` it is; "open" where an answer is missing."""
        first, second = (_failed(one) for one in (self.old, self.new))
        if first is None or second is None:
            return "open"
        if first != second:
            return "differ"
        return "both" if first else "neither"

    @property
    def image_sha256(self) -> str:
        """The picture that both were shown."""
        return next((one.image_sha256 for one in (self.old, self.new) if one and one.image_sha256), "")


@dataclass(frozen=True)
class ModeScenes:
    """The scenes of a mode that are shown, and how many there are of each sort."""

    line: ModeLine
    place: int
    which: str
    counts: tuple[tuple[str, str, int], ...]
    pairs: tuple[ScenePair, ...]


def mode_scenes(page: RegressionPage, place: int, *, which: str) -> ModeScenes | None:
    """Return the scenes of the ``place``-th mode (two queries); None where there is no such mode."""
    if not 0 <= place < len(page.modes):
        return None
    line = page.modes[place]
    old, new = _samples(line.old_item), _samples(line.new_item)
    flagged = _flagged([*old.values(), *new.values()])
    pairs = [
        ScenePair(number, old.get(number), new.get(number), number in flagged)
        for number in sorted(old.keys() | new.keys())
    ]
    counts = {key: sum(pair.kind == key for pair in pairs) for key in WHICH if key != "all"}
    counts["all"] = len(pairs)
    which = which if which in WHICH else "differ" if counts["differ"] else "all"
    shown = [pair for pair in pairs if which in ("all", pair.kind)]
    return ModeScenes(
        line=line,
        place=place,
        which=which,
        counts=tuple((key, label, counts[key]) for key, label in WHICH.items()),
        pairs=tuple(shown),
    )


def _samples(item: FollowUpItem) -> dict[int, Sample | CaseSample]:
    if item.case_id is not None or not item.key:
        return {one.number: one for one in CaseSample.objects.filter(item=item)}
    rows = Sample.objects.filter(
        run_id=item.run_id, trial__block=item.block, trial__key=item.key, trial__variant=""
    )
    return {one.number: one for one in rows}


def _flagged(samples: Sequence[Sample | CaseSample]) -> set[int]:
    from searches.services.scene_flags import flagged_samples

    ids = [one.pk for one in samples if isinstance(one, Sample)]
    return set(flagged_samples(Sample.objects.filter(pk__in=ids)).values_list("number", flat=True))


def _failed(one: Sample | CaseSample | None) -> bool | None:
    if one is None:
        return None
    if isinstance(one, CaseSample):
        return None if one.status == "call_error" else one.is_failure
    return {"pass": False, "fail": True}.get(one.verdict)
