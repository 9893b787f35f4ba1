"""Concepts of an explanation: how often sets with each fail, whether it is recognised, and what both say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from searches.enums import KEY_SEPARATOR
from searches.models import Sample, SearchRun
from searches.services.explain_scopes import Scope
from searches.services.explain_sets import ANSWERED, STATEMENTS, Source, measured_sets
from vlmlab.core.errors import ConceptError
from vlmlab.core.revelio.published import ConceptRow, published
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.verdicts.concept_rates import concept_rates, mean_rate
from vlmlab.core.verdicts.regimes import (
    MeanRate,
    Recognition,
    Regime,
    RegimeReading,
    RegimeThresholds,
    StatementSaid,
    point_regime,
    recognise,
    regime_of,
)

WHY = {
    "": "",
    "too_few": "too few to say",
    "failure_straddles": "the interval of F holds the threshold",
    "recognition_straddles": "the interval of R holds a threshold",
}
REGIME_LABELS: Mapping[Regime, str] = {
    "reasoning": "Reasoning",
    "recognition": "Recognition",
    "mixed": "Mixed",
    "low_f": "Low F",
    "undetermined": "Undetermined",
}


@dataclass(frozen=True)
class Reply:
    """What one reply said of its statements."""

    key: Key
    run_id: int
    block: str
    number: int
    said: tuple[StatementSaid, ...]


@dataclass(frozen=True)
class PublishedLine:
    """A row of the papers' Table 13 or 14, and what its own rule says of its numbers."""

    row: ConceptRow
    rule: Regime

    @property
    def is_against_rule(self) -> bool:
        """Whether the printed regime is not the one that the printed thresholds give."""
        return self.row.regime.lower().replace("-", "_") != self.rule

    @property
    def rule_label(self) -> str:
        """What the thresholds give, in a word."""
        return REGIME_LABELS[self.rule]


@dataclass(frozen=True)
class ConceptLine:
    """One concept.

    Attributes:
        failure: F(c), over all sets with a rate that contain it.
        recognition: from statements about it.
        reading: its regime.
        published: what the paper printed of the same concept, about another system.
    """

    concept: str
    label: str
    failure: MeanRate
    recognition: Recognition
    reading: RegimeReading
    published: PublishedLine | None

    @property
    def regime(self) -> str:
        """Its regime in a word."""
        return REGIME_LABELS[self.reading.regime]

    @property
    def why(self) -> str:
        """Why nothing is said, "" where something is."""
        return WHY[self.reading.why]


@dataclass(frozen=True)
class ConceptPage:
    """All concepts of an explanation.

    Attributes:
        lines: with enough sets, the highest F first.
        left_out: shown in fewer sets, with what is known of them.
        overall: over all sets.
        fresh_sets: how many of the sets were asked on fresh scenes.
        replies: with statements.
        published: rows of the paper for this domain.
        table: number of that table.
    """

    lines: list[ConceptLine]
    left_out: list[ConceptLine]
    overall: MeanRate
    fresh_sets: int
    replies: int
    thresholds: RegimeThresholds
    published: list[PublishedLine]
    table: int

    @property
    def counts(self) -> list[tuple[str, int]]:
        """How many concepts stand in each regime."""
        return [
            (label, sum(line.reading.regime == regime for line in self.lines))
            for regime, label in REGIME_LABELS.items()
        ]

    @property
    def small_counts(self) -> list[tuple[str, int]]:
        """The same for the middle of a sentence, without regimes that no concept has."""
        return [(label[0].lower() + label[1:], count) for label, count in self.counts if count]

    @property
    def against_rule(self) -> list[PublishedLine]:
        """Published rows whose regime is not that of the published thresholds."""
        return [line for line in self.published if line.is_against_rule]


def concept_page(
    scope: Scope, *, thresholds: RegimeThresholds | None = None, source: Source = "all"
) -> ConceptPage:
    """Return F, R and regime of every concept (four queries at most)."""
    at = thresholds or RegimeThresholds()
    sets = measured_sets(scope, source)
    said = replies(scope.follow_ups)
    recognised = recognise(one.said for one in said)
    rates = concept_rates(sets)
    table, rows = published_lines(scope.domain, at)
    by_concept = {line.row.concept: line for line in rows}
    lines = []
    for concept in scope.domain.concepts:
        failure = rates.get(concept.id, MeanRate(None, 0))
        recognition = recognised.get(concept.id, Recognition())
        if failure.sets or recognition.replies:
            reading = regime_of(recognition, failure, at)
            lines.append(
                ConceptLine(
                    concept.id, concept.label, failure, recognition, reading, by_concept.get(concept.id)
                )
            )
    lines.sort(key=lambda line: (-(line.failure.value or 0.0), line.label))
    return ConceptPage(
        lines=[line for line in lines if line.failure.sets >= at.least_sets],
        left_out=[line for line in lines if line.failure.sets < at.least_sets],
        overall=mean_rate(sets),
        fresh_sets=sum(one.is_fresh for one in sets),
        replies=len(said),
        thresholds=at,
        published=rows,
        table=table,
    )


def replies(runs: Sequence[SearchRun]) -> list[Reply]:
    """Return what was said of statements in follow-ups, in the order asked (one query)."""
    ids = [run.pk for run in runs]
    if not ids:
        return []
    rows = Sample.objects.filter(run__in=ids, trial__variant=STATEMENTS, verdict__in=ANSWERED)
    fields = ("trial__key", "run_id", "trial__block", "number", "statements")
    return [
        Reply(tuple(key.split(KEY_SEPARATOR)), run_id, block, number, said_of(statements))
        for key, run_id, block, number, statements in rows.order_by("pk").values_list(*fields)
    ]


def said_of(statements: Iterable[Mapping[str, object]]) -> tuple[StatementSaid, ...]:
    """Return the statements of a stored sample; what was not said stays None."""
    return tuple(
        StatementSaid(
            str(one["concept"]),
            bool(one["is_true"]),
            said if isinstance(said := one.get("said"), bool) else None,
        )
        for one in statements
    )


def published_lines(domain: Domain, thresholds: RegimeThresholds) -> tuple[int, list[PublishedLine]]:
    """Return the number of the paper's table for a domain and its rows under this domain's names.

    (0, []) for a domain that the paper does not have; rows of concepts that the domain does not have are
    left out.
    """
    tables = {"driving": (13, published().table_13), "indoor": (14, published().table_14)}
    number, rows = tables.get(domain.slug, (0, ()))
    found = []
    for row in rows:
        try:
            (name,) = domain.canonical((row.concept,))
        except ConceptError:
            continue
        named = row.model_copy(update={"concept": name})
        found.append(PublishedLine(named, point_regime(row.recognition / 100, row.failure / 100, thresholds)))
    return number, found
