"""Test cases are shown to other systems: the clean picture, their input, a random strategy, fresh draws."""

import pytest

from searches.charts.case_transfers import transfer_chart
from searches.enums import AnswerKind, RunState
from searches.models import SutRecord
from searches.services.case_transfers import transfer_matrix
from searches.services.case_wishes import most_answers, regress_cases_wish, transfer_cases_wish
from searches.services.families import FamilyWish, create_family, read_pins
from tests.factories import make_sut
from tests.searches.case_engine import cases_of, find_cases, follow, only
from tests.searches.engine import advance
from tests.searches.modality_engine import (
    CHEAP,
    FAR_OFF,
    RIGHT,
    advance_all,
    breaks_now_and_then,
    breaks_when_misspelt,
    never_breaks,
    never_right,
)
from vlmlab.core.errors import VlmLabError
from vlmlab.core.verdicts.case_draws import FIRST_FRESH, Part, number_of
from vlmlab.core.verdicts.config import RegressConfig
from vlmlab.core.verdicts.regress import counts_between

pytestmark = pytest.mark.django_db


def test_a_case_fails_on_one_system_and_holds_on_another():
    cases = cases_of(find_cases(n=2))
    weak, strong = breaks_now_and_then(share=1.0, seed=9), never_breaks()
    follow_up = follow(transfer_cases_wish(cases, [weak, strong], has_random=False))

    advance_all(follow_up)

    states = {run.sut_id: [item.state for item in run.items.all()] for run in follow_up.runs.all()}
    assert states == {weak.pk: ["fails", "fails"], strong.pk: ["holds", "holds"]}
    run = follow_up.runs.get(sut=weak)
    assert run.ending == "2 cases in 4 answers: 2 fail here."
    rows = run.case_samples.order_by("item", "number").values_list("item__order", "number", "image_sha256")
    clean = [case.modality_run.picture.image_sha256 for case in cases]
    assert [row for row in rows if row[1] == number_of(Part.EXACT, 0)] == [
        (order, number_of(Part.EXACT, 0), case.image_sha256) for order, case in enumerate(cases)
    ]
    shown_clean = [row[2] for row in rows if row[1] == number_of(Part.CLEAN, 0)]
    assert len(shown_clean) == len(clean) == 2


def test_a_system_that_does_not_find_the_clean_picture_is_not_asked_further():
    cases = cases_of(find_cases())
    follow_up = follow(transfer_cases_wish(cases, [never_right()], draws=3))

    advance_all(follow_up)

    run = follow_up.runs.get()
    item = run.items.get()
    assert (item.state, item.reason, item.n) == ("ineligible", "clean", 0)
    assert (run.n_inferences, run.case_samples.count()) == (1, 1)


def test_a_random_strategy_spends_the_same_budget_on_as_many_operators():
    [case] = cases_of(find_cases(excluded_operators=only(*CHEAP)))
    follow_up = follow(transfer_cases_wish([case], [never_breaks()]))

    advance_all(follow_up)

    run = follow_up.runs.get()
    random = run.case_samples.get(number=number_of(Part.RANDOM, 0))
    assert run.items.get().numbers["parts"] == {"clean": "pass", "exact": "pass", "random": "pass"}
    assert random.draw_seed is not None
    assert random.image_sha256 not in (case.image_sha256, case.modality_run.picture.image_sha256)


def test_a_system_with_words_of_its_own_is_asked_in_them_with_the_same_operators():
    typos = {"regimes": ("text",), "excluded_operators": only("keyboard_typo")}
    [case] = cases_of(find_cases(breaks_when_misspelt(), **typos))
    template = "Show me {targets} in the picture, now."
    rules = [{"prompt_contains": ["Show me the bus in the picture, now."], "answer": RIGHT}]
    params = {"default": FAR_OFF, "rules": rules, "asking": {"localization_template": template}}
    follow_up = follow(transfer_cases_wish([case], [make_sut(params=params)], has_random=False))

    advance_all(follow_up)

    clean, exact = follow_up.runs.get().case_samples.order_by("number")
    assert clean.prompt.startswith("Show me the bus in the picture, now.")
    assert follow_up.runs.get().items.get().state == "fails"
    assert exact.prompt != clean.prompt
    assert exact.image_sha256 == case.image_sha256


def test_cases_of_one_seed_image_share_its_clean_question(asked):
    campaign = find_cases(replicates=2)
    cases = cases_of(campaign)
    assert len(cases) == 2
    asked.clear()
    follow_up = follow(transfer_cases_wish(cases, [never_breaks()], has_random=False))

    advance_all(follow_up)

    run = follow_up.runs.get()
    assert run.case_samples.filter(number=number_of(Part.CLEAN, 0)).count() == 2
    assert len(asked) == run.n_calls == 1 + len({case.image_sha256 for case in cases})


def test_both_systems_of_a_regression_see_the_same_inputs():
    cases = cases_of(find_cases(n=2))
    old, new = breaks_now_and_then(share=1.0, seed=1), never_breaks()
    family = create_family(FamilyWish("Buses", old), read_pins(cases=[case.pk for case in cases]), by=None)
    wish = regress_cases_wish(family, config=RegressConfig(scenes=4), suts=[old, new], run_seed=77)
    assert most_answers(wish) == 2 * 2 * (2 + 4)
    follow_up = follow(wish)

    advance_all(follow_up)

    before, after = (follow_up.runs.get(sut=one) for one in (old, new))
    columns = ("item__order", "number", "image_sha256", "prompt", "draw_seed")
    seen = [list(run.case_samples.order_by(*columns[:2]).values_list(*columns)) for run in (before, after)]
    assert seen[0] == seen[1]
    assert sum(row[1] >= FIRST_FRESH for row in seen[0]) == 2 * 4
    for older, newer in zip(before.items.all(), after.items.all(), strict=True):
        counts = counts_between(older.numbers, newer.numbers)
        assert (counts.n, counts.first, counts.second) == (4, 4, 0)
        assert older.member_id == newer.member_id is not None


def test_a_single_scene_a_case_compares_its_own_input():
    cases = cases_of(find_cases())
    old, new = breaks_now_and_then(share=1.0, seed=1), never_breaks()
    family = create_family(FamilyWish("Bus", old), read_pins(cases=[cases[0].pk]), by=None)
    follow_up = follow(regress_cases_wish(family, config=RegressConfig(scenes=1), suts=[old, new]))

    advance_all(follow_up)

    items = [follow_up.runs.get(sut=one).items.get() for one in (old, new)]
    counts = counts_between(items[0].numbers, items[1].numbers)
    assert (counts.n, counts.first_only, counts.second_only) == (1, 1, 0)


def test_a_failed_call_is_asked_again_a_few_times():
    cases = cases_of(find_cases())
    follow_up = follow(transfer_cases_wish(cases, [never_breaks(call_error_rate=1.0)], has_random=False))

    for run in follow_up.runs.all():
        advance(run)

    run = follow_up.runs.get()
    item = run.items.get()
    assert (item.state, item.reason) == ("undetermined", "unanswered")
    assert list(run.case_samples.values_list("status", flat=True)) == [AnswerKind.CALL_ERROR] * 3
    assert (run.state, run.n_inferences, run.n_call_errors) == (RunState.SUCCEEDED, 0, 3)


@pytest.mark.parametrize(("cases", "suts", "field"), [(0, 1, "cases"), (1, 0, "suts")])
def test_nothing_to_transfer_is_said_at_its_field(cases, suts, field):
    found = cases_of(find_cases())[:cases]

    with pytest.raises(VlmLabError) as refused:
        transfer_cases_wish(found, [never_breaks()][:suts])

    assert refused.value.field == field


def test_the_system_on_which_a_case_was_found_is_asked_anew_and_not_its_cache(asked):
    campaign = find_cases()
    [case] = cases_of(campaign)
    asked.clear()
    follow_up = follow(transfer_cases_wish([case], [case.modality_run.sut], has_random=False))

    advance_all(follow_up)

    run = follow_up.runs.get()
    exact = run.case_samples.get(number=number_of(Part.EXACT, 0))
    clean = run.case_samples.get(number=number_of(Part.CLEAN, 0))
    assert (clean.is_cached, exact.is_cached, len(asked)) == (True, False, 1)
    assert run.items.get().state == "fails"


def test_systems_of_one_name_are_not_counted_as_one():
    cases = cases_of(find_cases(n=2))
    weak, strong = breaks_now_and_then(share=1.0, seed=9), never_breaks()
    SutRecord.objects.filter(pk__in=[weak.pk, strong.pk]).update(name="Model")
    follow_up = follow(transfer_cases_wish(cases, [weak, strong], has_random=False))
    advance_all(follow_up)

    matrix = transfer_matrix(follow_up)

    found_on = cases[0].modality_run.sut.slug
    counts = {target: (cell.fails, cell.n) for (_, target), cell in matrix.cells.items()}
    assert counts == {weak.slug: (2, 2), strong.slug: (0, 2)}
    assert matrix.sources == (found_on,)
    drawn = transfer_chart(matrix, campaign_id=1, address="/").spec["data"][0]
    assert sorted(drawn["x"]) == sorted(f"Model ({one.slug})" for one in (weak, strong))
