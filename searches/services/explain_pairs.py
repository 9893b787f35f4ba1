"""Pairs of concepts: the published lift, an interaction with an interval, and tests made for a pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from searches.models import FollowUpItem
from searches.services.explain_scopes import Scope
from searches.services.explain_sets import Source, measured_sets
from vlmlab.core.errors import ConceptError
from vlmlab.core.revelio.published import PairRow, published
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.verdicts.concept_rates import Pair, mean_rate
from vlmlab.core.verdicts.interact import INTERACTION_WORDS
from vlmlab.core.verdicts.pair_effects import PairEffect, pair_effects
from vlmlab.core.verdicts.regimes import MeanRate
from vlmlab.web.numbers import write_decimals, write_percent

LISTED = 12
MOST_CHARTED = 30


@dataclass(frozen=True)
class CellTest:
    """A designed test of a pair.

    Attributes:
        item: with its campaign; ``numbers`` are those of the core's search.
        pair: the two concepts, in alphabetical order.
    """

    item: FollowUpItem
    pair: Pair

    @property
    def title(self) -> str:
        """What it says, in words; how far it is while it works."""
        words = {str(name): text for name, text in INTERACTION_WORDS.items()}
        return words.get(self.item.state, self.item.state.capitalize()) or f"{self.item.n} scenes so far"

    @property
    def numbers(self) -> str:
        """The interaction on the scale of probabilities with its interval; "" without one."""
        found = self.item.numbers.get("interaction") or {}
        one = found.get("additive")
        if not one:
            return ""
        level = write_percent(found["level"])
        span = f"{write_decimals(one['low'])} to {write_decimals(one['high'])}"
        scale = ", depends on the scale" if found.get("depends_on_scale") else ""
        return f"{write_decimals(one['value'])} ({level}: {span}), {found['n']} scenes a cell{scale}"


@dataclass(frozen=True)
class PairLine:
    """A pair with what the sets of the search say, and the tests that were made for it."""

    effect: PairEffect
    labels: tuple[str, str]
    tests: tuple[CellTest, ...]

    @property
    def words(self) -> str:
        """Both concepts."""
        return " + ".join(self.labels)


@dataclass(frozen=True)
class PublishedPair:
    """A row of the papers' Table 15 or 16."""

    row: PairRow
    words: str


@dataclass(frozen=True)
class PairPage:
    """All pairs of an explanation.

    Attributes:
        lines: every pair in enough sets, the largest lift first.
        synergy: pairs whose interaction surely is above none, the strongest first.
        interference: those surely below, the strongest first.
        overall: mean failure rate of all sets; None of no sets.
        tests: designed tests of pairs that no line shows.
        too_few: pairs in fewer sets.
    """

    lines: list[PairLine]
    synergy: list[PairLine]
    interference: list[PairLine]
    overall: MeanRate
    no_effect: float | None
    tests: list[CellTest]
    too_few: int
    published: list[PublishedPair]
    table: int

    @property
    def charted(self) -> list[PairLine]:
        """Lines for a chart: the largest and the smallest lifts."""
        if len(self.lines) <= MOST_CHARTED:
            return self.lines
        return [*self.lines[: MOST_CHARTED // 2], *self.lines[-MOST_CHARTED // 2 :]]


def pair_page(scope: Scope, *, least_sets: int = 10, source: Source = "all", level: float = 0.95) -> PairPage:
    """Return every pair that enough sets contain, with its designed tests (three queries)."""
    sets = measured_sets(scope, source)
    overall = mean_rate(sets)
    tests = _tests(scope)
    effects = pair_effects(sets, least_sets=least_sets, level=level)
    lines = [_line(one, tests.get(one.pair, ()), scope.domain) for one in effects]
    seen = {one.pair for one in effects}
    table, rows = _published(scope.domain)
    every = {pair for one in sets for pair in combinations(sorted(one.key), 2)}
    return PairPage(
        lines=lines,
        synergy=_sure(lines, "synergy"),
        interference=_sure(lines, "interference"),
        overall=overall,
        no_effect=None if overall.value is None else overall.value**2 - overall.value,
        tests=[one for pair, own in sorted(tests.items()) if pair not in seen for one in own],
        too_few=len(every - seen),
        published=rows,
        table=table,
    )


def _sure(lines: Sequence[PairLine], direction: str) -> list[PairLine]:
    sign = 1.0 if direction == "synergy" else -1.0
    sure = [
        (sign * line.effect.interaction.value, line)
        for line in lines
        if line.effect.interaction is not None and line.effect.interaction.direction == direction
    ]
    return [line for _, line in sorted(sure, key=lambda one: -one[0])][:LISTED]


def _line(effect: PairEffect, tests: Sequence[CellTest], domain: Domain) -> PairLine:
    first, second = (_label(one, domain) for one in effect.pair)
    return PairLine(effect, (first, second), tuple(tests))


def _label(concept: str, domain: Domain) -> str:
    return domain.concept(concept).label if concept in domain.index else concept


def _tests(scope: Scope) -> Mapping[Pair, tuple[CellTest, ...]]:
    ids = [run.pk for run in scope.follow_ups if run.campaign.kind == "interact"]
    found: dict[Pair, list[CellTest]] = {}
    rows = FollowUpItem.objects.filter(run__in=ids).select_related("campaign", "run") if ids else []
    for item in rows:
        pair = _pair_of(item)
        if pair is not None:
            found.setdefault(pair, []).append(CellTest(item, pair))
    return {pair: tuple(own) for pair, own in found.items()}


def _pair_of(item: FollowUpItem) -> Pair | None:
    """Return the two concepts of a designed test: what its settings name, else its set."""
    settings = item.spec.get("settings", {})
    named = settings.get("pair") or [settings[name] for name in ("first", "second") if name in settings]
    named = named or item.concepts
    if len(named) != 2:
        return None
    first, second = sorted(str(one) for one in named)
    return first, second


def _published(domain: Domain) -> tuple[int, list[PublishedPair]]:
    tables = {"driving": (15, published().table_15), "indoor": (16, published().table_16)}
    number, rows = tables.get(domain.slug, (0, ()))
    found = []
    for row in rows:
        try:
            names = [domain.canonical((one,))[0] for one in (row.a, row.b)]
        except ConceptError:
            names = [row.a, row.b]
        found.append(PublishedPair(row, " + ".join(_label(one, domain) for one in names)))
    return number, found
