"""Pages of test cases show what fresh draws and other systems say, and start both."""

import re

import pytest

from searches.enums import FindingState
from searches.models import Campaign, CaseSample, ModalityCase
from searches.services.case_wishes import confirm_cases_wish, transfer_cases_wish
from searches.services.modality_plans import plan_campaign
from searches.services.seed_plans import SeedPlan
from tests.searches.case_engine import STILL, cases_of, find_cases, follow
from tests.searches.engine import as_new_process
from tests.searches.modality_engine import (
    advance_all,
    breaks_now_and_then,
    make_seed_dataset,
    never_breaks,
    never_right,
    small_config,
)
from vlmlab.core.images import sha256_of
from vlmlab.core.verdicts.case_draws import FIRST_FRESH
from vlmlab.web.roles import Role

from .people import browser_of, statuses
from .test_modality_runs import SEEN_BY, html

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_process():
    as_new_process()
    yield
    as_new_process()


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def confirmed(**config) -> ModalityCase:
    campaign = find_cases(**config)
    advance_all(follow(confirm_cases_wish(campaign)))
    return cases_of(campaign)[0]


def test_a_case_shows_how_its_state_was_reached_with_a_picture_of_each_draw():
    case = confirmed()

    page = html(browser_of(Role.RESEARCHER), case.get_absolute_url())

    text = words(page)
    assert "Found by the search" in text
    assert "Fresh draws" in text
    assert f"{case.fresh_fails}/{case.fresh_n}" in text
    assert "Confirmed" in text
    assert "Asked again, its own input is answered wrongly again." in text
    draws = CaseSample.objects.filter(number__gte=FIRST_FRESH)
    shown = [one for one in draws if f"/modality/draws/{one.pk}.png" in page]
    assert len(shown) == min(12, draws.count()) > 0
    assert "Confirm this case" not in text


def test_all_draws_are_shown_where_they_are_asked_for():
    case = confirmed()
    draws = CaseSample.objects.filter(number__gte=FIRST_FRESH).count()
    browser = browser_of(Role.RESEARCHER)

    first = html(browser, case.get_absolute_url())
    every = html(browser, f"{case.get_absolute_url()}?draws=all")

    assert every.count("/modality/draws/") == draws
    assert (f"Show all {draws} draws" in words(first)) == (draws > 12)


def test_the_picture_of_a_draw_is_the_very_one_that_was_asked():
    confirmed()
    row = CaseSample.objects.filter(number__gte=FIRST_FRESH).first()

    answer = browser_of(Role.RESEARCHER).get(f"/modality/draws/{row.pk}.png")

    assert answer["Content-Type"] == "image/png"
    assert sha256_of(answer.content) == row.image_sha256
    assert statuses(f"/modality/draws/{row.pk}.png") == SEEN_BY
    assert browser_of(Role.RESEARCHER).get("/modality/draws/99999.png").status_code == 404


def test_an_item_shows_everything_that_was_shown_for_it():
    case = confirmed()
    item = case.follow_up_items.get()

    page = html(browser_of(Role.RESEARCHER), f"/follow-ups/{item.campaign_id}/items/{item.pk}/")

    text = words(page)
    assert "Its own input again: IoU" in text
    assert f"Draw {item.n}:" in text
    assert "Evidence against fresh" in text


def test_a_case_whose_operators_draw_nothing_says_so():
    case = confirmed(**STILL)

    text = words(html(browser_of(Role.RESEARCHER), case.get_absolute_url()))

    assert "Its operators draw nothing: one input, answered wrongly again." in text
    assert "Draw 1" not in text
    assert "Draw more" not in text


def test_researchers_start_a_confirmation_from_campaign_and_case():
    campaign = find_cases(n=2)
    case = cases_of(campaign)[0]
    browser = browser_of(Role.RESEARCHER)

    one = browser.post(f"/modality/cases/{case.pk}/confirm/")
    family = browser.post(f"/modality/{campaign.pk}/confirm/", {"most": "5", "max_samples": "40"})

    single, whole = Campaign.objects.filter(kind="confirm").order_by("pk")
    assert (one["Location"], family["Location"]) == (single.get_absolute_url(), whole.get_absolute_url())
    assert (single.config["later_index"], single.items.get().case) == (1, case)
    assert (whole.config["later_index"], whole.config["family_size"]) == (None, 1)
    assert whole.items.get().case != case  # that one is being confirmed already
    assert whole.config["max_samples"] == 40
    allowed = {"": 302, "admin": 302, "researcher": 302}
    asked = statuses(f"/modality/cases/{case.pk}/confirm/", method="post")
    assert asked == {who: allowed.get(who, 403) for who in asked}


def test_what_cannot_be_confirmed_is_said_and_nothing_starts():
    case = confirmed()
    browser = browser_of(Role.RESEARCHER)

    answer = browser.post(f"/modality/cases/{case.pk}/confirm/", follow=True)
    none = browser.post(
        f"/modality/{case.modality_run.campaign_id}/confirm/", {"most": "5", "max_samples": "40"}, follow=True
    )
    wrong = browser.post(
        f"/modality/{case.modality_run.campaign_id}/confirm/", {"most": "0", "max_samples": "40"}, follow=True
    )

    assert f"Case {case.pk} is confirmed already." in words(answer.content.decode())
    assert "No case of this campaign waits to be confirmed." in words(none.content.decode())
    assert "greater than or equal to 1" in words(wrong.content.decode())
    assert Campaign.objects.filter(kind="confirm").count() == 1


def test_a_campaign_counts_its_cases_by_state_and_leads_to_them():
    case = confirmed(n=2)
    campaign = case.modality_run.campaign
    browser = browser_of(Role.RESEARCHER)

    page = html(browser, campaign.get_absolute_url())
    listed = html(browser, f"/modality/{campaign.pk}/runs/?state=confirmed")
    others = html(browser, f"/modality/{campaign.pk}/runs/?state=refuted")

    assert f'href="/modality/{campaign.pk}/runs/?state=confirmed">2</a> of 2' in page
    assert "Confirmation" in words(page)
    assert listed.count('class="pair-thumbs"') == 2
    assert "No run matches" in others


def test_other_systems_are_asked_from_the_form_and_the_matrix_shows_who_fails():
    campaign = find_cases(n=2)
    weak, strong, blind = breaks_now_and_then(share=1.0, seed=4), never_breaks(), never_right()
    browser = browser_of(Role.RESEARCHER)

    form = words(html(browser, f"/modality/{campaign.pk}/transfer/"))
    started = browser.post(
        f"/modality/{campaign.pk}/transfer/",
        {"suts": [weak.pk, strong.pk, blind.pk], "most": "10", "draws": "0", "has_random": "on"},
    )
    follow_up = Campaign.objects.get(kind="transfer")
    advance_all(follow_up)
    page = html(browser, started["Location"])

    assert "Answers 18" in form  # two cases, three systems: clean, own input and a random strategy
    text = words(page)
    assert "2 of 4 cases that count fail where they were asked; 2 not eligible." in text
    assert "Which cases fail elsewhere" in text
    assert "100 % (2/2)" in page
    assert "0 % (0/2)" in page
    assert "Not eligible" in text
    case = cases_of(campaign)[0]
    elsewhere = words(html(browser, case.get_absolute_url()))
    assert "On other systems" in elsewhere
    assert "wrong without a perturbation already" in elsewhere


def test_a_refused_transfer_keeps_what_was_entered():
    campaign = find_cases()
    never_breaks()
    browser = browser_of(Role.RESEARCHER)

    answer = browser.post(f"/modality/{campaign.pk}/transfer/", {"most": "7", "draws": "1000"})

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Choose at least one system." in page
    assert 'value="1000"' in page
    assert 'value="7"' in page
    assert Campaign.objects.filter(kind="transfer").count() == 0


def test_a_follow_up_of_cases_takes_the_same_queries_for_any_number_of_cases(django_assert_max_num_queries):
    counts = []
    for n in (1, 3):
        CaseSample.objects.all().delete()
        campaign = find_cases(dataset=make_seed_dataset(f"seeds-{n}", n=n), n=n)
        follow_up = follow(transfer_cases_wish(cases_of(campaign), [never_breaks()]))
        advance_all(follow_up)
        browser = browser_of(Role.RESEARCHER)
        with django_assert_max_num_queries(40) as taken:
            browser.get(follow_up.get_absolute_url())
        counts.append(len(taken))

    assert counts[0] == counts[1]


def test_the_estimate_of_a_campaign_says_what_confirming_takes_at_most():
    plan = SeedPlan(seed=1, n_seed_images=3, confirm_most=2)
    estimate = plan_campaign(small_config(), plan, suts=[never_breaks()], dataset=make_seed_dataset(n=3))

    assert (estimate.n_runs, estimate.most_confirming) == (3, 2 * 101)


def test_states_in_lists_stand_only_where_draws_settled_something():
    campaign = find_cases()
    page = html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/runs/")
    ModalityCase.objects.update(state=FindingState.REFUTED, settled_at=campaign.created_at)
    settled = html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/runs/")

    assert 'class="state refuted' not in page
    assert 'class="state refuted' in settled
