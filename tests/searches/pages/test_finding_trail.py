"""The page of a finding once follow-ups have looked at it: fresh scenes, drops, recognition, where else."""

import pytest

from searches.models import Finding
from searches.services.finding_trails import drops_of, recognised
from tests.factories import make_finding, make_run, make_sut, make_trial
from tests.searches.follow_up_factory import (
    make_confirmation,
    make_follow_up,
    make_follow_up_run,
    make_item,
    make_suspects,
)
from vlmlab.web.figures import validate_with_plotly
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db

DROPS = [
    {
        "concepts": ["far"], "key": ["cone"], "kind": "comparable", "necessity": "necessary", "n": 40,
        "fails_with": 30, "fails_without": 8, "only_with": 24, "only_without": 2, "p_value": 1e-5,
        "adjusted": 2e-5, "difference": 0.55, "low": 0.33, "high": 0.7, "level": 0.95,
    },
    {
        "concepts": ["cone"], "key": ["far"], "kind": "label_changing", "necessity": "label_changing",
        "why": "Without it the car may go on.",
    },
]  # fmt: skip
RECOGNITION = {
    "positive_right": 18, "positives": 20, "negative_right": 15, "negatives": 20, "unanswered": 1,
    "replies": 20,
}  # fmt: skip


def page_of(finding: Finding, query: str = ""):
    return browser_of(Role.RESEARCHER).get(f"/findings/{finding.pk}/{query}")


def followed(finding: Finding, kind: str, **values: object):
    campaign = make_follow_up(kind, follows=finding.run.campaign)
    run = make_follow_up_run(campaign, finding.sut)
    return make_item(run, tuple(finding.concepts), finding=finding, **values)


def test_fresh_scenes_are_told_apart_from_those_of_the_search():
    finding = make_confirmation().items.first().finding

    page = page_of(finding)
    search = page_of(finding, f"?of={finding.trial_id}")

    assert [source.label for source in page.context["trail"].sources] == [
        "Fresh scenes", "Scenes of the search",
    ]  # fmt: skip
    assert (len(page.context["page"].shown), len(search.context["page"].shown)) == (10, 5)
    text = page.content.decode()
    assert "4 of 5 answered wrongly" in text
    assert "Fresh 9 of 10, 90 %" in text
    assert ("none of them seen by the search" in text) is True
    assert ("none of them seen by the search" in search.content.decode()) is False


def test_the_rate_of_a_confirmed_finding_carries_the_stored_interval():
    item = make_confirmation().items.first()
    Finding.objects.filter(pk=item.finding_id).update(fresh_low=0.62, fresh_high=0.99, fresh_level=0.98)

    page = page_of(item.finding).content.decode()

    assert "<title>9 of 10, 90 %, 98 % interval 62 % to 99 %</title>" in page
    assert "98 % interval 62–99 %" in page


def test_a_later_suspect_is_not_counted_among_the_family_of_its_search():
    item = make_confirmation().items.first()
    Finding.objects.filter(pk=item.finding_id).update(log_e_value=3.0, family_size=12)
    in_family = page_of(item.finding).content.decode()
    item.campaign.config |= {"later_index": 2}
    item.campaign.save()

    later = page_of(item.finding).content.decode()

    assert "one of K = 12 suspects" in in_family
    assert "one of K = 12 suspects" not in later
    assert "found after the family of K = 12 was fixed" in later


def test_the_evidence_is_drawn_against_fresh_scenes_with_the_bar_that_confirms():
    item = make_confirmation().items.first()
    item.numbers |= {
        "trail": [[5, 5, 1.5, -2.5], [10, 9, 4.2, -4.1]], "log_e_needed": 3.4,
        "interval": {"low": 0.6, "high": 0.99, "level": 0.98},
    }  # fmt: skip
    item.save()

    chart = page_of(item.finding).context["chart"]

    validate_with_plotly(chart.spec)
    assert [row[:3] for row in chart.rows] == [(5, 5, 1.0), (10, 9, 0.9)]
    assert [shape["y0"] for shape in chart.spec["layout"]["shapes"]] == [0.6, 1.4766]  # tau; 3.4 / ln 10
    assert "98 % interval" in chart.sentence


def test_drops_of_an_ablation_are_a_table_with_counts_and_p_values():
    finding = make_suspects()[0]
    followed(finding, "ablate", state="minimal", reason="complete", numbers={"drops": DROPS})

    page = page_of(finding)

    assert [(drop.words, drop.n) for drop in page.context["trail"].drops] == [
        ("Necessary", 40), ("Changes the question", 0),
    ]  # fmt: skip
    text = page.content.decode()
    assert '<b class="strong">Necessary</b>' in text
    assert "8/40" in text
    assert "+33 to +70 points" in text
    assert 'title="unadjusted p &lt; 0.001"' in text


def test_recognition_stands_with_true_and_false_statements_apart():
    finding = make_suspects()[0]
    priming = {"both": 10, "only_plain": 5, "only_stated": 1, "neither": 4, "p_value": 0.22}
    item = followed(finding, "probe", numbers={"recognition": {"cone": RECOGNITION}, "priming": priming})
    make_trial(
        item.run, tuple(finding.concepts), verdicts="FFP", block=item.block, variant="statements", order=9
    )

    page = page_of(finding)

    [one] = page.context["trail"].probe.concepts
    assert one.recognition.value == pytest.approx((18 / 20 + 15 / 20) / 2)
    assert one.interval.low < one.recognition.value < one.interval.high
    text = page.content.decode()
    assert ("18 of 20" in text, "15 of 20" in text, "p = 0.22" in text) == (True, True, True)
    assert "With statements 2/3" in " ".join(text.split())


def test_what_is_said_of_statements_stands_at_the_scene():
    finding = make_suspects()[0]
    sample = finding.trial.samples.get(number=0)
    sample.statements = [
        {"text": "A cone is ahead.", "concept": "cone", "is_true": True, "said": True},
        {"text": "It snows.", "concept": "snow", "is_true": False, "said": True},
        {"text": "It is night.", "concept": "night", "is_true": True, "said": None},
    ]
    sample.save()

    text = page_of(finding, "?sample=0").content.decode()

    assert '“A cone is ahead.” <span class="said">true, right</span>' in text
    assert '“It snows.” <span class="said wrong">true, wrong</span>' in text
    assert '“It is night.” <span class="muted">nothing said</span>' in text


def test_an_empty_or_broken_result_shows_nothing():
    assert (drops_of({}), drops_of({"drops": None})) == ([], [])
    assert (recognised({}), recognised({"recognition": []})) == ([], [])


def test_a_smaller_finding_that_explains_it_is_linked_both_ways():
    small, large, _ = make_suspects()
    Finding.objects.filter(pk=large.pk).update(covered_by=small, minimality="reducible")

    large_page, small_page = page_of(large).content.decode(), page_of(small)

    assert f'A smaller set fails as well: <a href="/findings/{small.pk}/">' in large_page
    assert [one.pk for one in small_page.context["trail"].covers] == [large.pk]


def test_follow_ups_on_other_systems_stand_elsewhere():
    finding = make_suspects()[0]
    campaign = make_follow_up("transfer", follows=finding.run.campaign)
    make_item(make_follow_up_run(campaign, make_sut("other")), tuple(finding.concepts), finding=finding)

    page = page_of(finding)

    assert [line.item.run.sut.name for line in page.context["trail"].elsewhere] == ["Other"]
    assert "Transfer, Other" in " ".join(one.label for one in page.context["trail"].sources)


@pytest.mark.parametrize("n_items", [1, 3])
def test_a_finding_takes_the_same_queries_however_often_it_was_followed_up(
    n_items, django_assert_num_queries
):
    finding = make_finding(make_trial(make_run(), ("cone",), verdicts="FFFPF"))
    for _ in range(n_items):
        followed(finding, "confirm")
    client = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(16):
        page = client.get(f"/findings/{finding.pk}/")

    assert len(page.context["trail"].confirms) == n_items


def test_a_reviewer_sees_the_evidence_and_no_button_that_starts_anything():
    finding = make_suspects()[0]

    text = browser_of(Role.REVIEWER).get(f"/findings/{finding.pk}/").content.decode()

    assert "/follow-ups/new/" not in text
    assert "Add the note" in text
