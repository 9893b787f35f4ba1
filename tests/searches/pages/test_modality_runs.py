"""Pages of modality runs: the list that marks lead to, one run, pictures of its evaluations, one operator."""

import re
from urllib.parse import quote

import pytest
from django.test import Client

from searches.models import Blob, Evaluation, ModalityRun, SearchRun
from searches.services.blobs import blob_path
from searches.services.modality_inputs import evaluation_picture
from searches.services.modality_run_pages import find_run
from tests.factories import make_campaign, make_sut
from tests.searches.modality_factory import Ending, make_grid, make_modality_campaign, make_seed_dataset
from vlmlab.web.roles import READERS, Role

from .people import browser_of
from .test_hostile_addresses import HOSTILE

pytestmark = pytest.mark.django_db

SEEN_BY = {"": 302} | {role.value: 200 if role in READERS else 403 for role in Role}
BROKEN = Ending(
    iou=0.2, severities={"fog": 0.4, "keyboard_typo": 0.2}, f2=0.1, f3=0.05, evaluations=3, first_hit=3
)


def make_runs(n_pictures=2, *, ended=lambda place: BROKEN, regimes=("joint",), has_blobs=False, **values):
    campaign = make_modality_campaign(make_seed_dataset(n_pictures, has_blobs=has_blobs))
    values = {"n_evaluations": 3} | values
    runs = make_grid(campaign, suts=[make_sut(name="Pocket")], ended=ended, regimes=regimes, **values)
    return campaign, runs


def html(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def places(client, path):
    return [line.row.picture.order for line in client.get(path).context["lines"]]


def test_strangers_and_people_without_the_role_see_no_page_of_a_run():
    campaign, (run, _) = make_runs(has_blobs=True)
    paths = [
        f"/modality/{campaign.pk}/runs/",
        f"/modality/{campaign.pk}/evaluations/",
        f"/modality/runs/{run.run_id}/",
        f"/modality/runs/{run.run_id}/evaluations/0.1.png",
    ]

    browsers = {"": Client()} | {role.value: browser_of(role) for role in Role}
    answers = {path: {who: one.get(path).status_code for who, one in browsers.items()} for path in paths}

    assert {path: found for path, found in answers.items() if found != SEEN_BY} == {}


def test_what_is_not_there_is_not_found():
    browser = browser_of(Role.RESEARCHER)
    concept_search = make_campaign()

    for path in (
        "/modality/999/runs/",
        f"/modality/{concept_search.pk}/runs/",
        f"/modality/{'9' * 30}/runs/",
        "/modality/runs/999/",
        f"/modality/runs/{'9' * 30}/",
        "/modality/999/evaluations/",
    ):
        assert browser.get(path).status_code == 404, path


@pytest.mark.parametrize("pictures", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_runs(pictures, django_assert_num_queries):
    campaign, _ = make_runs(pictures, has_blobs=True)
    client = browser_of(Role.RESEARCHER)

    # session, person, navigation; campaign; systems, scene types, labels; count, runs, cases, files
    with django_assert_num_queries(11):
        client.get(f"/modality/{campaign.pk}/runs/")


def test_the_list_can_be_narrowed_by_everything_that_a_mark_stands_for():
    endings = [
        BROKEN,
        Ending(iou=0.8, severities={"rain": 0.3}),
        Ending(answer="empty", severities={"fog": 0.2}),
        Ending("baseline_failure", clean_iou=0.1),
    ]
    campaign, runs = make_runs(4, ended=lambda place: endings[place.number])
    client = browser_of(Role.RESEARCHER)

    shown = {
        query: places(client, f"/modality/{campaign.pk}/runs/?{query}")
        for query in (
            "outcome=below",
            "outcome=c2",
            "outcome=held",
            "status=baseline_failure",
            "operator=fog",
            "operator=rain",
            "regime=image",
            "stratum=kitchen",
            f"sut={runs[0].sut.slug}&outcome=empty",
            "label=cup&sort=-iou",
        )
    }

    assert list(shown.values()) == [[0], [0, 2], [1], [3], [0, 2], [1], [], [1, 3], [2], [1, 0, 2, 3]]


def test_replicates_can_be_told_apart_where_there_are_several():
    campaign = make_modality_campaign(make_seed_dataset(1), plan={"seed": 7, "replicates": 2})
    make_grid(campaign, suts=[make_sut()], ended=lambda place: BROKEN, regimes=("image",), replicates=2)
    client = browser_of(Role.RESEARCHER)

    shown = {
        value: [
            line.row.replicate
            for line in client.get(f"/modality/{campaign.pk}/runs/?replicate={value}").context["lines"]
        ]
        for value in ("", "0", "1", "2")
    }

    assert shown == {"": [0, 1], "0": [0], "1": [1], "2": [0, 1]}
    assert "Figures count one replicate at a time" in html(client, f"/modality/{campaign.pk}/runs/")
    assert "Figures count" not in html(client, f"/modality/{campaign.pk}/runs/?replicate=1")


def test_a_run_that_its_spending_limit_halted_can_be_given_a_new_one():
    _, (run,) = make_runs(1, ended=lambda place: Ending("unfinished", state="paused"))
    path = f"/modality/runs/{run.run_id}/"
    client = browser_of(Role.RESEARCHER)

    before = html(client, path)
    SearchRun.objects.filter(pk=run.run_id).update(is_halted_by_spending=True)
    after = html(client, path)

    assert "Set the limit and resume" not in before
    assert f'action="/runs/{run.run_id}/raise-limit/"' in after


def test_a_filter_that_names_nothing_of_the_campaign_is_told_and_left_out():
    campaign, _ = make_runs()
    client = browser_of(Role.RESEARCHER)

    page = html(client, f"/modality/{campaign.pk}/runs/?sut=nobody&operator=%3Cscript%3E&outcome=below")

    assert "System: “nobody” is none of this campaign, so this filter is left out." in page
    assert "Operator acting in the case: “&lt;script&gt;” is none of this campaign" in page
    assert page.count('class="pair-thumbs"') == 2


def answers_to(path: str, *names: str) -> set[int]:
    """Return the status codes of a page where each of some names has every hostile value."""
    browser = browser_of(Role.RESEARCHER)
    return {
        browser.get(f"{path}&{'&'.join(f'{name}={quote(value)}' for name in names)}").status_code
        for value in HOSTILE
    }


def test_the_list_stands_any_query():
    campaign, _ = make_runs()
    names = ("page", "sort", "sut", "stratum", "regime", "status", "outcome", "operator", "label")

    assert answers_to(f"/modality/{campaign.pk}/runs/?", *names) == {200}


def test_empty_lists_say_what_to_do_next():
    campaign, _ = make_runs()
    nothing = make_modality_campaign()
    client = browser_of(Role.RESEARCHER)

    assert "No run matches" in html(client, f"/modality/{campaign.pk}/runs/?outcome=held")
    assert "No run in this campaign" in html(client, f"/modality/{nothing.pk}/runs/")


def test_links_to_cases_carry_the_filter_and_the_order():
    campaign, _ = make_runs()

    page = html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/runs/?outcome=below&sort=-iou&page=1")

    assert (
        re.findall(r'pair-thumbs" href="/modality/cases/\d+/\?([^"]+)"', page)
        == ["outcome=below&amp;sort=-iou"] * 2
    )


def test_the_page_of_a_run_opens_the_returned_case_and_any_other_evaluation():
    _, (run, _) = make_runs(has_blobs=True)
    client = browser_of(Role.RESEARCHER)
    path = f"/modality/runs/{run.run_id}/"

    first, asked = client.get(path), client.get(f"{path}?e=0.1")

    assert (first.context["opened"].number, asked.context["opened"].number) == (3, 2)
    assert [bar.operator for bar in first.context["opened"].bars] == ["fog", "keyboard_typo"]
    page = asked.content.decode()
    assert f'src="{path}evaluations/0.1.png"' in page
    assert 'alt="Perturbed picture of evaluation 2, 1 true box and 1 box of the answer"' in page
    assert "The first failure came at evaluation 3 of 3." in page
    assert 'href="?e=0.0#evaluation"' in page


@pytest.mark.parametrize("number", [1, 12])
def test_the_page_of_a_run_takes_the_same_queries_for_any_number_of_evaluations(
    number, django_assert_num_queries
):
    ending = Ending(iou=0.2, severities={"fog": 0.4}, evaluations=number)
    _, (run,) = make_runs(1, ended=lambda place: ending, has_blobs=True, n_evaluations=number)
    client = browser_of(Role.RESEARCHER)

    # session, person, navigation; run, cases; evaluations, file of the seed image, log; opened one, rows
    with django_assert_num_queries(10):
        client.get(f"/modality/runs/{run.run_id}/")


def test_the_page_of_a_run_stands_any_query():
    _, (run, _) = make_runs()

    assert answers_to(f"/modality/runs/{run.run_id}/?", "e", "page", "show") == {200}


def test_an_address_with_an_unknown_evaluation_says_so():
    _, (run, _) = make_runs()

    page = html(browser_of(Role.RESEARCHER), f"/modality/runs/{run.run_id}/?e=99.0")

    assert "The address names an evaluation that this run does not have." in page


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (Ending("baseline_failure", clean_iou=0.2), "The clean answer is wrong already"),
        (Ending("call_error", error="The server did not answer."), "The server did not answer."),
        (Ending("unfinished"), "The first ones appear with the first answers of the system."),
    ],
)
def test_a_run_without_evaluations_says_why(ending, words):
    _, (run,) = make_runs(1, ended=lambda place: ending)

    assert words in html(browser_of(Role.RESEARCHER), f"/modality/runs/{run.run_id}/")


def test_a_live_run_can_be_paused_and_looks_again_by_itself():
    _, (run,) = make_runs(1, ended=lambda place: Ending("unfinished"))

    page = html(browser_of(Role.RESEARCHER), f"/modality/runs/{run.run_id}/")
    SearchRun.objects.filter(pk=run.run_id).update(state="succeeded")
    after = browser_of(Role.RESEARCHER).get(f"/modality/runs/{run.run_id}/", headers={"HX-Request": "true"})

    assert f'action="/runs/{run.run_id}/pause/"' in page
    assert 'hx-trigger="every 5s"' in page
    assert after.headers["HX-Refresh"] == "true"


def test_the_picture_of_an_evaluation_is_what_the_system_saw():
    _, (run, _) = make_runs(has_blobs=True)
    found = find_run(run.run_id)

    answer = browser_of(Role.RESEARCHER).get(f"/modality/runs/{run.run_id}/evaluations/0.2.png")

    assert answer.content == evaluation_picture(found, Evaluation.objects.get(run_id=run.run_id, position=2))
    assert answer.headers["Content-Type"] == "image/png"
    assert answer.headers["Cache-Control"] == "private, max-age=86400"


def test_a_picture_needs_an_evaluation_of_its_run_and_the_file_of_the_seed_image():
    campaign, (run, other) = make_runs(has_blobs=True)
    Evaluation.objects.filter(run_id=other.run_id).delete()
    client = browser_of(Role.RESEARCHER)
    missing = client.get(f"/modality/runs/{other.run_id}/evaluations/0.2.png")
    for picture in campaign.dataset.pictures.all():
        blob_path(picture.image_sha256).unlink()
    Blob.objects.all().delete()

    gone = client.get(f"/modality/runs/{run.run_id}/evaluations/0.0.png")
    page = html(client, f"/modality/runs/{run.run_id}/")

    assert (missing.status_code, gone.status_code) == (404, 404)
    assert "is not stored any more. Restore the folder in VLMLAB_BLOB_DIR" in gone.content.decode()
    assert "What the system saw cannot be shown." in page
    assert "The file of the seed image is not kept." in page


def test_an_evaluation_of_another_version_is_told_instead_of_breaking_the_page():
    _, (run, _) = make_runs(has_blobs=True)
    ModalityRun.objects.filter(pk=run.pk).update(regime="image")  # its strategies are longer

    answer = browser_of(Role.RESEARCHER).get(f"/modality/runs/{run.run_id}/")

    assert "stored by another version of the lab and cannot be read" in answer.content.decode()


def test_every_table_has_headers_and_every_picture_words():
    campaign, (run, _) = make_runs(has_blobs=True)
    client = browser_of(Role.RESEARCHER)

    for path in (f"/modality/{campaign.pk}/runs/", f"/modality/runs/{run.run_id}/"):
        page = html(client, path)
        tables = re.findall(r"<table.*?</table>", page, re.DOTALL)
        assert all('scope="col"' in table and "<caption" in table for table in tables)
        assert len(tables) > 0
        assert re.findall(r'<img(?![^>]*\salt="[^"]+")[^>]*>', page) == []
        assert page.count("<h1") == 1


def test_the_evaluations_of_one_operator_lead_to_their_runs():
    ending = Ending(iou=0.2, severities={"fog": 0.4}, evaluations=1)
    campaign, (run, _) = make_runs(2, ended=lambda place: ending, regimes=("image",), has_blobs=True)
    client = browser_of(Role.RESEARCHER)

    page = html(client, f"/modality/{campaign.pk}/evaluations/?operator=fog&low=0.4&high=0.400000")
    outside = html(client, f"/modality/{campaign.pk}/evaluations/?operator=fog&low=0.5")

    assert f'href="/modality/runs/{run.run_id}/?e=0.0#evaluation"' in page
    assert page.count('class="pair-thumbs"') == 2
    assert "It was not asked alone" in outside


@pytest.mark.parametrize("pictures", [1, 3])
def test_the_evaluations_of_one_operator_take_the_same_queries_for_any_number(
    pictures, django_assert_num_queries
):
    ending = Ending(iou=0.2, severities={"fog": 0.4}, evaluations=1)
    campaign, _ = make_runs(pictures, ended=lambda place: ending, regimes=("image",), has_blobs=True)
    client = browser_of(Role.RESEARCHER)
    path = f"/modality/{campaign.pk}/evaluations/?operator=fog"

    # session, person, navigation; campaign, systems, mark, runs and strategies, count, evaluations, pictures
    with django_assert_num_queries(11):
        answer = client.get(path)

    assert len(answer.context["lines"]) == pictures


def test_the_evaluations_of_one_operator_stand_any_query():
    campaign, _ = make_runs()
    path = f"/modality/{campaign.pk}/evaluations/?"

    assert answers_to(
        f"{path}operator=fog", "sut", "low", "high", "level", "page", "stratum", "replicate"
    ) == {200}
    assert answers_to(path, "operator") == {200}


def test_the_curves_stand_on_the_page_of_operators_with_links_to_their_evaluations():
    ending = Ending(iou=0.2, severities={"fog": 0.4}, evaluations=1)
    campaign, (run, _) = make_runs(2, ended=lambda place: ending, regimes=("image",))

    page = html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/operators/?op=fog")

    assert "Mean IoU against severity" in page
    address = f"/modality/{campaign.pk}/evaluations/?sut={run.sut.slug}&amp;operator=fog&amp;low=0.400000"
    assert address in page
    assert "A sweep asks each of them at every level." in page


def test_a_campaign_that_asked_nothing_alone_offers_a_sweep():
    campaign, _ = make_runs()

    page = html(browser_of(Role.RESEARCHER), f"/modality/{campaign.pk}/operators/")

    assert "No operator was asked alone" in page
