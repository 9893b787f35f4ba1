"""The evaluations of one modality run: all as points, the front that no other beats, a page of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from searches.enums import AnswerKind
from searches.models import Blob, Evaluation, ModalityRun
from searches.services.stored_shapes import reading_stored
from searches.services.strategy_bars import StrategyBar, named_severities, strategy_bars
from vlmlab.core.most.objectives import iou_ratio, non_dominated
from vlmlab.core.most.types import AnswerStatus, Fidelity, Thresholds
from vlmlab.web.asked import asked_number

MOST_POINTS = 20_000
PAGE_SIZE = 50
SHOWN: dict[str, str] = {
    "all": "All",
    "hits": "Hits",
    "front": "On the front",
    "silent": "Without boxes",
    "errors": "Call errors",
}
"""Word in the address -> which evaluations a table shows."""


@dataclass(frozen=True)
class Point:
    """One evaluation in numbers.

    Attributes:
        number: counts answered evaluations from 1; 0 for a failed call, which counts as none.
        f1: share of the clean IoU that is left; 0 without boxes; None for a failed call.
        is_admitted: whether the input is close enough to the clean one.
        is_front: whether no other answer with boxes is as low in all of f1, f2 and f3 and lower in one.
    """

    step: int
    position: int
    number: int
    status: str
    iou: float
    f1: float | None
    f2: float
    f3: float
    is_admitted: bool
    is_hit: bool
    is_front: bool = False

    @property
    def key(self) -> str:
        """Which evaluation it is, as the address of a run names it."""
        return f"{self.step}.{self.position}"

    @property
    def has_boxes(self) -> bool:
        """Whether the answer holds boxes."""
        return self.status == AnswerKind.BOXES


_KEEPS: dict[str, Callable[[Point], bool]] = {
    "hits": lambda one: one.is_hit,
    "front": lambda one: one.is_front,
    "silent": lambda one: one.number > 0 and not one.has_boxes,
    "errors": lambda one: one.number == 0,
}


@dataclass(frozen=True)
class RunPoints:
    """All evaluations of a run, in the order they were asked.

    Attributes:
        is_cut: whether the run has more than are shown.
    """

    points: tuple[Point, ...]
    is_cut: bool

    def shown(self, word: str) -> list[Point]:
        """Return those that a word of ``SHOWN`` means; all for any other word."""
        keeps = _KEEPS.get(word)
        return [one for one in self.points if keeps is None or keeps(one)]

    def counts(self) -> dict[str, int]:
        """Return how many evaluations each word of ``SHOWN`` means."""
        return {word: len(self.shown(word)) for word in SHOWN}

    def find(self, key: str) -> Point | None:
        """Return an evaluation by ``Point.key``."""
        return next((one for one in self.points if one.key == key), None)


@dataclass(frozen=True)
class EvaluationLine:
    """One row of the table; ``bars`` has the acting operators, the strongest first."""

    point: Point
    row: Evaluation
    bars: list[StrategyBar]

    @property
    def stage(self) -> str:
        """The part of the search that asked."""
        return stage_words(self.row.stage, n_operators=len(self.bars))


@dataclass(frozen=True)
class LoneLine:
    """An evaluation in which one operator acts, in a list over many runs.

    Attributes:
        severity: of that operator.
        seed_picture: digest of the clean picture, "" where its file is not kept.
    """

    row: Evaluation
    place: ModalityRun
    severity: float
    seed_picture: str

    @property
    def url(self) -> str:
        """Where the page of its run opens it."""
        return f"{self.place.get_absolute_url()}?e={self.row.step}.{self.row.position}#evaluation"


def run_points(run: ModalityRun, *, thresholds: Thresholds) -> RunPoints:
    """Return the evaluations of a run as points (one query)."""
    clean_iou = run.clean_answer.iou if run.clean_answer else 0.0
    columns = (
        "step", "position", "status", "iou", "image_distance", "prompt_distance", "is_admissible", "is_hit",
    )  # fmt: skip
    rows = list(
        Evaluation.objects.filter(run_id=run.run_id)
        .order_by("step", "position")
        .values_list(*columns)[: MOST_POINTS + 1]
    )
    points: list[Point] = []
    number = 0
    for step, position, status, iou, f2, f3, is_admissible, is_hit in rows[:MOST_POINTS]:
        is_answer = status != AnswerKind.CALL_ERROR
        number += is_answer
        points.append(
            Point(
                step=step,
                position=position,
                number=number if is_answer else 0,
                status=status,
                iou=iou,
                f1=_left(status, iou, clean_iou) if is_answer else None,
                f2=f2,
                f3=f3,
                is_admitted=thresholds.admits(Fidelity(f2, f3, is_admissible)),
                is_hit=is_hit,
            )
        )
    return RunPoints(tuple(_with_front(points)), is_cut=len(rows) > MOST_POINTS)


def stage_words(stage: str, *, n_operators: int) -> str:
    """Return the part of a search that asked an evaluation.

    A batch belongs to one stage, though the last questions of a part may share it with the first of the next:
    how many operators act tells those of screen apart.
    """
    if stage in ("everything", "alone"):
        return "alone" if n_operators == 1 else "a little of everything"
    return "alone" if stage == "combined" and n_operators == 1 else stage


def evaluation_lines(
    run: ModalityRun, points: Sequence[Point], *, operators: Sequence[str]
) -> list[EvaluationLine]:
    """Return rows of the table for some points (one query).

    Raises:
        VlmLabError: a stored strategy is none of this regime.
    """
    steps = {point.step for point in points}
    found = {
        (row.step, row.position): row
        for row in Evaluation.objects.filter(run_id=run.run_id, step__in=steps).defer("raw_text")
    }
    lines = []
    with reading_stored("evaluation", hint="Start the campaign again."):
        for point in points:
            row = found.get((point.step, point.position))
            if row is not None:
                bars = strategy_bars(named_severities(row.strategy, operators))
                strongest_first = sorted(bars, key=lambda bar: -bar.severity)
                lines.append(EvaluationLine(point, row, strongest_first))
    return lines


def lone_lines(rows: Sequence[Evaluation]) -> list[LoneLine]:
    """Return rows of a list over many runs (one query more); each needs its run and picture selected."""
    digests = {row.run.modality.picture.image_sha256 for row in rows}
    kept = set(Blob.objects.filter(pk__in=digests).values_list("pk", flat=True))
    lines = []
    for row in rows:
        place = row.run.modality
        digest = place.picture.image_sha256
        severity = max((float(value) for value in row.strategy), default=0.0)
        lines.append(LoneLine(row, place, severity, digest if digest in kept else ""))
    return lines


def find_evaluation(run: ModalityRun, key: str) -> Evaluation | None:
    """Return an evaluation by ``Point.key``; None for anything that names none of this run."""
    step_text, _, position_text = key.partition(".")
    step = asked_number(step_text, largest=2**31 - 1)
    position = asked_number(position_text, largest=2**15 - 1)
    if step is None or position is None:
        return None
    return Evaluation.objects.filter(run_id=run.run_id, step=step, position=position).first()


def _left(status: str, iou: float, clean_iou: float) -> float:
    if not clean_iou:
        return iou
    return iou_ratio(AnswerStatus(status), iou, clean_iou=min(clean_iou, 1.0))


def _with_front(points: Iterable[Point]) -> list[Point]:
    """Mark the front: only answers with boxes, because one without them would beat them all with f1 = 0."""
    found = list(points)
    places = [place for place, one in enumerate(found) if one.has_boxes]
    if not places:
        return found
    rows = [(found[place].f1 or 0.0, found[place].f2, found[place].f3) for place in places]
    is_front = non_dominated(rows)  # type: ignore[arg-type]  # rows of three numbers
    for place, is_kept in zip(places, is_front, strict=True):
        if is_kept:
            found[place] = replace(found[place], is_front=True)
    return found
