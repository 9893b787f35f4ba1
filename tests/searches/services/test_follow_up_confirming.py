"""Confirmations settle findings: with the whole family, later suspects in line, and never by mistake."""

import pytest

from searches.enums import RunState
from searches.models import Campaign, Finding
from searches.services.follow_up_families import family_place, fixed_levels
from searches.services.follow_up_settling import settle
from searches.services.follow_up_wishes import confirm_wish
from searches.services.follow_ups import create_follow_up
from searches.services.runs import cancel_run
from searches.services.scene_flags import flag_sample
from tests.factories import make_finding, make_run, make_trial
from tests.searches.engine import advance, scripted
from tests.searches.follow_up_engine import follow, suspects
from vlmlab.core.errors import VlmLabError
from vlmlab.core.stats import log_e_above

pytestmark = pytest.mark.django_db


def confirm(findings, **values) -> Campaign:
    return create_follow_up(confirm_wish(findings, values=values), by=None)


def test_what_fails_is_confirmed_and_what_does_not_is_refuted_with_fresh_counts():
    found = suspects()
    campaign = confirm(found, max_samples=60)
    run = campaign.runs.get()

    advance(run)

    for one in found:
        one.refresh_from_db()
    assert [one.state for one in found] == ["confirmed", "confirmed", "refuted"]
    assert run.ending.startswith("2 confirmed, 1 refuted of 3 sets in ")
    item = campaign.items.get(finding=found[0])
    first = found[0]
    assert (first.fresh_fails, first.fresh_n) == (item.fails, item.n)
    assert (first.fails, first.n) == (4, 5)  # what it was found with stays beside it
    assert 0.6 < first.fresh_low < first.fresh_high <= 1
    assert first.log_e_value > 3
    assert first.family_size == 3
    assert (run.n_modes, run.n_decided, run.n_parked) == (2, 3, 0)


def test_settling_again_changes_nothing():
    found = suspects()
    campaign = confirm(found, max_samples=40)
    advance(campaign.runs.get())
    before = list(Finding.objects.order_by("pk").values())

    settle(campaign)

    assert list(Finding.objects.order_by("pk").values()) == before


def test_the_family_is_that_of_all_systems_and_is_settled_when_the_last_run_ends():
    first = suspects(scripted("one"))
    campaign = first[0].run.campaign
    other = make_run(scripted("two"), campaign=campaign, state="succeeded")
    second = make_finding(make_trial(other, ("cone", "near"), verdicts="FFFFF"))
    made = create_follow_up(confirm_wish(campaign=campaign, values={"inference_budget": 3}), by=None)
    assert made.config["family_size"] == 4
    runs = {run.sut_id: run for run in made.runs.all()}

    advance(runs[first[0].sut_id])
    first[0].refresh_from_db()
    assert first[0].state == "suspected"  # so few decide nothing, and another run may help

    advance(runs[second.sut_id])
    asked = Finding.objects.exclude(fresh_n=None)
    assert set(asked.values_list("state", flat=True)) == {"undetermined"}
    assert sum(one.fresh_n for one in asked) == 6
    not_asked = Finding.objects.filter(fresh_n=None)
    assert set(not_asked.values_list("state", flat=True)) <= {"suspected"}  # nothing new is known of them


def test_suspects_that_come_after_the_family_stand_in_line():
    found = suspects()
    family = confirm(found[:2], max_samples=40)
    advance(family.runs.get())
    root = found[0].run.campaign

    later = confirm(found[2:], max_samples=40)

    assert (later.config["family_size"], later.config["later_index"]) == (2, 1)
    assert later.items.get().spec["settings"]["place"] == 1
    again = family_place(root, 5)
    assert (again.later_index, again.family_size) == (2, 2)
    advance(later.runs.get())
    found[2].refresh_from_db()
    assert found[2].state == "refuted"
    assert family_place(root, 1).later_discoveries == 0


def test_later_confirmations_are_held_to_the_error_rate_and_split_of_the_first():
    found = suspects()
    confirm(found[:2], fdr_level=0.05, later_share=0.4)

    later = confirm(found[2:], fdr_level=0.5, later_share=0.0)

    assert (later.config["fdr_level"], later.config["later_share"]) == (0.05, 0.4)
    retest = confirm(found, protocol="paper", fdr_level=0.5)
    assert retest.config["fdr_level"] == 0.5  # it holds no error rate
    assert fixed_levels(found[0].run.campaign) == {"fdr_level": 0.05, "later_share": 0.4}


def test_a_decided_finding_that_is_tested_again_without_a_decision_stays_decided():
    found = suspects()
    advance(confirm(found, max_samples=60).runs.get())

    advance(confirm(found[:1], max_samples=3).runs.get())

    found[0].refresh_from_db()
    assert found[0].state == "confirmed"
    assert found[0].fresh_n > 3
    assert list(found[0].follow_up_items.values_list("state", flat=True)) == ["confirmed", "undetermined"]


def test_a_confirmation_that_is_ended_early_settles_with_what_it_has():
    found = suspects()
    campaign = confirm(found, max_samples=100, slots=3)
    run = campaign.runs.get()
    advance(run, slice_seconds=0)
    run.refresh_from_db()

    cancel_run(run, by=None)

    found[2].refresh_from_db()
    assert (found[2].state, found[2].fresh_n) == ("undetermined", 1)


def test_findings_of_several_campaigns_are_not_one_family():
    with pytest.raises(VlmLabError, match="several campaigns"):
        confirm_wish([*suspects(), *suspects()])


def test_the_papers_protocol_asks_the_top_sets_and_settles_no_state():
    found = suspects()
    campaign = confirm(found, protocol="paper", paper_top=2, paper_samples=5)
    run = campaign.runs.get()

    advance(run)

    assert campaign.items.count() == 2
    chosen = Finding.objects.filter(fresh_n=5)
    assert chosen.count() == 2
    assert set(chosen.values_list("state", flat=True)) == {"suspected"}
    assert not chosen.exclude(log_e_value=None).exists()


def test_a_system_that_changed_since_is_not_confirmed_unless_a_person_says_so():
    found = suspects()
    found[0].run.checkpoint = {"fingerprint": "another system"}
    found[0].run.save()
    refused = confirm(found, max_samples=20).runs.get()

    advance(refused)

    assert refused.state == RunState.FAILED or refused.state == RunState.PAUSED
    assert "not the system any more that these failure modes were found on" in refused.error
    assert not refused.samples.exists()
    wish = confirm_wish(found, values={"max_samples": 20}, accepts_changed_system=True)
    accepted = create_follow_up(wish, by=None).runs.get()
    advance(accepted)
    assert accepted.state == RunState.SUCCEEDED
    assert accepted.events.filter(level="warning", text__contains="is tested, as was asked for").count() == 1


def test_call_errors_and_flagged_scenes_count_for_nothing():
    found = suspects(scripted(call_error_rate=0.2))
    campaign = confirm(found[:1], max_samples=30)
    run = campaign.runs.get()
    advance(run)
    found[0].refresh_from_db()
    assert run.n_call_errors > 0
    assert found[0].fresh_n == run.n_inferences

    for sample in run.samples.filter(verdict="fail")[:2]:
        flag_sample(sample, ["noise"], by=None)
    settle(campaign)

    before = found[0].fresh_fails, found[0].fresh_n
    found[0].refresh_from_db()
    assert (found[0].fresh_fails, found[0].fresh_n) == (before[0] - 2, before[1] - 2)


def test_a_follow_up_of_nothing_is_refused():
    with pytest.raises(VlmLabError, match="Nothing is left to confirm"):
        confirm_wish([])
    found = suspects()
    with pytest.raises(VlmLabError, match="chosen twice"):
        follow([found[0], found[0]])


def test_an_older_confirmation_that_settles_late_does_not_speak_over_a_newer_one():
    found = suspects()
    older = confirm(found, max_samples=60)
    run = older.runs.get()
    advance(run)
    later = confirm(found[:1], max_samples=60)
    item = later.items.get()
    later.runs.update(state="succeeded")
    later.items.update(state="refuted", fails=1, n=30)
    settle(later)
    found[0].refresh_from_db()
    assert (found[0].state, found[0].fresh_n) == ("refuted", 30)

    settle(older)

    found[0].refresh_from_db()
    assert (found[0].state, found[0].fresh_n) == ("refuted", 30)
    later.items.filter(pk=item.pk).update(state="undetermined", fails=2, n=3)
    settle(older)  # what decides speaks over what does not, in any order
    found[0].refresh_from_db()
    assert found[0].state == "confirmed"


def test_invalid_answers_and_repeated_pictures_are_left_out_with_their_flag():
    found = suspects()
    campaign = confirm(found[:1], max_samples=30)
    run = campaign.runs.get()
    item = campaign.items.get()
    make_trial(run, ("cone", "near"), verdicts="F" * 20 + "IIPP", block=item.block)
    samples = list(run.samples.order_by("step", "position"))
    for number, sample in enumerate(samples):
        sample.image_sha256, sample.told_verdict = f"{min(number, 22):064d}", sample.verdict
        sample.save()
    # the last picture was shown before: a repeat, which the search does not count
    item.fails, item.n, item.numbers = 22, 23, {"invalid": 2}
    item.save()
    run.state = RunState.SUCCEEDED
    run.save()
    for number in (0, 20, 23):
        flag_sample(samples[number], ["noise"], by=None)

    settle(campaign)

    found[0].refresh_from_db()
    assert (found[0].fresh_fails, found[0].fresh_n, found[0].fresh_invalid) == (20, 20, 1)
    assert found[0].log_e_value == pytest.approx(float(log_e_above(20, 20, threshold=0.6)))


def test_flags_before_a_campaign_is_settled_undo_its_decisions_and_flags_after_it_do_not():
    found = suspects()
    campaign = confirm(found, max_samples=60)
    run = campaign.runs.get()
    advance(run)
    for sample in run.samples.filter(verdict="fail", trial__key="cone+near"):
        flag_sample(sample, ["noise"], by=None)

    settle(campaign)
    found[0].refresh_from_db()
    item = campaign.items.get(finding=found[0])
    assert (item.state, item.reason, found[0].state) == ("confirmed", "crossed", "confirmed")
    assert found[0].fresh_n == item.n

    Finding.objects.filter(pk=found[0].pk).update(state="suspected", fresh_n=None, log_e_value=None)
    settle(campaign)  # as if the flags had come before
    item.refresh_from_db()
    found[0].refresh_from_db()
    assert (item.state, item.reason) == ("undetermined", "flagged")
    assert found[0].state == "suspected"  # no scene is left that says anything
