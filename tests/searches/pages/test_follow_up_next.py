"""What pages of follow-ups offer next, and what a follow-up that fills gaps of coverage is called."""

import pytest

from searches.enums import FindingState, RunState
from searches.models import Finding, FollowUpSource
from tests.factories import make_finished_run
from tests.searches.follow_up_factory import make_confirmation, make_follow_up, make_follow_up_run, make_item
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db


def text_of(path: str) -> str:
    return browser_of(Role.RESEARCHER).get(path).content.decode()


def test_what_was_confirmed_can_be_made_minimal_and_pinned_from_its_follow_up():
    campaign = make_confirmation()
    confirmed = Finding.objects.filter(follow_up_items__campaign=campaign, state=FindingState.CONFIRMED)
    numbers = "&amp;".join(
        f"finding={pk}" for pk in confirmed.order_by("size", "pk").values_list("pk", flat=True)
    )

    page = text_of(f"/follow-ups/{campaign.pk}/")

    assert confirmed.exists()
    assert f"?kind=ablate&amp;{numbers}" in page
    assert f"/families/pin/?{numbers}" in page


def test_nothing_is_offered_next_while_a_follow_up_works():
    campaign = make_confirmation()
    campaign.runs.update(state=RunState.RUNNING, finished_at=None)

    page = text_of(f"/follow-ups/{campaign.pk}/")

    assert "kind=ablate" not in page
    assert "/families/pin/" not in page


def test_a_follow_up_shows_settled_and_open_items_together():
    campaign = make_follow_up("confirm", follows=make_finished_run().campaign, config={"family_size": 2})
    run = make_follow_up_run(campaign, state=RunState.RUNNING, finished_at=None)
    make_item(run, ("cone",), verdicts="")
    make_item(run, ("cyclist",), state="refuted")

    path = f"/follow-ups/{campaign.pk}/"
    shown = {
        query: len(browser_of(Role.REVIEWER).get(path + query).context["page"].lines)
        for query in ("", "?state=open", "?state=refuted")
    }

    assert shown == {"": 2, "?state=open": 1, "?state=refuted": 1}


def test_gaps_of_coverage_are_no_transfer():
    campaign = make_follow_up("transfer", follows=make_finished_run().campaign)
    make_item(make_follow_up_run(campaign), ("cone",), state="measured")
    FollowUpSource.objects.update_or_create(campaign=campaign, defaults={"spec": {"purpose": "coverage"}})

    page = text_of(f"/follow-ups/{campaign.pk}/")

    assert "Gaps of coverage" in page
    assert "Show the matrix" not in page
    assert "Gaps of coverage" in text_of("/follow-ups/")
    assert campaign.name not in text_of("/experiments/")
    assert browser_of(Role.REVIEWER).get(f"/experiments/transfer/{campaign.pk}/").status_code == 404
