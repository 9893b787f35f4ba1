"""The table of all concept sets of a run: keyset pages, filters, rates."""

import pytest
from django.test import Client

from searches.models import Trial
from tests.factories import make_campaign, make_run, make_trial
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db


def html(client: Client, path: str, **values: object) -> str:
    return client.get(path, **values).content.decode()


@pytest.mark.parametrize("sets", [1, 3])
def test_the_table_of_sets_takes_the_same_queries_for_any_number_of_rows(sets, django_assert_num_queries):
    run = make_run()
    for number in range(sets):
        make_trial(run, ("cone", ("far", "near", "on_lane")[number]))
    client = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(6):  # session, person, navigation, run, sets, pictures
        client.get(f"/runs/{run.pk}/sets/")


def test_a_set_is_listed_without_a_picture_that_is_not_kept():
    run = make_run()
    trial = make_trial(run, verdicts="FF")
    trial.samples.filter(number=0).update(image_sha256="0" * 64)
    client = browser_of(Role.RESEARCHER)

    one_left = html(client, f"/runs/{run.pk}/sets/")
    trial.samples.update(image_sha256="0" * 64)

    assert 'class="thumb"' in one_left
    assert 'class="thumb"' not in html(client, f"/runs/{run.pk}/sets/")


def test_the_table_of_sets_goes_on_after_the_last_row_of_a_page():
    run = make_run()
    Trial.objects.bulk_create(
        Trial(run=run, order=number, key=f"k{number}", concepts=["cone"], size=1) for number in range(60)
    )
    client = browser_of(Role.RESEARCHER)

    first = client.get(f"/runs/{run.pk}/sets/").context["part"]
    second = client.get(f"/runs/{run.pk}/sets/?after={first.after}").context["part"]

    assert [one.order for one in [*first.trials, *second.trials]] == list(range(60))
    assert (first.after, second.after) == (49, None)


def test_the_table_of_sets_can_be_narrowed_by_status_and_expected_answer():
    run = make_run()
    make_trial(run, ("cone",), verdicts="FFF", expected_action="emergency_stop")
    make_trial(run, ("far",), verdicts="PPP", expected_action="continue")
    client = browser_of(Role.RESEARCHER)

    shown = {
        query: [one.key for one in client.get(f"/runs/{run.pk}/sets/?{query}").context["part"].trials]
        for query in ("status=decided_fail", "expected=continue", "status=parked")
    }

    assert shown == {"status=decided_fail": ["cone"], "expected=continue": ["far"], "status=parked": []}


def test_the_rate_of_a_set_counts_answers_to_calls_that_were_asked_again():
    campaign = make_campaign(config={"algorithm": "beam", "samples_per_set": 5, "inference_budget": 60})
    run = make_run(campaign=campaign)
    make_trial(run, ("cone",), verdicts="FFFPPP")

    page = html(browser_of(Role.RESEARCHER), f"/runs/{run.pk}/sets/")

    assert "3/6" in page
    assert "3/5" not in page
