"""Recognition probes: which statement was answered how, and whether statements prime the answer."""

import json

import pytest

from tests.core.verdicts.fresh_answers import run_to_end
from vlmlab.core.revelio.types import Verdict
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.recognition import ask_with_statements, statement_order
from vlmlab.core.stats import PairedCounts, paired_difference
from vlmlab.core.verdicts.config import ProbeConfig
from vlmlab.core.verdicts.follow_ups import FOLLOW_UPS
from vlmlab.core.verdicts.probe import priming, probe_settings, recognition_from
from vlmlab.core.verdicts.queries import FreshOutcome, ItemSpec, fresh_options_seed
from vlmlab.core.verdicts.regimes import Recognition

DRIVING = load_domain("driving")
SET = ("cyclist", "weather_foggy")
RUN_SEED = 9


def search_of(*keys, settings=None, scenes=10):
    items = [
        ItemSpec(n, f"b{n}", key, (), probe_settings(DRIVING, key) if settings is None else settings)
        for n, key in enumerate(keys)
    ]
    return FOLLOW_UPS["probe"].build_search(ProbeConfig(scenes=scenes), items=items, run_seed=RUN_SEED)


def sees_all_but_fog(query):
    """Knows the cyclist, says true of every statement on fog, and fails once it is asked for statements."""
    if not query.variant:
        return FreshOutcome(query, Verdict.PASS)
    seed = fresh_options_seed(RUN_SEED, f"b{query.item}", query.number)
    shown = ask_with_statements(DRIVING, query.key, seed=seed).statements
    said = tuple(one.is_true or one.concept == "weather_foggy" for one in shown)
    return FreshOutcome(query, Verdict.FAIL, statements=said)


def test_recognition_counts_each_statement_under_its_concept():
    search = search_of(SET)

    asked = run_to_end(search, sees_all_but_fog)

    (result,) = search.results()
    assert len(asked) == 20
    assert {name: recognition_from(row) for name, row in result.numbers["recognition"].items()} == {
        "cyclist": Recognition(10, 10, 10, 10, 0, 10),
        "weather_foggy": Recognition(10, 10, 0, 10, 0, 10),
    }
    assert result.numbers["priming"]["only_stated"] == 10
    assert result.numbers["priming"]["p_value"] == pytest.approx(2 / 2**10)
    assert json.loads(json.dumps(result.numbers)) == result.numbers


def test_replies_without_readable_statements_count_as_unanswered_or_not_at_all():
    def answer(query):
        outcome = sees_all_but_fog(query)
        said = {0: (None,) * 4, 1: ()}.get(query.number, outcome.statements)
        return FreshOutcome(query, outcome.verdict, statements=said if query.variant else ())

    search = search_of(SET)
    run_to_end(search, answer)

    cyclist = recognition_from(search.results()[0].numbers["recognition"]["cyclist"])
    assert cyclist == Recognition(8, 9, 8, 9, unanswered=2, replies=9)


def test_recognition_is_that_of_the_scenes_that_count():
    def answer(query):
        outcome = sees_all_but_fog(query)
        is_lost = query.number == 0 and not query.variant
        return FreshOutcome(query, Verdict.CALL_ERROR) if is_lost else outcome

    search = search_of(SET, scenes=3)
    run_to_end(search, answer)

    (result,) = search.results()
    assert result.numbers["numbers"] == [1, 2, 3]
    assert result.numbers["recognition"]["cyclist"]["replies"] == 3


def test_statements_without_text_are_left_out_of_the_order():
    whole = statement_order(SET, seed=4)
    part = statement_order(SET, seed=4, silent=[("cyclist", False)])

    assert sorted(whole) == [
        ("cyclist", False), ("cyclist", True), ("weather_foggy", False), ("weather_foggy", True),
    ]  # fmt: skip
    assert part == tuple(one for one in whole if one != ("cyclist", False))
    assert probe_settings(DRIVING, SET) == {"silent": []}


def test_an_item_with_silent_statements_reads_the_others():
    def answer(query):
        return FreshOutcome(query, Verdict.PASS, statements=(True,) * 3 if query.variant else ())

    search = search_of(SET, settings={"silent": [["cyclist", False]]}, scenes=4)
    run_to_end(search, answer)

    assert recognition_from(search.results()[0].numbers["recognition"]["cyclist"]) == Recognition(
        4, 4, 0, 0, 0, 4
    )


def test_priming_is_the_paired_test_of_both_answers():
    counts = PairedCounts(5, 1, 9, 5)

    one = priming(counts)

    assert (one.p_value, one.difference) == (counts.p_value, paired_difference(counts))
    assert one.p_value == pytest.approx(2 * (1 + 10) / 2**10)
