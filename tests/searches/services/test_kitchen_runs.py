"""Every search runs on kitchens: questions of rules, two letters, errors that are named after hazards."""

import pytest

from searches.enums import RunState
from searches.models import SearchRun
from searches.services.domain_store import find_domain
from searches.services.results import exact_convergence
from searches.services.slice_ends import SliceEnd
from tests.factories import make_sut
from tests.searches.engine import FEARFUL, advance, as_new_process, run_digest, start_run
from vlmlab.core.scenes.catalogue import load_domain

pytestmark = pytest.mark.django_db
INDOOR = load_domain("indoor")
SEARCHES = [
    {"algorithm": "random"},
    {"algorithm": "beam"},
    {"algorithm": "beam", "beam_literal": True},
    {"algorithm": "gpts"},
    {"algorithm": "sits", "minimal": False},
    {"algorithm": "sits", "minimal": True},
]


def kitchen_run(**config: object) -> SearchRun:
    return start_run(make_sut(params=FEARFUL), domain_slug="indoor", inference_budget=60, **config)


@pytest.mark.parametrize("config", SEARCHES, ids=lambda one: "-".join(str(value) for value in one.values()))
def test_every_search_spends_its_budget_on_kitchens_and_judges_each_answer(config):
    run = kitchen_run(**config)

    end = advance(run)

    assert (end, run.state) == (SliceEnd.FINISHED, RunState.SUCCEEDED)
    assert run.n_inferences == run.samples.count() == 60
    assert run.campaign.domain_ref == INDOOR.ref
    for sample in run.samples.select_related("trial"):
        key = tuple(sample.trial.concepts)
        decision = INDOOR.decide(key)
        assert INDOOR.why_invalid(key) is None
        assert (sample.expected_action, sample.rule_id) == (decision.action, decision.rule_id)
        assert decision.question in sample.prompt
        assert sample.actions[sample.expected_letter] == decision.action
        wanted = (
            INDOOR.error_direction(decision.action, sample.answered_action)
            if sample.answered_action
            else None
        )
        assert sample.direction == (wanted or "")
        assert sample.collision == {}
    assert exact_convergence(run)[-1].modes == run.n_modes == run.findings.count()


def test_findings_in_kitchens_are_missed_hazards_and_over_caution():
    run = kitchen_run(algorithm="sits")

    advance(run)

    found = list(run.findings.all())
    assert {one.direction for one in found} == {"missed-hazard", "over-caution"}
    for finding in found:
        assert finding.direction == (
            "missed-hazard" if finding.expected_action == "hazard" else "over-caution"
        )
    assert set(run.by_expected) == {"hazard", "safe"}
    assert run.by_expected["safe"]["fails"] > 0


def test_a_kitchen_run_that_is_cut_anywhere_ends_like_one_undisturbed():
    whole, sliced = kitchen_run(algorithm="sits"), kitchen_run(algorithm="sits")
    SearchRun.objects.filter(pk=sliced.pk).update(cache_watermark=0, sut=whole.sut)
    advance(whole)

    while not sliced.is_final:
        as_new_process()
        advance(sliced, slice_seconds=0)

    assert run_digest(sliced) == run_digest(whole)


def test_a_version_that_nobody_kept_is_looked_for_once_and_shown_as_the_lab_comes_with_it(
    django_assert_num_queries,
):
    with django_assert_num_queries(1):
        first = find_domain("indoor@0ddba11c0de5")
        second = find_domain("indoor@0ddba11c0de5")

    assert first is second is INDOOR
