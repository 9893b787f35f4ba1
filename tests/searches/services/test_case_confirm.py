"""Test cases are confirmed by drawing their operators anew: same seed image, same severities."""

import numpy as np
import pytest

from searches.enums import AnswerKind, FindingState, RunState
from searches.models import CaseSample, SutRecord
from searches.services import case_draws
from searches.services.blobs import StorageError
from searches.services.case_choices import chosen_cases, suspected_cases
from searches.services.case_settling import settle_cases
from searches.services.case_wishes import confirm_cases_wish
from searches.services.runs import cancel_run
from searches.services.slice_ends import SliceEnd
from tests.searches.case_engine import NOISE, STILL, cases_of, find_cases, follow
from tests.searches.engine import advance
from tests.searches.modality_engine import FAR_OFF, advance_all, breaks_now_and_then, start_modality
from vlmlab.core.errors import VlmLabError
from vlmlab.core.stats import confidence_sequence, log_e_above
from vlmlab.core.verdicts.case_draws import FIRST_FRESH, Part, number_of
from vlmlab.core.verdicts.queries import fresh_scene_seed

pytestmark = pytest.mark.django_db


def test_a_case_that_fails_on_every_draw_is_confirmed():
    campaign = find_cases()
    [case] = cases_of(campaign)
    follow_up = follow(confirm_cases_wish(campaign))
    run = follow_up.runs.get()

    end = advance(run)

    item = run.items.get()
    case.refresh_from_db()
    assert (end, run.state) == (SliceEnd.FINISHED, RunState.SUCCEEDED)
    assert (item.state, item.reason, item.fails) == ("confirmed", "crossed", item.n)
    assert item.numbers["parts"] == {"exact": "fail"}
    assert (case.state, case.fresh_fails, case.fresh_n) == (FindingState.CONFIRMED, item.n, item.n)
    assert case.log_e_value == pytest.approx(float(log_e_above(item.n, item.n, threshold=0.6)))
    interval = confidence_sequence(item.n, item.n, case.fresh_level)
    assert (case.fresh_low, case.fresh_high) == pytest.approx((interval.low, interval.high))
    assert (case.family_size, case.fresh_invalid) == (1, 0)
    assert case.settled_at is not None
    assert run.ending == f"1 case in {run.n_inferences} answers: 1 confirmed."


def test_every_draw_is_new_and_seeded_by_block_and_number():
    campaign = find_cases()
    [case] = cases_of(campaign)
    run = follow(confirm_cases_wish(campaign)).runs.get()

    advance(run)

    item = run.items.get()
    exact, *draws = run.case_samples.order_by("number")
    assert exact.number == number_of(Part.EXACT, 0)
    assert (exact.draw_seed, exact.image_sha256, exact.prompt) == (None, case.image_sha256, case.prompt)
    assert [one.number for one in draws] == list(range(FIRST_FRESH, FIRST_FRESH + len(draws)))
    seeds = [fresh_scene_seed(run.run_seed, item.block, number) for number in range(len(draws))]
    assert [one.draw_seed for one in draws] == seeds
    shown = {one.image_sha256 for one in draws}
    assert len(shown) == len(draws)
    assert case.image_sha256 not in shown
    assert all(one.truth == case.truth and one.is_failure for one in draws)


def test_a_case_that_fails_on_few_draws_is_refuted():
    sut = breaks_now_and_then(share=0.3)
    campaign = find_cases(sut, give_up_after=None)
    assert cases_of(campaign)
    run = follow(confirm_cases_wish(campaign)).runs.get()

    advance(run)

    item = run.items.get()
    [case] = cases_of(campaign)
    assert (case.state, item.state) == (FindingState.REFUTED, "refuted")
    draws = run.case_samples.filter(number__gte=FIRST_FRESH, status=AnswerKind.BOXES)
    wrong = [one.is_failure for one in draws]
    assert (case.fresh_fails, case.fresh_n) == (sum(wrong), len(wrong))
    assert case.fresh_fails / case.fresh_n < 0.6
    assert case.fresh_high < 1.0


def test_operators_that_draw_nothing_make_one_input_which_is_no_fresh_evidence():
    campaign = find_cases(**STILL)
    [case] = cases_of(campaign)
    run = follow(confirm_cases_wish(campaign)).runs.get()

    advance(run)

    item = run.items.get()
    case.refresh_from_db()
    assert (item.state, item.reason, item.n) == ("undetermined", "exhausted", 0)
    assert item.numbers["parts"] == {"exact": "fail"}
    draws = run.case_samples.filter(number__gte=FIRST_FRESH)
    assert set(draws.values_list("reading_reason", "status")) == {("same_input", AnswerKind.CALL_ERROR)}
    assert (run.n_inferences, run.n_calls, run.n_call_errors) == (1, 1, 0)  # only its own input, once more
    assert run.n_generation_errors == draws.count()
    assert (case.state, case.fresh_n) == (FindingState.SUSPECTED, None)


def test_the_own_input_is_asked_anew_although_its_answer_is_cached(asked):
    campaign = find_cases(**STILL)
    run = follow(confirm_cases_wish(campaign)).runs.get()
    asked.clear()

    advance(run)

    [request] = asked
    assert request.prompt == cases_of(campaign)[0].prompt
    assert not run.case_samples.get(number=number_of(Part.EXACT, 0)).is_cached


def test_draws_that_are_not_close_enough_are_shown_and_count_neither_way():
    campaign = find_cases()
    [case] = cases_of(campaign)
    campaign.config["max_image_distance"] = case.f2  # about half of the draws lie beyond
    campaign.save()
    run = follow(confirm_cases_wish(campaign)).runs.get()

    advance(run)

    item = run.items.get()
    left_out = run.case_samples.filter(reading_reason="not_close")
    counted = run.case_samples.filter(number__gte=FIRST_FRESH, reading_reason="")
    assert left_out.count() == run.n_generation_errors == item.numbers["incompatible"] > 0
    assert all(one.image_sha256 and one.boxes == [] for one in left_out)
    answered = run.case_samples.filter(number__gte=FIRST_FRESH, status=AnswerKind.BOXES)
    assert item.n == answered.count() >= counted.count()


def test_a_system_that_changed_since_the_search_is_not_asked():
    campaign = find_cases()
    SutRecord.objects.update(params={"default": FAR_OFF})
    run = follow(confirm_cases_wish(campaign)).runs.get()

    advance(run)

    run.refresh_from_db()
    assert (run.state, CaseSample.objects.count()) == (RunState.FAILED, 0)
    assert "is not the system any more in which case" in run.error


def test_cases_of_several_systems_are_one_family_and_settle_as_their_runs_end():
    suts = [breaks_now_and_then(share=1.0, seed=seed) for seed in (1, 2)]
    campaign = start_modality(*suts, n=2, **NOISE)
    advance_all(campaign)
    first, second = follow(confirm_cases_wish(campaign)).runs.order_by("pk")

    advance(first)
    after_first = {(one.modality_run.sut_id, one.state) for one in cases_of(campaign)}
    advance(second)

    confirmed, suspected = FindingState.CONFIRMED, FindingState.SUSPECTED
    assert after_first == {(first.sut_id, confirmed), (second.sut_id, suspected)}
    assert {(one.state, one.family_size) for one in cases_of(campaign)} == {(confirmed, 4)}


def test_settling_again_changes_nothing():
    campaign = find_cases()
    follow_up = follow(confirm_cases_wish(campaign))
    advance(follow_up.runs.get())
    before = cases_of(campaign)[0].settled_at

    settle_cases(follow_up)

    assert cases_of(campaign)[0].settled_at == before


def test_an_input_whose_file_is_gone_is_made_again(monkeypatch):
    campaign = find_cases()
    [case] = cases_of(campaign)

    def gone(sha256):
        raise StorageError("It is gone.")

    monkeypatch.setattr(case_draws, "open_blob", gone)
    run = follow(confirm_cases_wish(campaign)).runs.get()

    advance(run)

    exact = run.case_samples.get(number=number_of(Part.EXACT, 0))
    assert exact.image_sha256 == case.image_sha256
    assert np.allclose(exact.truth, case.truth)


def test_cases_that_are_being_confirmed_or_have_no_fresh_draw_do_not_wait():
    busy, still = find_cases(), find_cases(**STILL)
    confirming = follow(confirm_cases_wish(busy))
    assert list(suspected_cases(busy)) == []
    advance(follow(confirm_cases_wish(still)).runs.get())

    assert list(suspected_cases(still)) == []
    assert cases_of(still)[0].state == FindingState.SUSPECTED
    with pytest.raises(VlmLabError, match="No case of this campaign waits"):
        confirm_cases_wish(still)
    cancel_run(confirming.runs.get(), by=None)
    assert list(suspected_cases(busy)) == cases_of(busy)


def test_cases_of_a_second_confirmation_stand_in_line():
    campaign = find_cases(n=3)
    first, second, third = cases_of(campaign)

    single = confirm_cases_wish([second])
    follow(single)
    family = confirm_cases_wish(campaign, most=1)
    follow(family)
    [taken] = [one.case for _, wishes in family.items for one in wishes]
    last = confirm_cases_wish([one for one in (first, third) if one != taken])

    assert (single.config.later_index, family.config.later_index, family.config.family_size) == (1, None, 1)
    assert taken in (first, third)  # the second one is being confirmed
    stored = follow(last)
    assert (stored.config["later_index"], stored.items.get().spec["settings"]["place"]) == (2, 2)


def test_two_confirmations_of_a_campaign_that_were_wished_at_once_are_one_family_and_a_line():
    campaign = find_cases(n=3)
    wishes = [
        confirm_cases_wish(campaign, most=2, values=values)
        for values in ({"fdr_level": 0.05, "later_share": 0.4}, {"max_samples": 50})
    ]

    first, second = [follow(wish) for wish in wishes]

    assert (first.config["family_size"], first.config["later_index"]) == (2, None)
    assert (second.config["family_size"], second.config["later_index"]) == (2, 1)
    places = [one.spec["settings"]["place"] for one in second.items.order_by("order")]
    assert places == [1, 2]
    assert (second.config["fdr_level"], second.config["later_share"]) == (0.05, 0.4)  # those of the first


@pytest.mark.parametrize(
    ("change", "message"), [({"is_failure": False}, "no failure"), ({}, "several campaigns")]
)
def test_what_cannot_be_confirmed_together_is_refused(change, message):
    found = [cases_of(find_cases())[0], cases_of(find_cases())[0]]
    for name, value in change.items():
        found = found[:1]
        setattr(found[0], name, value)

    with pytest.raises(VlmLabError, match=message):
        confirm_cases_wish(found)


def test_many_cases_are_dealt_over_systems_types_and_regimes():
    campaign = start_modality(*(breaks_now_and_then(share=1.0, seed=one) for one in (1, 2)), n=4, **NOISE)
    advance_all(campaign)

    chosen = chosen_cases(campaign, most=4)

    assert len(cases_of(campaign)) == 8
    cells = {(one.modality_run.sut_id, one.modality_run.stratum) for one in chosen}
    assert len(cells) == len(chosen) == 4  # two systems, two scene types
    assert [one.pk for one in chosen_cases(campaign, most=4)] == [one.pk for one in chosen]


def test_an_older_confirmation_that_settles_late_does_not_speak_over_a_newer_one():
    campaign = find_cases()
    [case] = cases_of(campaign)
    older = follow(confirm_cases_wish(campaign))
    advance(older.runs.get())
    case.state = FindingState.UNDETERMINED  # as if it had decided nothing by then
    case.save()
    later = follow(confirm_cases_wish([case]))
    later.runs.update(state=RunState.SUCCEEDED)
    later.items.update(state="refuted", fails=0, n=40)
    settle_cases(later)

    settle_cases(older)

    case.refresh_from_db()
    assert (case.state, case.fresh_fails, case.fresh_n) == (FindingState.REFUTED, 0, 40)
