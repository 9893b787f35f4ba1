"""Answers of an explanation by what was expected, by the direction of their error, and by their reasons."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count

from searches.enums import Direction, FindingState, TrialStatus, Verdict
from searches.models import Finding, Sample, Trial
from searches.services.explain_scopes import Scope
from searches.services.explain_sets import (
    ANSWERED,
    DECIDED,
    STATEMENTS,
    Source,
    measured_sets,
    run_ids_of,
)
from searches.services.scene_flags import flagged_samples
from vlmlab.core.revelio.reason_words import REASON_TAGS, proposed_tags
from vlmlab.core.verdicts.concept_rates import mean_rate
from vlmlab.core.verdicts.regimes import MeanRate

RIGHT, INVALID, NO_DIRECTION = "right", "invalid", "other"
REASONS_SHOWN = 40
OUTCOMES: Mapping[str, str] = {
    RIGHT: "Right",
    **{value: str(label) for value, label in Direction.choices if value},
    NO_DIRECTION: "Wrong, no direction",
    INVALID: "Invalid",
}


@dataclass(frozen=True)
class ExpectedLine:
    """Everything about the questions with one expected answer, or about all (``action`` is "").

    Attributes:
        outcomes: answers by key of ``OUTCOMES``.
        rate: mean failure rate of the sets with a rate.
        decided, modes: sets that the searches decided, and failing ones among them.
        suspected, confirmed, refuted, undetermined: findings by state.
    """

    action: str
    label: str
    outcomes: Mapping[str, int]
    rate: MeanRate
    decided: int
    modes: int
    suspected: int
    confirmed: int
    refuted: int
    undetermined: int

    @property
    def answers(self) -> int:
        """All answers."""
        return sum(self.outcomes.values())

    @property
    def right(self) -> int:
        """Answers as expected."""
        return self.outcomes.get(RIGHT, 0)

    @property
    def invalid(self) -> int:
        """Answers that named no option."""
        return self.outcomes.get(INVALID, 0)

    @property
    def fails(self) -> int:
        """Wrong and invalid answers."""
        return self.answers - self.right

    @property
    def readable(self) -> int:
        """Answers that named an option."""
        return self.answers - self.invalid

    @property
    def readable_fails(self) -> int:
        """Wrong answers that named an option."""
        return self.fails - self.invalid


@dataclass(frozen=True)
class AnswerPage:
    """What was expected and what was answered.

    Attributes:
        lines: one an expected answer, in the domain's order of severity.
        total: all of them.
        outcomes: keys of ``OUTCOMES`` that occur, in their order.
        has_rates: whether any set has a rate.
    """

    lines: list[ExpectedLine]
    total: ExpectedLine
    outcomes: list[str]
    has_rates: bool

    @property
    def commonest(self) -> ExpectedLine | None:
        """The expected answer with most answers."""
        return max(self.lines, key=lambda line: line.answers, default=None)


@dataclass(frozen=True)
class Reason:
    """A reason of a wrong answer, in the system's own words, with tags that its words propose."""

    sample: Sample
    proposed: tuple[str, ...]


@dataclass(frozen=True)
class ReasonPage:
    """Reasons of wrong answers.

    Attributes:
        reasons: the first of them.
        total: how many there are.
        is_asked: whether any search of the explanation asked for reasons.
        tags: tags that people set on findings, with how many have each.
        proposed: tags that the words of all reasons propose, with how many have each.
    """

    reasons: list[Reason]
    total: int
    is_asked: bool
    tags: list[tuple[str, int]]
    proposed: list[tuple[str, int]]


def answer_page(scope: Scope, source: Source = "all") -> AnswerPage:
    """Return all answers by expected answer (five queries)."""
    run_ids = run_ids_of(scope, source)
    outcomes = _outcomes(run_ids)
    sets = measured_sets(scope, source)
    decided = _decided([run.pk for run in scope.searches])
    states = _states([run.pk for run in scope.runs])
    order = {action: place for place, action in enumerate(scope.domain.actions)}
    seen = {*outcomes, *(action for action, _ in decided), *(action for action, _ in states)} - {""}
    lines = [
        ExpectedLine(
            action=action,
            label=scope.domain.actions.get(action, action),
            outcomes=dict(outcomes.get(action, {})),
            rate=mean_rate(one for one in sets if one.expected_action == action),
            decided=decided[action, ""],
            modes=decided[action, TrialStatus.DECIDED_FAIL],
            suspected=states[action, FindingState.SUSPECTED],
            confirmed=states[action, FindingState.CONFIRMED],
            refuted=states[action, FindingState.REFUTED],
            undetermined=states[action, FindingState.UNDETERMINED],
        )
        for action in sorted(seen, key=lambda one: (order.get(one, len(order)), one))
    ]
    total = _total(lines, mean_rate(sets))
    return AnswerPage(
        lines=lines,
        total=total,
        outcomes=[name for name in OUTCOMES if total.outcomes.get(name)],
        has_rates=bool(sets),
    )


def reason_page(scope: Scope, *, limit: int = REASONS_SHOWN) -> ReasonPage:
    """Return the reasons of wrong answers, the newest runs first (three queries)."""
    runs = [run.pk for run in scope.runs]
    rows = Sample.objects.filter(run__in=runs, verdict=Verdict.FAIL).exclude(reason_text="")
    texts = list(rows.values_list("reason_text", flat=True))
    shown = rows.select_related("trial").order_by("-run_id", "step", "position")[:limit]
    tagged = Finding.objects.filter(run__in=runs).exclude(tags=[]).values_list("tags", flat=True)
    tags = Counter(str(tag) for own in tagged for tag in own)
    proposed = Counter(tag for text in texts for tag in proposed_tags(text))
    return ReasonPage(
        reasons=[Reason(one, proposed_tags(one.reason_text)) for one in shown],
        total=len(texts),
        is_asked=any(run.campaign.config.get("ask_reason") for run in scope.runs),
        tags=tags.most_common(),
        proposed=[(tag.title, proposed[tag.name]) for tag in REASON_TAGS if proposed[tag.name]],
    )


def _outcomes(run_ids: Sequence[int]) -> dict[str, Counter[str]]:
    """Return expected answer -> outcome -> answers, without flagged scenes and primed questions."""
    answered = Sample.objects.filter(run__in=run_ids, verdict__in=ANSWERED)
    flagged = flagged_samples(answered).values("pk")
    rows = answered.exclude(pk__in=flagged).exclude(trial__variant=STATEMENTS).order_by()
    fields = ("expected_action", "verdict", "answer_status", "direction")
    found: dict[str, Counter[str]] = {}
    for action, verdict, status, direction, count in rows.values_list(*fields).annotate(n=Count("pk")):
        found.setdefault(action, Counter())[outcome_of(verdict, status, direction)] += count
    return found


def outcome_of(verdict: str, status: str, direction: str) -> str:
    """Return the one key of ``OUTCOMES`` of an answer."""
    if verdict == Verdict.PASS:
        return RIGHT
    if status == "invalid":
        return INVALID
    return direction if direction in OUTCOMES else NO_DIRECTION


def _decided(run_ids: Sequence[int]) -> Counter[tuple[str, str]]:
    """Return (expected answer, status) -> decided sets, with (expected answer, "") for all of them."""
    rows = Trial.objects.filter(run__in=run_ids, status__in=DECIDED).order_by()
    found: Counter[tuple[str, str]] = Counter()
    for action, status, count in rows.values_list("expected_action", "status").annotate(n=Count("pk")):
        found[action, status] += count
        found[action, ""] += count
    return found


def _states(run_ids: Sequence[int]) -> Counter[tuple[str, str]]:
    rows = Finding.objects.filter(run__in=run_ids).order_by()
    counted = rows.values_list("expected_action", "state").annotate(n=Count("pk"))
    return Counter({(action, state): count for action, state, count in counted})


def _total(lines: Sequence[ExpectedLine], rate: MeanRate) -> ExpectedLine:
    outcomes: Counter[str] = Counter()
    for line in lines:
        outcomes.update(line.outcomes)
    names = ("decided", "modes", "suspected", "confirmed", "refuted", "undetermined")
    sums = {name: sum(getattr(line, name) for line in lines) for name in names}
    empty = ExpectedLine("", "All", dict(outcomes), rate, 0, 0, 0, 0, 0, 0)
    return replace(empty, **sums)
