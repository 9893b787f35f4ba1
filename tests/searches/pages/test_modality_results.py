"""Pages of what a modality campaign found: profile, operators, comparison, files."""

import json
import re

import pytest

from searches.enums import RunState
from tests.factories import make_campaign, make_sut
from tests.searches.modality_factory import (
    Ending,
    drawn_ending,
    make_drawn_campaign,
    make_grid,
    make_modality_campaign,
    make_seed_dataset,
)
from vlmlab.web.roles import Role

from .modality_results import breaks_by_image, campaign_of, html, tables_of, words_of
from .people import browser_of, statuses

pytestmark = pytest.mark.django_db

READERS_MAY = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
PAGES = ("/modality/{}/", "/modality/{}/operators/", "/modality/{}/export/effectiveness.csv")


@pytest.mark.parametrize("page", PAGES)
def test_results_are_open_to_readers_only(page):
    campaign = campaign_of(breaks_by_image, pictures=1)

    assert statuses(page.format(campaign.pk)) == READERS_MAY


def test_the_comparison_is_open_to_readers_only():
    assert statuses("/modality/compare/") == READERS_MAY


@pytest.mark.parametrize("page", PAGES)
def test_a_concept_search_has_no_such_page(page):
    assert browser_of(Role.RESEARCHER).get(page.format(make_campaign().pk)).status_code == 404


@pytest.mark.parametrize(
    "page",
    [
        "/modality/{0}/",
        "/modality/{0}/operators/",
        "/modality/{0}/export/runs.csv",
        "/modality/compare/?a={0}:a{1}&b={0}:b{1}",
    ],
)
def test_pages_take_the_same_queries_for_any_number_of_runs(page, django_assert_max_num_queries):
    client = browser_of(Role.RESEARCHER)
    counts = []
    for pictures in (8, 24):
        campaign = make_modality_campaign(make_seed_dataset(pictures))
        suts = [make_sut(f"a{pictures}"), make_sut(f"b{pictures}")]
        make_grid(campaign, suts=suts, ended=drawn_ending)
        with django_assert_max_num_queries(60) as queries:
            answer = client.get(page.format(campaign.pk, pictures))
            assert answer.getvalue()
        assert answer.status_code == 200
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_the_profile_says_what_was_found_and_how_many_seed_images_count():
    campaign = campaign_of(breaks_by_image)

    page = html(browser_of(Role.REVIEWER), f"/modality/{campaign.pk}/")

    words = words_of(page)
    assert "System one: sensitivity profile" in words
    assert (
        "Image perturbations break this system on 4 of 4 seed images, text perturbations on 0 of 4" in words
    )
    assert "4 eligible of 4" in words
    assert "exact McNemar, Holm over 3 tests a measure" in words
    assert "4 / 4" in words
    assert f'href="/modality/{campaign.pk}/runs/?sut=one&amp;regime=joint&amp;outcome=c1"' in page


def test_many_seed_images_are_told_in_percent_once_every_regime_has_searched_them():
    campaign = campaign_of(breaks_by_image, pictures=10)
    path = f"/modality/{campaign.pk}/"

    whole = words_of(html(browser_of(Role.REVIEWER), path))
    last = campaign.modality_runs.filter(regime="text").last()
    last.cases.all().delete()
    campaign.modality_runs.filter(pk=last.pk).update(status="unfinished")
    partial = words_of(html(browser_of(Role.REVIEWER), path))

    assert (
        "break this system in 100 %, text perturbations in 0 % and both together in 90 % of 10 seed" in whole
    )
    assert "on 10 of 10 seed images, text perturbations on 0 of 9 and both together on 9 of 10." in partial


def test_a_regime_without_a_finished_run_has_no_rate_and_no_test():
    campaign = campaign_of(
        lambda place: Ending() if place.regime == "image" else Ending(status="unfinished"), pictures=2
    )

    words = words_of(html(browser_of(Role.REVIEWER), f"/modality/{campaign.pk}/"))

    assert "on 0 of 2 seed images." in words
    assert "– none finished" in words
    assert "0 / 0" not in words
    assert "Holm over 0" not in words


def test_marks_of_one_replicate_lead_to_its_runs_alone():
    campaign = make_modality_campaign(
        make_seed_dataset(2, strata=("street", "kitchen")), name="Twice", plan={"replicates": 2}
    )
    make_grid(campaign, suts=[make_sut("one")], ended=breaks_by_image, replicates=2)
    client = browser_of(Role.RESEARCHER)

    page = html(client, f"/modality/{campaign.pk}/?replicate=1")
    address = f"/modality/{campaign.pk}/runs/?sut=one&replicate=1&regime=image&outcome=c1"

    assert f'href="{address.replace("&", "&amp;")}"' in page
    assert f'href="/modality/{campaign.pk}/runs/?sut=one&amp;replicate=1&amp;outcome=c1"' in page
    assert {line.row.replicate for line in client.get(address).context["lines"]} == {1}


def test_every_mark_of_the_charts_leads_to_runs_of_the_campaign():
    campaign = make_drawn_campaign(12, n_suts=1)

    page = html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/")

    payload = r'<script id="plot-[^"]+" type="application/json">(.*?)</script>'
    figures = [json.loads(text) for text in re.findall(payload, page)]
    marks = [mark for one in figures for trace in one["figure"]["data"] for mark in trace["customdata"]]
    flat = [one for mark in marks for one in (mark if isinstance(mark, list) else [mark]) if one]
    assert len(figures) == 6
    assert len(flat) > 60
    assert {one.partition("?")[0] for one in flat} == {f"/modality/{campaign.pk}/runs/"}
    assert all("sut=" in one for one in flat)


@pytest.mark.parametrize(
    ("chart", "address", "n"),
    [
        ("attack-success", "sut=one&regime=joint&outcome=c1", 3),
        ("outcomes", "sut=one&regime=joint&outcome=held", 1),
        ("budget-allocation", "sut=one&regime=joint&operator=fog", 3),
        ("operator-ranking", "sut=one&operator=fog&outcome=c1", 7),
    ],
)
def test_a_mark_opens_a_list_with_exactly_its_runs(chart, address, n):
    campaign = campaign_of(breaks_by_image)
    client = browser_of(Role.RESEARCHER)
    path = f"/modality/{campaign.pk}/runs/?{address}"

    profile, listed = html(client, f"/modality/{campaign.pk}/"), html(client, path)

    drawn = re.search(rf'<script id="plot-{chart}" type="application/json">(.*?)</script>', profile)
    assert path in json.dumps(json.loads(drawn[1])["figure"]["data"])
    assert words_of(listed).count(f"1–{n} of {n}") == 1


def test_criterion_reading_and_scene_type_are_chosen_by_the_address():
    campaign = campaign_of(lambda _: Ending(answer="empty", lenient_answer="boxes", lenient_iou=0.9))
    client = browser_of(Role.RESEARCHER)

    first = words_of(html(client, f"/modality/{campaign.pk}/"))
    second = words_of(html(client, f"/modality/{campaign.pk}/?criterion=C2"))
    lenient = words_of(html(client, f"/modality/{campaign.pk}/?criterion=C2&reading=lenient"))

    assert "break this system on 0 of 4" in first
    assert "break this system on 4 of 4" in second
    assert "break this system on 0 of 4" in lenient
    assert "Lenient reading: what could be saved" in lenient


def test_an_address_that_names_no_system_is_told_and_shows_the_first():
    campaign = campaign_of(breaks_by_image)

    words = words_of(html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/?sut=gone&criterion=C9"))

    assert "System: this campaign has no such choice." in words
    assert "Criterion: this campaign has no such choice." in words
    assert "System one: sensitivity profile" in words


def test_partial_results_are_named_and_progress_is_shown():
    half = lambda place: Ending() if place.number < 2 else Ending("unfinished", state=RunState.PAUSED)  # noqa: E731
    campaign = campaign_of(half)

    page = html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/")

    assert "Partial results: 6 of 12 runs had ended when this page was loaded." in words_of(page)
    assert "may still change once the others are resumed." in words_of(page)
    assert f'href="/modality/{campaign.pk}/runs/">6 of 12 runs</a>' in page
    assert f'href="/modality/{campaign.pk}/runs/?sut=one">12</a>' in page
    assert 'id="modality-progress"' in page


@pytest.mark.parametrize(("page", "n"), [("", 6), ("operators/", 3)])
def test_files_of_figures_say_campaign_and_system(page, n):
    ending = Ending(iou=0.1, severities={"fog": 0.3}, evaluations=1)
    campaign = make_modality_campaign(make_seed_dataset(1))
    make_grid(campaign, suts=[make_sut("one")], ended=lambda _: ending, n_evaluations=1)

    names = re.findall(
        r'data-plot="([^"]+)" data-saved-as="([^"]+)"',
        html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/{page}"),
    )

    assert len(names) == n
    assert [f"vlmlab-modality-{campaign.pk}-one-{slug}" for slug, _ in names] == [saved for _, saved in names]


def test_pairs_of_regimes_that_were_not_run_have_no_columns():
    client = browser_of(Role.RESEARCHER)
    two = campaign_of(breaks_by_image, regimes=("image", "text"), sut="two")
    alone = campaign_of(breaks_by_image, regimes=("image",), sut="alone")

    pages = [html(client, f"/modality/{one.pk}/") for one in (two, alone)]

    heads = [
        re.findall(r'<th scope="col"[^>]*>(.*?)</th>', tables_of(page, "effectiveness")) for page in pages
    ]
    assert heads == [["Measure", "Image", "Text", "Image, text"], ["Measure", "Image"]]
    spans = [set(re.findall(r'colspan="(\d+)"', tables_of(page, "effectiveness"))) for page in pages]
    assert spans == [{"4"}, {"2"}]
    assert "exact McNemar" not in words_of(pages[1])


def test_before_the_first_run_the_page_says_what_to_wait_for():
    campaign = campaign_of(lambda _: Ending("unfinished"))

    words = words_of(html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/"))

    assert "No run has finished" in words
    assert "Attack success" not in words
    assert "Partial results" not in words  # there are none


def test_where_no_clean_answer_is_good_enough_the_page_says_what_to_do():
    campaign = campaign_of(lambda _: Ending("baseline_failure"))

    page = html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/")

    words = words_of(page)
    assert "No seed image could be tested" in words
    assert "No run has finished" not in words
    assert f'href="/modality/{campaign.pk}/runs/?sut=one&amp;outcome=baseline_failure"' in page


def test_a_campaign_without_runs_has_a_page():
    campaign = make_modality_campaign()

    words = words_of(html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/"))
    operators = words_of(html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/operators/"))

    assert "This campaign has no runs." in words
    assert "No operator acts yet" in operators


def test_a_system_left_out_is_named():
    campaign = campaign_of(breaks_by_image)
    blind = lambda _: Ending("baseline_failure", clean_answer="malformed")  # noqa: E731
    make_grid(campaign, suts=[make_sut("blind", name="Blind one")], ended=blind)

    words = words_of(html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/"))

    assert "Blind one: fewer than 5 % of the runs end with boxes" in words


def test_operators_are_ranked_a_regime_at_a_time():
    campaign = campaign_of(breaks_by_image)

    page = html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/operators/?regime=joint")

    words = words_of(page)
    assert "Fog acts most often, in 3 of 3 failing cases." in words
    assert "3 of 3, 100 %, 95 % interval 44 % to 100 %" in page  # Wilson's: 43.85 %


def test_a_file_is_a_download_named_after_its_campaign():
    campaign = campaign_of(breaks_by_image)

    answer = browser_of(Role.REVIEWER).get(f"/modality/{campaign.pk}/export/effectiveness.tex")

    name = f"vlmlab-modality-{campaign.pk}-effectiveness-"
    assert answer["Content-Disposition"].startswith(f'attachment; filename="{name}')
    assert answer["Content-Type"] == "application/x-tex; charset=utf-8"
    assert b"\\toprule" in answer.getvalue()


@pytest.mark.parametrize("name", ["nonsense.csv", "runs.tex", "outcomes.exe"])
def test_other_files_do_not_exist(name):
    campaign = campaign_of(breaks_by_image, pictures=1)

    assert browser_of(Role.RESEARCHER).get(f"/modality/{campaign.pk}/export/{name}").status_code == 404
