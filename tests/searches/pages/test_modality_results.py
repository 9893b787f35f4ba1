"""Pages of what a modality campaign found: profile, operators, comparison, files."""

import json
import re

import pytest
from django.test import Client

from searches.enums import RunState
from searches.models import Campaign
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

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db

READERS_MAY = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
PAGES = ("/modality/{}/", "/modality/{}/operators/", "/modality/{}/export/effectiveness.csv")


def html(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def words_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def tables_of(page: str, section: str) -> str:
    return page.split(f'id="{section}"')[1].split("</section>")[0]


def campaign_of(
    ended, *, pictures: int = 4, sut: str = "one", regimes=("image", "text", "joint")
) -> Campaign:
    campaign = make_modality_campaign(make_seed_dataset(pictures, strata=("street",)), name="Street seeds")
    make_grid(campaign, suts=[make_sut(sut, name=f"System {sut}")], ended=ended, regimes=regimes)
    return campaign


def breaks_by_image(place):
    """Image breaks all, text none, joint all but the first."""
    broken = place.regime == "image" or (place.regime == "joint" and place.number > 0)
    return Ending(iou=0.1, severities={"fog": 0.3}, first_hit=3) if broken else Ending()


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
