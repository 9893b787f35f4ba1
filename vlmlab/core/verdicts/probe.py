"""Recognition probes: the same scenes with and without statements, and whether those prime the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.recognition import statement_order
from vlmlab.core.stats import DifferenceInterval, PairedCounts, count_pairs, paired_difference
from vlmlab.core.verdicts.fixed import PASSED, FixedDesignSearch
from vlmlab.core.verdicts.queries import (
    FreshOutcome,
    ItemResult,
    ItemSpec,
    Variant,
    fresh_options_seed,
)
from vlmlab.core.verdicts.regimes import Recognition, StatementSaid, recognise

PROBE_VARIANTS: tuple[Variant, ...] = ("", "statements")


@dataclass(frozen=True)
class Priming:
    """Whether statements before the question change the answer.

    Attributes:
        counts: fails without statements first, with them second, on the same scenes.
        p_value: exact McNemar, two-sided.
        difference: failure rate without minus with statements, at 95 %.
    """

    counts: PairedCounts
    p_value: float
    difference: DifferenceInterval


def probe_settings(domain: Domain, key: Key) -> dict[str, Any]:
    """Return what is stored with the item of a probe: which statements about the set have no text."""
    silent = []
    for concept in key:
        for is_true, text in zip((True, False), domain.statements(key, concept), strict=True):
            if not text:
                silent.append([concept, is_true])
    return {"silent": silent}


def priming(counts: PairedCounts) -> Priming:
    """Return the paired test of answers without and with statements."""
    return Priming(counts, counts.p_value, paired_difference(counts))


class ProbeSearch(FixedDesignSearch):
    """Asks each set on the same scenes without and with statements.

    Args:
        items: sets; settings are those of ``probe_settings``.
        n: scenes a set.
        run_seed: with the block and the number it decides the order of the statements.
        slots: questions asked together, about.
    """

    def __init__(self, items: Sequence[ItemSpec], *, n: int, run_seed: int, slots: int = 8) -> None:
        super().__init__(items, n=n, variants=PROBE_VARIANTS, slots=slots)
        self._run_seed = run_seed
        self._specs = {item.order: item for item in items}
        self._said: dict[int, dict[int, tuple[StatementSaid, ...]]] = {item.order: {} for item in items}

    def _take(self, outcomes: Sequence[FreshOutcome]) -> None:
        super()._take(outcomes)
        for outcome in outcomes:
            if outcome.query.variant == "statements" and outcome.is_answer:
                said = self._said_of(outcome)
                if said:
                    self._said[outcome.query.item][outcome.query.number] = said

    def results(self) -> list[ItemResult]:
        """Return the fixed design's results with recognition by concept and the priming test."""
        return [
            self._with_recognition(spec, result)
            for spec, result in zip(self._specs.values(), super().results(), strict=True)
        ]

    def _said_of(self, outcome: FreshOutcome) -> tuple[StatementSaid, ...]:
        query = outcome.query
        spec = self._specs[query.item]
        silent = frozenset((concept, bool(is_true)) for concept, is_true in spec.settings.get("silent", ()))
        order = statement_order(
            query.key, seed=fresh_options_seed(self._run_seed, spec.block, query.number), silent=silent
        )
        if len(outcome.statements) != len(order):
            return ()
        return tuple(
            StatementSaid(concept, is_true, said)
            for (concept, is_true), said in zip(order, outcome.statements, strict=True)
        )

    def _with_recognition(self, spec: ItemSpec, result: ItemResult) -> ItemResult:
        said = self._said[spec.order]
        kept = [said[number] for number in result.numbers["numbers"] if number in said]
        plain, stated = result.numbers["arms"]
        primed = priming(
            count_pairs(
                (first != PASSED, second != PASSED)
                for first, second in zip(plain["outcomes"], stated["outcomes"], strict=True)
            )
        )
        numbers = {
            **result.numbers,
            "recognition": {
                concept: recognition_row(one) for concept, one in sorted(recognise(kept).items())
            },
            "priming": priming_row(primed),
        }
        return ItemResult(result.state, result.reason, result.fails, result.samples, numbers)


def recognition_row(one: Recognition) -> dict[str, Any]:
    """Return recognition as it is stored; ``recognition_from`` reads it."""
    return {
        "positive_right": one.positive_right,
        "positives": one.positives,
        "negative_right": one.negative_right,
        "negatives": one.negatives,
        "unanswered": one.unanswered,
        "replies": one.replies,
    }


def recognition_from(row: Mapping[str, int]) -> Recognition:
    """Return recognition from its stored row."""
    return Recognition(**row)


def priming_row(one: Priming) -> dict[str, Any]:
    """Return the priming test as it is stored."""
    return {
        "both": one.counts.both,
        "only_plain": one.counts.first_only,
        "only_stated": one.counts.second_only,
        "neither": one.counts.neither,
        "p_value": one.p_value,
        "low": one.difference.low,
        "high": one.difference.high,
    }
