"""Pages of transfers: whose sets are asked of whom, the matrix, every set, files."""

import json

import pytest

from searches.forms.transfers import initial_values
from searches.models import Campaign, Finding, FollowUpItem, SearchRun
from searches.services.follow_ups import create_follow_up
from searches.services.transfer_wishes import random_sets, source_runs, top_findings, transfer_wish
from tests.factories import make_sut
from tests.searches.experiment_rows import answer_items, make_experiment
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.web.figures import validate_with_plotly
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
NEW = "/experiments/transfer/new/"


def searched(*names: str, fails=lambda run: (5, 4, 3, 0)):
    """Return systems and the numbers of one search of each with three failure modes."""
    suts = [make_sut(name.lower(), name=name) for name in names]
    make_experiment(suts, algorithms=("beam",), seeds=(1,), fails=fails)
    runs = SearchRun.objects.order_by("sut__name", "pk")
    return suts, [run.pk for run in runs]


def make_transfer(runs, targets, **values):
    wish = transfer_wish(source_runs(runs), targets, values={"random_sets": 2, "scenes": 20} | values)
    return create_follow_up(wish, by=None)


def posted(runs, targets, /, **changes):
    values = initial_values(runs) | {"targets": [sut.pk for sut in targets], "random_sets": 2} | changes
    return {name: value for name, value in values.items() if value is not None}


def test_the_form_is_for_researchers_and_the_matrix_for_readers():
    suts, runs = searched("First")
    page = f"/experiments/transfer/{make_transfer(runs, suts).pk}/"

    assert statuses(NEW)["reviewer"] == 403
    assert statuses(f"{NEW.replace('new', 'estimate')}")["researcher"] == 200
    for path in (page, f"{page}export.csv"):
        assert statuses(path) == {
            "": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403,
        }, path  # fmt: skip


def test_every_target_is_asked_the_same_sets_on_the_same_scenes():
    suts, runs = searched("First", "Second")

    answer = browser_of(Role.RESEARCHER).post(NEW, posted(runs[:1], suts, top=2))

    campaign = Campaign.objects.get(kind="transfer")
    assert answer["Location"] == f"/experiments/transfer/{campaign.pk}/"
    asked = {
        sut.slug: list(campaign.items.filter(run__sut=sut).order_by("order").values_list("key", "block"))
        for sut in suts
    }
    assert asked["first"] == asked["second"]
    assert [key for key, _ in asked["first"]][:2] == ["cone", "debris_far"]
    assert len(asked["first"]) == 4
    assert campaign.runs.values("run_seed").distinct().count() == 1
    sources = [one["settings"]["sources"] for one in campaign.items.values_list("spec", flat=True)][:4]
    assert sources == [["first"], ["first"], [], []]


def test_confirmed_sets_go_first_then_fresh_rates_then_rates_and_refuted_ones_stay_out():
    _, runs = searched("First", fails=lambda run: (3, 5, 4, 4, 3))
    Finding.objects.filter(key="cone").update(state="confirmed", fresh_n=20, fresh_fails=13)
    Finding.objects.filter(key="debris_far").update(state="refuted")
    Finding.objects.filter(key="chain_barrier_far").update(state="undetermined", fresh_n=20, fresh_fails=20)

    (found,) = top_findings(source_runs(runs), top=10).values()

    assert [one.key for one in found] == ["cone", "cyclist", "obstruction_near", "chain_barrier_far"]
    (confirmed,) = top_findings(source_runs(runs), top=10, only="confirmed").values()
    assert [one.key for one in confirmed] == ["cone"]


def test_random_sets_are_valid_of_one_to_four_concepts_repeatable_and_none_of_the_top_ones():
    domain = load_domain("driving")
    taken = {("cone",), ("cyclist",)}

    drawn = random_sets(domain, 40, seed=3, taken=taken, config={"excluded_concepts": ["town_town01"]})

    assert drawn == random_sets(
        domain, 40, seed=3, taken=taken, config={"excluded_concepts": ["town_town01"]}
    )
    assert len(set(drawn)) == 40
    assert not taken & set(drawn)
    assert {len(key) for key in drawn} == {1, 2, 3, 4}
    assert all(domain.is_compatible(key) and "town_town01" not in key for key in drawn)


def test_sets_that_fail_on_no_other_system_are_not_said_to_fail_most_often_on_one():
    suts, runs = searched("First", "Second")
    campaign = make_transfer(runs[:1], suts)
    answer_items(campaign, lambda item: 16 if item.run.sut.slug == "first" else 0)

    text = browser_of(Role.REVIEWER).get(f"/experiments/transfer/{campaign.pk}/").content.decode()

    assert "Carried over, no set has failed on another system." in text
    assert "fail most often on" not in text


def test_the_matrix_has_rates_counts_and_the_ratio_to_random_sets():
    """First's three sets fail 16 of 20 on First and 8 of 20 on Second; random ones 2 of 20 everywhere."""
    suts, runs = searched("First", "Second")
    campaign = make_transfer(runs[:1], suts)
    answer_items(
        campaign,
        lambda item: (
            2 if not item.spec["settings"]["sources"] else (16 if item.run.sut.slug == "first" else 8)
        ),
    )

    page = browser_of(Role.REVIEWER).get(f"/experiments/transfer/{campaign.pk}/")

    cells = page.context["page"].matrix.cells
    assert {key: (one.rate.fails, one.rate.samples, one.is_own) for key, one in cells.items()} == {
        ("first", "first"): (48, 60, True), ("first", "second"): (24, 60, False),
    }  # fmt: skip
    assert cells["first", "second"].ratio.value == pytest.approx(4.0)
    text = page.content.decode()
    assert "Carried over, sets of First fail most often on Second: 24 of 60." in text
    assert "measured again" in text
    chart = page.context["chart"]
    validate_with_plotly(chart.spec)
    assert [row[:3] for row in chart.rows] == [
        ("First", "First (measured again)", "48 / 60"), ("First", "Second", "24 / 60"),
        ("Random sets", "First", "4 / 40"), ("Random sets", "Second", "4 / 40"),
    ]  # fmt: skip
    assert "78.0 %" in text
    told = [
        (line.is_random, [(cell.numerator, cell.denominator) for cell in line.cells])
        for line in page.context["page"].expected
    ]
    assert sum(n for _, cells in told for _, n in cells) == 2 * 5 * 20
    assert sum(fails for is_random, cells in told for fails, _ in cells if is_random) == 8


def test_a_set_of_two_sources_is_asked_once_and_counts_for_both():
    suts, runs = searched("First", "Second")
    campaign = make_transfer(runs, suts)
    answer_items(campaign, lambda item: 10)

    page = browser_of(Role.REVIEWER).get(f"/experiments/transfer/{campaign.pk}/").context["page"]

    assert FollowUpItem.objects.filter(campaign=campaign, run__sut=suts[0]).count() == 5
    assert {key: one.rate.sets for key, one in page.matrix.cells.items()} == {
        (source, target): 3 for source in ("first", "second") for target in ("first", "second")
    }
    assert page.sets[0].ranks == (("First", 1), ("Second", 1))


def test_systems_of_one_name_and_names_that_are_cut_have_a_column_each():
    long = "A system with a name that is too long for an axis, revision"
    suts, runs = searched("A")
    others = [
        make_sut(f"{one}-{at}", name=name) for one, name in (("m", "2024"), ("l", long)) for at in (1, 2)
    ]
    transfer = make_transfer(runs, [*suts, *others])
    answer_items(transfer, lambda item: 10)

    page = browser_of(Role.REVIEWER).get(f"/experiments/transfer/{transfer.pk}/")
    chart = page.context["chart"]

    labels = chart.spec["data"][0]["x"]
    assert len(set(labels)) == len(labels) == 5
    assert {"2024 (m-1)", "2024 (m-2)"} <= set(labels)
    assert chart.spec["layout"]["xaxis"]["type"] == "category"


def test_before_the_first_answer_the_page_says_so():
    suts, runs = searched("First")
    campaign = make_transfer(runs, suts)

    text = browser_of(Role.RESEARCHER).get(f"/experiments/transfer/{campaign.pk}/").content.decode()

    assert "No system has answered the sets of another one yet" in text


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"runs": []}, "runs"), ({"runs": ["9" * 30]}, "runs"), ({"runs": ["x"]}, "runs"),
        ({"targets": []}, "targets"), ({"top": 0}, "top"), ({"top": "all"}, "top"),
        ({"only": "refuted"}, "only"), ({"only": "confirmed"}, "runs"), ({"scenes": 0}, "scenes"),
        ({"random_sets": -1}, "random_sets"), ({"name": "x" * 121}, "name"),
    ],
)  # fmt: skip
def test_what_is_wrong_stands_at_its_field_and_nothing_is_started(changes, field):
    suts, runs = searched("First")

    answer = browser_of(Role.RESEARCHER).post(NEW, posted(runs, suts, **changes))

    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert not Campaign.objects.filter(kind="transfer").exists()


def test_runs_on_different_domains_are_refused():
    sut = make_sut()
    make_experiment([sut], algorithms=("beam",), seeds=(1,), fails=lambda run: (5,))
    make_experiment([sut], algorithms=("beam",), seeds=(1,), domain="indoor", fails=lambda run: (5,))

    with pytest.raises(VlmLabError, match="different domains"):
        transfer_wish(source_runs(list(SearchRun.objects.values_list("pk", flat=True))), [sut])


def test_files_hold_every_set_on_every_target():
    suts, runs = searched("First")
    campaign = make_transfer(runs, suts)
    answer_items(campaign, lambda item: 5)
    browser, page = browser_of(Role.REVIEWER), f"/experiments/transfer/{campaign.pk}/export"

    table = b"".join(browser.get(f"{page}.csv").streaming_content).decode().splitlines()
    rows = json.loads(b"".join(browser.get(f"{page}.json").streaming_content))["sets"]

    assert table[0] == "set,sources,target,fails,answers,invalid,state,expected_action"
    assert table[1].startswith("cone,first,first,5,20,0,measured,")
    assert [one["sources"] for one in rows] == ["first", "first", "first", "random", "random"]
    assert browser.get(f"{page}.tex").status_code == 404


@pytest.mark.parametrize("pk", ["0", "9" * 30])
def test_a_transfer_that_is_not_there_is_not_found(pk):
    assert browser_of(Role.RESEARCHER).get(f"/experiments/transfer/{pk}/").status_code == 404


@pytest.mark.parametrize("n_sets", [1, 3])
def test_the_page_takes_the_same_queries_for_any_number_of_sets(n_sets, django_assert_num_queries):
    suts, runs = searched("First", fails=lambda run: (5,) * n_sets)
    campaign = make_transfer(runs, suts)
    answer_items(campaign, lambda item: 10)
    browser = browser_of(Role.REVIEWER)
    browser.get(f"/experiments/transfer/{campaign.pk}/")

    with django_assert_num_queries(8):
        browser.get(f"/experiments/transfer/{campaign.pk}/")
