"""Where the published tables contradict each other, their own rules or arithmetic; all of it is computed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import isclose
from typing import Literal

from vlmlab.core.revelio.feasible import HALF_STEP, bounds_of_mean, retest_is_possible
from vlmlab.core.revelio.published import (
    PAPER_ALGORITHMS,
    ConceptIds,
    ConceptRow,
    Measures,
    PairRow,
    PublishedTables,
    TopSets,
)

Kind = Literal["contradiction", "impossible", "rule", "naming", "weak"]
KIND_TITLES: dict[Kind, str] = {
    "contradiction": "Two tables, two numbers",
    "impossible": "Cannot be, by arithmetic",
    "rule": "Against its own rule",
    "naming": "Named differently",
    "weak": "Weaker than it looks",
}
MEDIUM = "Gemini 3 Flash (medium)"
"""Whose numbers the ablations of Tables 6 to 10 repeat, as their equal cells show."""


@dataclass(frozen=True)
class Inconsistency:
    """One thing in the papers that does not fit.

    Attributes:
        tables: numbers of the tables it concerns, ascending.
        place: row and column.
        sentence: what does not fit, with the numbers.
    """

    kind: Kind
    tables: tuple[int, ...]
    place: str
    sentence: str


def find_inconsistencies(tables: PublishedTables) -> list[Inconsistency]:
    """Return everything that does not fit, by table."""
    found = [one for check in CHECKS for one in check(tables)]
    return sorted(found, key=lambda one: one.tables)


def _retests(tables: PublishedTables) -> Iterator[Inconsistency]:
    scenes = tables.setting.retest_scenes
    for row in tables.table_1:
        for name in PAPER_ALGORITHMS:
            one = row.of(name)
            if retest_is_possible(one, scenes=scenes):
                continue
            beside = retest_is_possible(one, scenes=scenes, has_spread=False)
            said = f"mean {one.mean:g} % and {one.reached} of {one.sets} sets at 80 % or more"
            if beside:
                said = f"standard deviation {one.sd:g}, {said}"
            yield Inconsistency(
                "impossible", (1,), f"{row.domain}, {row.model}, {name}",
                f"{said[0].upper()}{said[1:]}: no {one.sets} sets of {scenes} scenes each have "
                f"{'all three' if beside else 'both'}.",
            )  # fmt: skip


def _spreads(tables: PublishedTables) -> Iterator[Inconsistency]:
    scenes = tables.setting.retest_scenes
    by_n, by_less = 0, 0
    for row in tables.table_1:
        for name in PAPER_ALGORITHMS:
            fits = [retest_is_possible(row.of(name), scenes=scenes, less=(less,)) for less in (0, 1)]
            by_n += fits == [True, False]
            by_less += fits == [False, True]
    if by_n and by_less:
        yield Inconsistency(
            "rule", (1,), "standard deviations",
            f"{by_n} of the rows can only be divided by n, {by_less} only by n - 1: not all are the same.",
        )  # fmt: skip


def _retests_below_threshold(tables: PublishedTables) -> Iterator[Inconsistency]:
    limit = 100.0 * tables.setting.failure_rate_threshold
    cells = [(row, name) for row in tables.table_1 for name in PAPER_ALGORITHMS if name != "random"]
    for domain in ("driving", "indoor"):
        guided = [row.of(name).mean for row, name in cells if row.domain == domain]
        below = sum(mean < limit for mean in guided)
        if below:
            yield Inconsistency(
                "weak", (1,), f"{domain}, beam and gpts",
                f"On fresh scenes the ten top sets fail below the threshold of {limit:g} % on average in "
                f"{below} of {len(guided)} cells: their five screening samples overstated them.",
            )  # fmt: skip


def _few_modes(tables: PublishedTables) -> Iterator[Inconsistency]:
    wanted, sets = tables.setting.retest_sets, tables.setting.sets
    short = [
        (row, name)
        for row in tables.table_2
        for name in PAPER_ALGORITHMS
        if row.of(name).pfm * sets / 100.0 < wanted - 0.5
    ]
    if short:
        domains = " and ".join(
            f"{sum(row.domain == one for row, _ in short)} {one}" for one in ("driving", "indoor")
        )
        yield Inconsistency(
            "weak", (1, 2), "top ten",
            f"In {len(short)} of {3 * len(tables.table_2)} cells ({domains}) PFM of {sets} sets means fewer "
            f"than {wanted} failure modes, so the top ten of Table 1 hold sets that are none.",
        )  # fmt: skip


def _bounds(tables: PublishedTables) -> Iterator[Inconsistency]:
    for table, place, samples, measures in _measured(tables):
        low, high = bounds_of_mean(measures.pfm, tables.setting.failure_rate_threshold, samples)
        if not low - 2 * HALF_STEP <= measures.mfr <= high + 2 * HALF_STEP:
            yield Inconsistency(
                "impossible", (table,), place,
                f"PFM {measures.pfm:g} % with MFR {measures.mfr:g} %: with {samples} samples a set and the "
                f"threshold {tables.setting.failure_rate_threshold:g}, MFR must lie between {low:.1f} and "
                f"{high:.1f} %.",
            )  # fmt: skip


def _measured(tables: PublishedTables) -> Iterator[tuple[int, str, int, Measures]]:
    """Yield table, place, samples a set and measures of every cell with PFM and MFR."""
    m = tables.setting.samples_per_set
    for row in tables.table_2:
        for name in PAPER_ALGORITHMS:
            yield 2, f"{row.domain}, {row.title}, {name}", m, row.of(name)
    for number, width in ((6, tables.table_6), (7, tables.table_7)):
        for label, pfm in width.pfm.items():
            yield number, label, m, Measures(PFM=pfm, MFR=width.mfr[label])
    for number, samples in ((8, tables.table_8), (9, tables.table_9)):
        for algorithm, cells in samples.pfm.items():
            for label, pfm in cells.items():
                measures = Measures(PFM=pfm, MFR=samples.mfr[algorithm][label])
                yield number, f"{algorithm}, {label}", int(label.removeprefix("m")), measures
    for kernel in tables.table_10:
        yield 10, f"{kernel.domain}, {kernel.kernel}", m, Measures(PFM=kernel.pfm, MFR=kernel.mfr)


def _denominators(tables: PublishedTables) -> Iterator[Inconsistency]:
    sets, m = tables.setting.sets, tables.setting.samples_per_set
    step = 100.0 / sets
    odd = [
        (row.domain, row.title, name, row.of(name).pfm)
        for row in tables.table_2
        for name in PAPER_ALGORITHMS
        if not isclose(row.of(name).pfm / step, round(row.of(name).pfm / step), abs_tol=1e-6)
    ]
    for domain, model, name, pfm in odd:
        sizes = [
            n for n in range(20, sets + 1) if round(100.0 * round(pfm * n / 100.0) / n, 2) == round(pfm, 2)
        ]
        nearest = f"the largest number of sets that gives it is {sizes[-1]}" if sizes else "no number does"
        yield Inconsistency(
            "impossible", (2,), f"{domain}, {model}, {name}",
            f"PFM {pfm:g} % is no share of {sets} sets ({sets * m:,} inferences, {m} a set), which go in "
            f"steps of {step:g} %; {nearest}.",
        )  # fmt: skip


def _repeated(tables: PublishedTables) -> Iterator[Inconsistency]:
    """Compare the cells that repeat one setting: Gemini medium, k = 5, m = 5, dot product."""
    for domain, width_table, width, m_table, samples in (
        ("indoor", 6, tables.table_6, 8, tables.table_8),
        ("driving", 7, tables.table_7, 9, tables.table_9),
    ):
        row = next(one for one in tables.table_2 if one.domain == domain and one.title == MEDIUM)
        kernel = next(one for one in tables.table_10 if one.domain == domain and "Dot" in one.kernel)
        for measure in ("pfm", "mfr"):
            beam = {
                2: float(getattr(row.bs, measure)),
                width_table: float(getattr(width, measure)["k=5"]),
                m_table: float(getattr(samples, measure)["bs"]["m5"]),
            }
            gpts = {
                2: float(getattr(row.gpts, measure)),
                m_table: float(getattr(samples, measure)["gpts"]["m5"]),
                10: float(getattr(kernel, measure)),
            }
            for algorithm, cells in (("bs", beam), ("gpts", gpts)):
                yield from _differing(cells, f"{domain}, {MEDIUM}, {algorithm}, {measure.upper()}")


def _differing(cells: dict[int, float], place: str) -> Iterator[Inconsistency]:
    if max(cells.values()) - min(cells.values()) > 2 * HALF_STEP - 1e-9:
        written = ", ".join(f"{value:g} % in Table {table}" for table, value in sorted(cells.items()))
        yield Inconsistency("contradiction", tuple(sorted(cells)), place, f"The same setting: {written}.")


def _transfer(tables: PublishedTables) -> Iterator[Inconsistency]:
    medium = next(one for one in tables.table_3 if one.target == "Gemini (medium)")
    for domain in ("driving", "indoor"):
        retest = next(
            one for one in tables.table_1 if one.domain == domain and one.model == "Gemini (medium)"
        )
        for name in ("bs", "gpts"):
            here = float(getattr(getattr(medium, domain), name))
            there = float(getattr(retest, name).mean)
            if abs(here - there) > 2 * HALF_STEP:
                main = next(one for one in tables.table_2 if one.domain == domain and one.title == MEDIUM)
                mfr = float(getattr(main, name).mfr)
                same = f", but {mfr:g} % is its MFR in Table 2" if abs(mfr - here) < 0.06 else ""
                yield Inconsistency(
                    "contradiction", (1, 3), f"{domain}, Gemini (medium) on itself, {name}",
                    f"{here:g} % in Table 3, {there:g} % in Table 1 for the same top sets on the same "
                    f"model{same}.",
                )  # fmt: skip
        for row in tables.table_3:
            yield from _random_rate(tables, domain, row.target, float(getattr(row, domain).random))


def _random_rate(tables: PublishedTables, domain: str, target: str, rate: float) -> Iterator[Inconsistency]:
    names = {"Gemini (medium)": MEDIUM, "GLM-4.6V-Flash": "GLM-4.6V Flash"}
    wanted = {target, names.get(target, target)}
    row = next((one for one in tables.table_2 if one.domain == domain and one.title in wanted), None)
    if row is not None and abs(row.random.mfr - rate) > 2 * HALF_STEP:
        yield Inconsistency(
            "contradiction", (2, 3), f"{domain}, {target}, random",
            f"Fails at random {rate:g} % of the time in Table 3 and {row.random.mfr:g} % (MFR) in Table 2.",
        )  # fmt: skip


def _diversities(tables: PublishedTables) -> Iterator[Inconsistency]:
    for row in tables.table_2:
        for name in PAPER_ALGORITHMS:
            one = row.of(name)
            modes = round(one.pfm * tables.setting.sets / 100.0)
            if (one.div is None) != (modes < 2):
                yield Inconsistency(
                    "impossible", (2,), f"{row.domain}, {row.title}, {name}",
                    f"Div is {'missing' if one.div is None else f'{one.div:g}'} with {modes} failure modes.",
                )  # fmt: skip


def regime_by_rule(row: ConceptRow) -> str:
    """Return what the rule of Tables 13 and 14 calls a concept: F first, then R."""
    if row.failure < 20.0:
        return "Low-F"
    if row.recognition >= 70.0:
        return "Reasoning"
    return "Recognition" if row.recognition <= 30.0 else "Mixed"


def _regimes(tables: PublishedTables) -> Iterator[Inconsistency]:
    for number, rows in ((13, tables.table_13), (14, tables.table_14)):
        for row in rows:
            rule = regime_by_rule(row)
            if rule != row.regime:
                beside = (
                    " Even without the rule for F it is no Mixed one, because R is at least 70 %."
                    if row.regime == "Mixed" and row.recognition >= 70.0
                    else ""
                )
                yield Inconsistency(
                    "rule", (number,), row.concept,
                    f"Labelled {row.regime} with R {row.recognition:g} % and F {row.failure:g} %; the rule "
                    f"(F below 20 %: Low-F) says {rule}.{beside}",
                )  # fmt: skip


def _pairs(tables: PublishedTables) -> Iterator[Inconsistency]:
    for number, pairs, concepts in (
        (15, tables.table_15, tables.table_13),
        (16, tables.table_16, tables.table_14),
    ):
        rates = {row.concept: row.failure / 100.0 for row in concepts}
        for pair in pairs:
            place = f"{pair.a} with {pair.b}"
            if abs(pair.sfr - pair.base - pair.lift) > 2 * HALF_STEP + 1e-9:
                text = f"Lift {pair.lift:g} is not {pair.sfr:g} - {pair.base:g}."
                yield Inconsistency("impossible", (number,), place, text)
            if pair.a in rates and pair.b in rates:
                base = 100.0 * (1.0 - (1.0 - rates[pair.a]) * (1.0 - rates[pair.b]))
                if abs(base - pair.base) > 3 * HALF_STEP + 1e-9:
                    yield Inconsistency(
                        "contradiction", (number - 2, number), place,
                        f"Base {pair.base:g} % is not {base:.1f} %, which the F of both concepts give.",
                    )  # fmt: skip
        yield from _thin_pairs(number, pairs)


def _thin_pairs(number: int, pairs: Iterable[PairRow]) -> Iterator[Inconsistency]:
    rows = list(pairs)
    thin = [pair for pair in rows if pair.n < 10]
    if thin:
        yield Inconsistency(
            "weak", (number,), "n",
            f"{len(thin)} of {len(rows)} pairs rest on fewer than 10 sets, the fewest on "
            f"{min(pair.n for pair in thin)}; no interval is given.",
        )  # fmt: skip


def _top_sets(tables: PublishedTables) -> Iterator[Inconsistency]:
    for number, blocks in ((11, tables.table_11), (12, tables.table_12)):
        for block in blocks:
            for name in PAPER_ALGORITHMS:
                yield from _repeated_sets(
                    number, block.model, name, [plain_set(one) for one in block.of(name)]
                )
        yield from _nested(number, blocks)
        spelled = sorted({one for block in blocks for one in _spelled_twice(block, blocks)})
        if spelled:
            yield Inconsistency(
                "naming", (number,), "concept ids",
                f"Written with and without a number behind: {', '.join(spelled)}.",
            )  # fmt: skip


def _large_beam_sets(tables: PublishedTables) -> Iterator[Inconsistency]:
    for number, blocks in ((11, tables.table_11), (12, tables.table_12)):
        sizes = [len(plain_set(one)) for block in blocks for one in block.bs]
        large = sum(size > 3 for size in sizes)
        if large:
            yield Inconsistency(
                "rule", (number,), "bs",
                f"{large} of {len(sizes)} sets of the beam have four or five concepts; as printed, the "
                f"algorithm spends its {tables.setting.sets} sets on the first three levels (it would need "
                "about 400).",
            )  # fmt: skip


def plain_set(concepts: ConceptIds) -> frozenset[str]:
    """Return a set without the numbers behind its ids (``far_0`` is ``far``)."""
    return frozenset(_plain(one) for one in concepts)


def _plain(concept: str) -> str:
    stem, _, tail = concept.rpartition("_")
    return stem if stem and tail.isdigit() else concept


def _repeated_sets(number: int, model: str, name: str, sets: list[frozenset[str]]) -> Iterator[Inconsistency]:
    twice = sorted({" + ".join(sorted(one)) for one in sets if sets.count(one) > 1})
    for one in twice:
        yield Inconsistency(
            "contradiction", (number,), f"{model}, {name}",
            f"{one} stands twice among the five, although sets are drawn and searched once each.",
        )  # fmt: skip


def _nested(number: int, blocks: Iterable[TopSets]) -> Iterator[Inconsistency]:
    lists = [[plain_set(one) for one in block.of(name)] for block in blocks for name in ("bs", "gpts")]
    total = sum(len(sets) for sets in lists)
    inside = sum(any(other < one for other in sets) for sets in lists for one in sets)
    if inside:
        yield Inconsistency(
            "weak", (number,), "beam and gpts",
            f"{inside} of {total} listed sets contain another one of the same list: supersets of one cause "
            "count as failure modes of their own.",
        )  # fmt: skip


def _spelled_twice(block: TopSets, blocks: Iterable[TopSets]) -> set[str]:
    everywhere = {
        one for each in blocks for name in PAPER_ALGORITHMS for sets in each.of(name) for one in sets
    }
    mine = {one for name in PAPER_ALGORITHMS for sets in block.of(name) for one in sets}
    return {_plain(one) for one in mine if _plain(one) != one and _plain(one) in everywhere}


def _model_names(tables: PublishedTables) -> Iterator[Inconsistency]:
    for stem in ("GLM", "Qwen"):
        names: dict[str, set[int]] = {}
        for number, models in (
            (1, [row.model for row in tables.table_1]),
            (2, [row.model for row in tables.table_2]),
            (3, [row.target for row in tables.table_3]),
            (11, [block.model for block in tables.table_11]),
            (12, [block.model for block in tables.table_12]),
        ):
            for model in models:
                if model.startswith(stem):
                    names.setdefault(model, set()).add(number)
        if len(names) > 1:
            written = "; ".join(
                f"{name} (Table {', '.join(map(str, sorted(where)))})"
                for name, where in sorted(names.items())
            )
            where = tuple(sorted(set().union(*names.values())))
            yield Inconsistency("naming", where, stem, f"One model has several names: {written}.")


CHECKS: tuple[Callable[[PublishedTables], Iterator[Inconsistency]], ...] = (
    _retests, _spreads, _retests_below_threshold, _few_modes, _bounds, _denominators, _repeated, _transfer,
    _diversities, _regimes, _pairs, _top_sets, _large_beam_sets, _model_names,
)  # fmt: skip
