"""Runs on domains that people made or changed: each keeps the version it began with."""

import copy

import pytest

from searches.enums import RunState
from searches.models import Campaign, DomainRecord, DomainVersion, SearchRun
from searches.services.domain_edits import add_domain, save_domain, set_archived
from searches.services.domain_store import (
    current_domain,
    current_domains,
    find_domain,
    keep_domain,
    keep_version,
)
from searches.services.runs import pause_run, resume_run
from tests.factories import make_user
from tests.searches.engine import advance, as_new_process, scripted, start_run
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.catalogue import built_in_content, load_domain
from vlmlab.core.scenes.domain_files import check_content

pytestmark = pytest.mark.django_db


def driving_with(*, slug: str = "driving", **changes):
    """Return the checked driving domain whose first rule says something else."""
    content = copy.deepcopy(built_in_content("driving")) | {"slug": slug, "title": slug.title()}
    content["rules"][0] |= changes
    return check_content(content)


def test_a_run_on_a_built_in_domain_keeps_its_content_once():
    start_run(run_seed=1)
    start_run(run_seed=2)

    kept = DomainVersion.objects.get()
    assert (kept.slug, kept.version, kept.number, kept.content) == (
        "driving",
        load_domain("driving").version,
        1,
        built_in_content("driving"),
    )


def test_a_domain_of_ones_own_is_searched_with_the_embedded_renderer_and_its_own_rule():
    add_domain(driving_with(slug="wet-drive", action="slow_down"), by=None)

    run = start_run(domain_slug="wet-drive", inference_budget=40)
    advance(run)

    domain = current_domain("wet-drive")
    assert (run.state, run.campaign.domain_ref) == (RunState.SUCCEEDED, domain.ref)
    assert run.findings.count() > 0
    for trial in run.trials.all():
        decision = domain.decide(tuple(trial.concepts))
        assert (trial.expected_action, trial.rule_id) == (decision.action, decision.rule_id)
    assert {finding.domain_version for finding in run.findings.all()} == {domain.version}
    near = run.trials.filter(rule_id="R1_obstacle_near").values_list("expected_action", flat=True)
    assert set(near) == {"slow_down"}


def test_a_halted_run_goes_on_with_its_own_version_after_the_domain_was_changed():
    add_domain(driving_with(slug="wet-drive"), by=None)
    sut = scripted()
    whole = start_run(sut, domain_slug="wet-drive", inference_budget=40)
    advance(whole)
    run = start_run(sut, domain_slug="wet-drive", inference_budget=40)
    SearchRun.objects.filter(pk=run.pk).update(cache_watermark=0)
    advance(run, slice_seconds=0)
    run.refresh_from_db()
    pause_run(run, by=None)

    save_domain("wet-drive", driving_with(slug="wet-drive", action="continue"), base="", by=None)
    as_new_process()
    resume_run(run, by=None)
    advance(run)

    assert run.state == RunState.SUCCEEDED
    assert run.campaign.domain_version != current_domain("wet-drive").version
    assert list(run.trials.order_by("order").values_list("key", "expected_action", "fails")) == list(
        whole.trials.order_by("order").values_list("key", "expected_action", "fails")
    )


def test_a_run_on_a_built_in_domain_goes_on_after_a_later_lab_brought_another(monkeypatch):
    run = start_run(inference_budget=40)
    advance(run, slice_seconds=0)
    old = load_domain("driving")
    newer = driving_with(action="continue").domain
    as_new_process()
    monkeypatch.setattr("searches.services.domain_store.load_domain", lambda slug: newer)
    monkeypatch.setattr("searches.services.domain_store.shipped_domain", lambda slug, version: None)

    advance(run)

    assert current_domain("driving").version == newer.version
    assert find_domain(f"driving@{old.version}").version == old.version
    assert run.state == RunState.SUCCEEDED


def test_a_finding_shows_the_version_it_was_found_with_and_its_rule(client):
    add_domain(driving_with(slug="wet-drive", title="The old rule"), by=None)
    run = start_run(domain_slug="wet-drive", inference_budget=40)
    advance(run)
    save_domain("wet-drive", driving_with(slug="wet-drive", title="The new rule"), base="", by=None)
    finding = run.findings.filter(rule_id="R1_obstacle_near").first()

    client.force_login(make_user())
    page = client.get(finding.get_absolute_url()).content.decode()

    assert finding.domain_version in page
    assert "The new rule" not in page


def test_an_archived_domain_is_not_searched():
    add_domain(driving_with(slug="wet-drive"), by=None)
    set_archived("wet-drive", is_archived=True, by=None)

    with pytest.raises(ConceptError, match="is archived"):
        start_run(domain_slug="wet-drive")

    assert Campaign.objects.count() == 0


def test_the_same_content_is_kept_once_and_numbers_go_up():
    first, second = driving_with().content, driving_with(action="continue").content

    numbers = [keep_version(content).number for content in (first, second, first)]

    assert numbers == [1, 2, 1]


def test_keeping_a_domain_of_ones_own_again_stores_nothing():
    add_domain(driving_with(slug="wet-drive"), by=None)

    keep_domain(current_domain("wet-drive"))

    assert DomainVersion.objects.count() == 1


def test_a_version_that_was_looked_for_too_early_is_found_once_another_process_keeps_it():
    checked = driving_with(slug="early-drive")
    ref = f"early-drive@{checked.domain.version}"
    with pytest.raises(ConceptError):
        find_domain(ref)
    DomainVersion.objects.create(  # as another process would, without a word to this one
        slug="early-drive", version=checked.domain.version, number=1, content=checked.content
    )
    DomainRecord.objects.create(slug="early-drive", title="Early drive", version=checked.domain.version)

    assert current_domain("early-drive").version == checked.domain.version
    assert "early-drive" in [one.slug for one in current_domains()]
    assert find_domain(ref).version == checked.domain.version


def test_a_version_that_was_looked_for_too_early_is_found_once_this_process_keeps_it():
    checked = driving_with(title="Kept in time")
    ref = f"driving@{checked.domain.version}"
    assert find_domain(ref) is load_domain("driving")

    keep_version(checked.content)

    assert find_domain(ref).rules[0].title == "Kept in time"
