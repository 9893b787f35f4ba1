"""The attribution waterfall of an explanation: every call of its searches and follow-ups in one place."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from searches.enums import KEY_SEPARATOR, SceneFlagKind
from searches.enums import Verdict as StoredVerdict
from searches.models import Sample, SceneFlag
from searches.services.explain_concepts import Reply, replies
from searches.services.explain_scopes import Scope
from searches.services.explain_sets import STATEMENTS, Source, run_ids_of
from vlmlab.core.revelio.attribution import (
    NOT_RECOGNISED,
    REASONING,
    RECOGNISED,
    STEPS,
    Call,
    FlagGroup,
    Recognition,
    StepName,
    Waterfall,
    waterfall,
)
from vlmlab.core.revelio.types import Verdict
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.verdicts.regimes import Recognition as ConceptRecognition
from vlmlab.core.verdicts.regimes import recognise

FLAG_GROUPS: Mapping[str, FlagGroup] = {
    SceneFlagKind.NOISE: "artefact",
    SceneFlagKind.OTHER: "artefact",
    SceneFlagKind.ANSWER: "rule",
    SceneFlagKind.QUESTION: "rule",
}
TITLES: Mapping[StepName, tuple[str, str]] = {
    "call_error": ("Call errors", "no answer came; outside every rate"),
    "right": ("Right answers", "the expected option"),
    "invalid": ("Invalid answers", "no single option was named, or the reply was cut"),
    "artefact": ("Picture at fault", "a person flagged the scene as noise, or otherwise"),
    "rule": ("Rule or question at fault", "a person flagged the expected answer or the question"),
    "recognition": ("Recognition", "statements about what the scene shows were judged wrong"),
    "unclear": ("Recognition unclear", "statements were neither mostly right nor mostly wrong"),
    "not_probed": ("Not probed", "nobody asked whether the scene was recognised"),
    "under-reaction": ("Under-reaction", "recognised; the mildest action although more was needed"),
    "insufficient": ("Insufficient reaction", "recognised; too mild, but not the mildest"),
    "over-reaction": ("Over-reaction", "recognised; more than was needed"),
    "missed-hazard": ("Missed hazard", "recognised; a hazard was called safe"),
    "over-caution": ("Over-caution", "recognised; called a hazard without need"),
    "other": ("Wrong, no direction", "recognised; the answer has no direction"),
}
LEAST_REPLIES = 10


@dataclass(frozen=True)
class StepLine:
    """One step of the waterfall.

    Attributes:
        calls: in this step.
        left: wrong answers that are left before it; the calls before it for the first two steps.
        share, low, high: part of the wrong answers, with its exact 95 % interval; None for the first two.
    """

    name: StepName
    title: str
    help: str
    calls: int
    left: int
    share: float | None
    low: float | None
    high: float | None

    @property
    def is_reasoning(self) -> bool:
        """Whether it is one of the reasoning errors."""
        return self.name in REASONING


@dataclass(frozen=True)
class AttributionPage:
    """The waterfall with how recognition was judged.

    Attributes:
        lines: steps with calls, and the fixed ones without.
        by_scene, by_set, by_concept: wrong answers whose recognition was judged by statements about the very
            scene, about other scenes of the same set, or about its concepts in other sets.
    """

    found: Waterfall
    lines: list[StepLine]
    by_scene: int
    by_set: int
    by_concept: int
    flagged: int


def attribution_page(scope: Scope, source: Source = "all") -> AttributionPage:
    """Return the place of every call (three queries)."""
    run_ids = run_ids_of(scope, source)
    rows = Sample.objects.filter(run__in=run_ids).exclude(trial__variant=STATEMENTS)
    rows = rows.exclude(verdict=StoredVerdict.INCOMPATIBLE).order_by("pk")
    fields = ("pk", "trial__key", "run_id", "trial__block", "number", "verdict", "answer_status", "direction")
    flags = _flags(run_ids)
    seen = _Seen(replies(scope.follow_ups))
    calls, ways, flagged = [], dict.fromkeys(("scene", "set", "concept", ""), 0), 0
    for pk, key, run_id, block, number, verdict, status, direction in rows.values_list(*fields):
        is_invalid, flag = status == "invalid", flags.get(pk, "")
        way = ""
        recognition: Recognition = ""
        if verdict == StoredVerdict.FAIL and not is_invalid and not flag:
            way, recognition = seen.judge(tuple(key.split(KEY_SEPARATOR)), (run_id, block, number))
        ways[way] += 1
        flagged += bool(flag)
        calls.append(Call(Verdict(verdict), is_invalid, direction, flag, recognition))
    found = waterfall(calls)
    return AttributionPage(found, _lines(found), ways["scene"], ways["set"], ways["concept"], flagged)


class _Seen:
    """Whether a system recognised what it was shown, from the nearest statements there are."""

    def __init__(self, said: Iterable[Reply]) -> None:
        self._by_scene: dict[tuple[Key, int, str, int], bool] = {}
        by_set: dict[Key, list[Reply]] = defaultdict(list)
        rows = list(said)
        for one in rows:
            is_right = all(statement.said is statement.is_true for statement in one.said)
            self._by_scene[one.key, one.run_id, one.block, one.number] = is_right
            by_set[one.key].append(one)
        self._by_set = {key: recognise(one.said for one in own) for key, own in by_set.items()}
        everywhere = recognise(one.said for one in rows)
        self._by_concept = {
            concept: seen for concept, seen in everywhere.items() if seen.replies >= LEAST_REPLIES
        }

    def judge(self, key: Key, scene: tuple[int, str, int]) -> tuple[str, Recognition]:
        """Return by which statements a wrong answer is judged, and how."""
        here = self._by_scene.get((key, *scene))
        if here is not None:
            return "scene", "right" if here else "wrong"
        for way, seen in (("set", self._by_set.get(key, {})), ("concept", self._by_concept)):
            found = weakest(key, seen)
            if found:
                return way, found
        return "", ""


def weakest(key: Key, seen: Mapping[str, ConceptRecognition]) -> Recognition:
    """Return what the least recognised concept of a set says; "" where none was asked about.

    One concept at or below ``NOT_RECOGNISED`` is enough for ``wrong``; for ``right`` every concept must have
    been asked about and be at or above ``RECOGNISED``.
    """
    values = [one.value for concept in key if (one := seen.get(concept)) is not None]
    known = [value for value in values if value is not None]
    if not known:
        return ""
    if min(known) <= NOT_RECOGNISED:
        return "wrong"
    return "right" if len(known) == len(key) and min(known) >= RECOGNISED else "unclear"


def _flags(run_ids: Sequence[int]) -> dict[int, FlagGroup]:
    """Return what excludes each flagged sample; what is wrong with the picture comes first."""
    rows = SceneFlag.objects.filter(
        sample__run__in=run_ids, withdrawn_at=None, kind__in=list(FLAG_GROUPS)
    ).values_list("sample_id", "kind")
    found: dict[int, FlagGroup] = {}
    for sample_id, kind in rows:
        group = FLAG_GROUPS[kind]
        if group == "artefact" or sample_id not in found:
            found[sample_id] = group
    return found


def _lines(found: Waterfall) -> list[StepLine]:
    lines = []
    left = found.calls
    for name in STEPS:
        count = found.counts[name]
        is_cause = name not in ("call_error", "right")
        if count or name not in REASONING:
            title, words = TITLES[name]
            interval = found.interval(name) if is_cause and found.fails else None
            lines.append(
                StepLine(
                    name,
                    title,
                    words,
                    count,
                    left,
                    found.share(name) if is_cause else None,
                    interval.low if interval else None,
                    interval.high if interval else None,
                )
            )
        left -= count
    return lines
