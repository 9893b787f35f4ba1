"""The page that compares two systems, or one system in two campaigns."""

import re

import pytest

from tests.factories import make_sut
from tests.searches.modality_factory import (
    Ending,
    make_grid,
    make_modality_campaign,
    make_seed_dataset,
)
from vlmlab.web.roles import Role

from .modality_results import breaks_by_image, campaign_of, html, words_of
from .people import browser_of

pytestmark = pytest.mark.django_db


def test_two_systems_side_by_side():
    dataset = make_seed_dataset(8, strata=("street",))
    campaign = make_modality_campaign(dataset)
    make_grid(campaign, suts=[make_sut("a", name="Alpha")], ended=breaks_by_image, regimes=("image",))
    make_grid(campaign, suts=[make_sut("b", name="Beta")], ended=lambda _: Ending(), regimes=("image",))
    path = f"/modality/compare/?a={campaign.pk}:a&b={campaign.pk}:b"

    page = html(browser_of(Role.REVIEWER), path)

    words = words_of(page)
    assert "Image perturbations break Alpha more often (100 % and 0 %)." in words
    assert "Alpha fails where Beta holds 8 seed images and regimes" in words
    run = campaign.modality_runs.filter(sut__slug="a").first()
    assert f'href="{run.get_absolute_url()}"' in page
    assert "the paper: significant in 12 of 16 pairs of system and scene type" in words


def test_one_system_in_two_campaigns_is_told_apart_by_their_names():
    dataset, sut = make_seed_dataset(1), make_sut("a", name="Alpha")
    campaigns = [make_modality_campaign(dataset, name=name) for name in ("Night", "Day")]
    for campaign in campaigns:
        make_grid(campaign, suts=[sut], ended=lambda _: Ending())
    path = f"/modality/compare/?a={campaigns[0].pk}:a&b={campaigns[1].pk}:a"

    page = html(browser_of(Role.REVIEWER), path)

    assert "<h1>Night and Day</h1>" in page
    assert [f'role="columnheader">{name}</th>' in page for name in ("Night", "Day")] == [True, True]


def test_one_side_alone_is_put_in_and_another_on_its_dataset_offered():
    other = campaign_of(breaks_by_image, pictures=1, sut="elsewhere")
    dataset = make_seed_dataset(1)
    for slug in ("a", "b"):
        campaign = make_modality_campaign(dataset)
        make_grid(campaign, suts=[make_sut(slug)], ended=lambda _: Ending())
    newest = campaign_of(breaks_by_image, pictures=1, sut="newest")

    page = html(browser_of(Role.RESEARCHER), f"/modality/compare/?a={campaign.pk}:b")

    chosen = re.findall(r'<option value="([^"]+)" selected>', page)
    assert chosen[:2] == [f"{campaign.pk}:b", f"{campaign.pk - 1}:a"]
    assert "Choose two systems" in page
    assert [f"{one.pk}:" in page for one in (other, newest)] == [True, True]


def test_sides_are_listed_by_dataset_that_of_the_first_one_first():
    mine, newest = make_seed_dataset(1), make_seed_dataset(1)
    for dataset, title in ((mine, "Mine"), (newest, "Newest")):
        dataset.title = title
        dataset.save()
        campaign = make_modality_campaign(dataset)
        make_grid(campaign, suts=[make_sut(title.lower())], ended=lambda _: Ending())
    first = campaign.pk - 1

    page = html(browser_of(Role.RESEARCHER), f"/modality/compare/?a={first}:mine")

    groups = re.findall(r'<optgroup label="([^"]+)">\s*<option value="([^"]+)"', page)
    assert groups == [("Mine", f"{first}:mine"), ("Newest", f"{campaign.pk}:newest")] * 2
    assert re.findall(r'<option value="([^"]*)" selected>', page)[:2] == [f"{first}:mine", ""]


def test_a_side_that_is_gone_is_told_at_its_field():
    campaign = campaign_of(breaks_by_image)

    answer = browser_of(Role.RESEARCHER).get(f"/modality/compare/?a={campaign.pk}:one&b=99:gone")

    assert answer.status_code == 422
    assert "Second: This system has no such campaign (any more)." in answer.content.decode()
