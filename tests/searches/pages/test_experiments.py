"""Pages of experiments: list, form, arms and differences, progress, files; strangers, bad input, queries."""

import json

import pytest

from searches.enums import RunState
from searches.forms import experiments as experiment_form
from searches.models import Campaign, Experiment, Finding, SearchRun
from tests.factories import make_sut
from tests.searches.experiment_rows import make_experiment
from vlmlab.core.revelio.experiments import AXES
from vlmlab.core.verdicts.reproduction import REPRODUCTIONS
from vlmlab.web.figures import validate_with_plotly
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
LIST, NEW = "/experiments/", "/experiments/new/"
READERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
RESEARCHERS = {"": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403}


def posted(sut, **changes):
    values = experiment_form.initial_values() | {"suts": [sut.pk], "first_seed": 11, "n_seeds": 2} | changes
    return {name: value for name, value in values.items() if value is not None}


def start(sut, **changes):
    return browser_of(Role.RESEARCHER).post(NEW, posted(sut, **changes))


def errors(answer):
    return {name: list(texts) for name, texts in answer.context["form"].errors.items()}


def test_pages_are_open_to_readers_and_forms_to_researchers():
    experiment = make_experiment(seeds=(1,), fails=None)
    page = f"{LIST}{experiment.pk}/"

    assert statuses(page) == statuses(f"{page}export.json") == READERS
    assert statuses(NEW) == RESEARCHERS
    for verb in ("pause", "resume", "cancel", "retest"):
        assert browser_of(Role.REVIEWER).post(f"{page}{verb}/").status_code == 403
        assert browser_of(Role.RESEARCHER).get(f"{page}{verb}/").status_code == 405


def test_an_empty_list_says_what_to_do_next():
    assert "New experiment" in browser_of(Role.RESEARCHER).get(LIST).content.decode()
    assert "A researcher starts the first experiment" in browser_of(Role.REVIEWER).get(LIST).content.decode()


@pytest.mark.parametrize("n_rows", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_experiments(n_rows, django_assert_num_queries):
    for _ in range(n_rows):
        make_experiment(seeds=(1,), fails=None)
    browser = browser_of(Role.RESEARCHER)

    with django_assert_num_queries(7):
        page = browser.get(LIST)

    assert len(page.context["lines"]) == n_rows


@pytest.mark.parametrize("n_seeds", [1, 4])
def test_the_page_takes_the_same_queries_for_any_number_of_runs(n_seeds, django_assert_num_queries):
    experiment = make_experiment(seeds=tuple(range(n_seeds)))
    browser = browser_of(Role.RESEARCHER)
    browser.get(f"{LIST}{experiment.pk}/")

    with django_assert_num_queries(7):
        browser.get(f"{LIST}{experiment.pk}/")


def test_the_form_as_it_is_shown_can_be_sent_at_once():
    sut = make_sut()

    answer = start(sut)

    experiment = Experiment.objects.get()
    assert answer["Location"] == f"{LIST}{experiment.pk}/"
    assert (experiment.kind, experiment.name) == ("comparison", "4 algorithms, Driving")
    arms = [(one.arm["name"], one.arm["seed"]) for one in Campaign.objects.order_by("pk")]
    assert arms == [
        (name, seed) for seed in (11, 12) for name in ("random", "beam", "gpts", "sits-minimal")
    ]  # fmt: skip
    assert set(SearchRun.objects.values_list("run_seed", "state")) == {(11, "queued"), (12, "queued")}
    assert {one.config["inference_budget"] for one in Campaign.objects.all()} == {200}


def test_a_second_click_finds_the_same_experiment():
    sut, browser = make_sut(), browser_of(Role.RESEARCHER)

    answers = [browser.post(NEW, posted(sut))["Location"] for _ in range(2)]

    assert answers[0] == answers[1]
    assert Experiment.objects.count() == 1


@pytest.mark.parametrize("axis", AXES)
def test_a_quick_start_fills_the_form_so_that_it_can_be_sent(axis):
    start(make_sut(), n_seeds=1, **experiment_form.axis_values(axis))

    experiment = Experiment.objects.get()
    assert (experiment.kind, experiment.spec["axis"]) == ("ablation", axis)
    assert len(experiment.spec["arms"]) == len(AXES[axis].values)


@pytest.mark.parametrize("preset", [slug for slug, one in REPRODUCTIONS.items() if one.starts_experiment])
def test_a_reproduction_fills_the_form_and_keeps_its_name(preset):
    sut = make_sut()
    values = experiment_form.initial_values(preset, scale="0.1")

    start(sut, **values | {"suts": [sut.pk], "n_seeds": 1})

    experiment = Experiment.objects.get()
    assert (experiment.kind, experiment.preset) == ("reproduction", preset)
    assert {arm["config"]["inference_budget"] for arm in experiment.spec["arms"]} == {100}
    assert experiment.spec["domain"].partition("@")[0] in REPRODUCTIONS[preset].domains


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"suts": []}, "suts"), ({"suts": ["9" * 30]}, "suts"), ({"algorithms": []}, "algorithms"),
        ({"algorithms": ["magic"]}, "algorithms"), ({"axis": "backend"}, "axis"), ({"axis": "x"}, "axis"),
        ({"values": "1, 2"}, "values"), ({"axis": "beam_width", "values": "5, x"}, "values"),
        ({"axis": "slots"}, "values"), ({"n_seeds": 0}, "n_seeds"), ({"n_seeds": "many"}, "n_seeds"),
        ({"n_seeds": 50, "axis": "beam_width", "algorithms": ["beam"], "values": "1,2,3,4,5,6,7"}, "n_seeds"),
        ({"first_seed": -1}, "first_seed"), ({"first_seed": "9" * 40}, "first_seed"),
        ({"inference_budget": 1}, "inference_budget"), ({"domain": "moon"}, "domain"),
        ({"name": "x" * 121}, "name"), ({"values": "1\x00"}, "values"),
        ({"beam_width": "wide"}, "beam_width"),
    ],
)  # fmt: skip
def test_what_is_wrong_stands_at_its_field_and_nothing_is_started(changes, field):
    answer = start(make_sut(), **changes)

    assert (answer.status_code, list(errors(answer))) == (422, [field])
    assert f'id="id_{field}-e"' in answer.content.decode() or field in ("suts", "algorithms")
    assert Experiment.objects.count() == Campaign.objects.count() == 0


def test_what_was_entered_is_not_lost_with_an_error():
    answer = start(make_sut(), n_seeds=0, name="My <b>test</b>", axis="beam_width", values="2, 3")

    text = answer.content.decode()
    assert "My &lt;b&gt;test&lt;/b&gt;" in text
    assert 'value="2, 3"' in text


def test_the_estimate_counts_runs_and_says_what_is_wrong():
    sut, browser = make_sut(), browser_of(Role.RESEARCHER)

    plan = browser.get(f"{LIST}estimate/", posted(sut)).context["plan"]
    wrong = browser.get(f"{LIST}estimate/", posted(sut, n_seeds=0)).content.decode()

    assert (plan.spec.n_runs, plan.spec.n_inferences) == (8, 1600)
    assert "Run seeds: Enter a whole number from 1 to 50." in wrong


def test_the_table_has_means_intervals_and_counts_of_each_arm():
    """Modes by seed 1, 2, 3: random 2, 2, 1; beam 3, 3, 2."""
    experiment = make_experiment()

    page = browser_of(Role.RESEARCHER).get(f"{LIST}{experiment.pk}/")

    rows = {row.arm.name: row.summary.measures for row in page.context["page"].arms}
    assert rows["random"]["modes"].seeds.mean == pytest.approx(5 / 3)
    assert rows["beam"]["modes"].seeds.mean == pytest.approx(8 / 3)
    assert (rows["beam"]["pfm"].pooled.numerator, rows["beam"]["pfm"].pooled.denominator) == (8, 21)
    text = page.content.decode()
    assert "38.1 %" in text
    assert "8 / 21" in text


def test_differences_are_paired_by_seed_and_shown_for_the_chosen_measure():
    experiment = make_experiment()
    browser = browser_of(Role.RESEARCHER)

    modes = browser.get(f"{LIST}{experiment.pk}/").context["page"]
    mfr = browser.get(f"{LIST}{experiment.pk}/?measure=mfr").context["page"]

    assert (modes.measure.name, mfr.measure.name) == ("modes", "mfr")
    (one,) = modes.differences
    assert (one.first, one.second, one.paired.mean, one.paired.n, one.p_adjusted) == (
        "random", "beam", 1.0, 3, None,
    )  # fmt: skip
    assert mfr.differences[0].paired.mean == pytest.approx(3 / 35)


def test_confirmed_modes_stand_in_the_table_once_any_is_settled():
    experiment = make_experiment()
    browser, path = browser_of(Role.RESEARCHER), f"{LIST}{experiment.pk}/"
    before = browser.get(path).context["page"]
    Finding.objects.filter(run__campaign__arm__name="beam", key="cone").update(state="confirmed")
    Finding.objects.filter(run__campaign__arm__name="random", key="cone").update(state="refuted")

    after = browser.get(path).context["page"]

    assert "confirmed" not in [one.name for one in before.measures]
    rows = {row.arm.name: row.summary.measures["confirmed"].seeds.mean for row in after.arms}
    assert rows == {"random": 0.0, "beam": 1.0}


def test_arms_that_stop_sets_early_have_no_rate_and_no_curve():
    experiment = make_experiment(algorithms=("sits", "random"))

    page = browser_of(Role.RESEARCHER).get(f"{LIST}{experiment.pk}/")

    assert [one.arm.name for one in page.context["page"].taus] == ["random"]
    assert "stops sets early" in page.content.decode()


def test_charts_are_valid_and_have_their_numbers():
    experiment = make_experiment()

    charts = browser_of(Role.RESEARCHER).get(f"{LIST}{experiment.pk}/").context["charts"]

    for chart in charts.values():
        validate_with_plotly(chart.spec)
        assert chart.rows
    assert charts["modes"].rows[-1][0] == 35
    assert charts["modes"].rows[-1][2].startswith("2.7 (")


def test_systems_have_a_tab_each_and_their_own_numbers():
    first, second = make_sut(name="First"), make_sut(name="Second")
    experiment = make_experiment(
        [first, second], fails=lambda run: (5, 0) if run.sut_id == first.pk else (0, 0)
    )
    browser, path = browser_of(Role.RESEARCHER), f"{LIST}{experiment.pk}/"

    shown = [browser.get(f"{path}?sut={sut}").context["page"] for sut in (first.slug, second.slug, "nobody")]

    assert [page.sut for page in shown] == [first, second, first]
    assert [page.arms[0].summary.measures["modes"].seeds.mean for page in shown] == [1.0, 0.0, 1.0]


def test_published_numbers_stand_beside_measured_ones_and_say_that_they_are_of_another_system():
    experiment = make_experiment(
        algorithms=("beam",), axis="beam_width", domain="indoor", preset="revelio-table-6", fails=None
    )

    page = browser_of(Role.RESEARCHER).get(f"{LIST}{experiment.pk}/")

    side = page.context["page"].published
    assert [column.title for column in side.columns] == [
        "k = 1: PFM", "k = 1: MFR", "k = 5: PFM", "k = 5: MFR", "k = 10: PFM", "k = 10: MFR",
    ]  # fmt: skip
    published = side.rows[-1]
    assert (published.is_ours, [cell.text for cell in published.cells]) == (
        False, ["5.7 %", "3.0 %", "24.7 %", "19.0 %", "10.1 %", "7.5 %"],
    )  # fmt: skip
    text = page.content.decode()
    assert "Published numbers are of other systems" in text
    assert "A small version: 35 instead of 1,000 inferences a run." in text
    assert "13.22 % in Table 2, 24.7 % in Table 6" in text


def test_an_experiment_without_runs_says_that_nothing_is_known_yet():
    experiment = make_experiment(fails=None)

    page = browser_of(Role.RESEARCHER).get(f"{LIST}{experiment.pk}/")

    assert "Nothing is known yet" in page.content.decode()


def test_the_progress_is_fetched_again_only_when_it_changed_and_ends_with_the_runs():
    experiment = make_experiment(fails=None)
    browser, path = browser_of(Role.RESEARCHER), f"{LIST}{experiment.pk}/progress/"
    first = browser.get(path)
    same = browser.get(path, headers={"if-none-match": first["ETag"]})
    SearchRun.objects.update(state=RunState.SUCCEEDED)
    last = browser.get(path, headers={"if-none-match": first["ETag"]})

    assert (first.status_code, same.status_code, last.status_code) == (200, 304, 286)
    assert last["HX-Refresh"] == "true"


def test_pause_resume_and_end_move_all_runs_and_say_how_many():
    experiment = make_experiment(fails=None)
    browser, page = browser_of(Role.RESEARCHER), f"{LIST}{experiment.pk}/"
    told = []
    for verb, state in (
        ("pause", "paused"),
        ("resume", "queued"),
        ("cancel", "cancelled"),
        ("cancel", "cancelled"),
    ):
        answer = browser.post(f"{page}{verb}/", follow=True)
        told += [str(one) for one in answer.context["messages"]]
        assert set(SearchRun.objects.values_list("state", flat=True)) == {state}

    assert told == [
        "6 runs are paused.",
        "6 runs are queued again.",
        "6 runs are ended early; what they found is kept.",
        "No run of this experiment can be ended. Reload the page to see what happened meanwhile.",
    ]  # fmt: skip


def test_files_hold_every_measure_of_every_arm():
    experiment = make_experiment(name="A & B_1")
    browser, page = browser_of(Role.REVIEWER), f"{LIST}{experiment.pk}/export"

    table = b"".join(browser.get(f"{page}.csv").streaming_content).decode().splitlines()
    everything = json.loads(b"".join(browser.get(f"{page}.json").streaming_content))
    latex = b"".join(browser.get(f"{page}.tex").streaming_content).decode()

    assert table[0].startswith("system,arm,algorithm,value,expected_answer,measure,mean")
    assert any(",beam,beam,,,pfm,0.38095" in line and line.endswith("3,8,21") for line in table)
    assert len(everything["runs"]) == 6
    pairs = {one["measure"]: one["pairs"][0] for one in everything["differences"]}
    assert (pairs["modes"]["second_less_first"], pairs["modes"]["pairs"]) == (1.0, 3)
    assert r"A \& B\_1" in latex
    assert "2.7 (1.2 to 4.1)" in latex
    assert browser.get(f"{page}.xml").status_code == 404


@pytest.mark.parametrize("pk", ["0", "7", "9" * 30])
def test_an_experiment_that_is_not_there_is_not_found(pk):
    assert browser_of(Role.RESEARCHER).get(f"{LIST}{pk}/").status_code == 404


@pytest.mark.parametrize("query", ["page=0", "page=x", "page=" + "9" * 30])
def test_any_page_number_shows_a_page(query):
    make_experiment(seeds=(1,), fails=None)

    assert len(browser_of(Role.RESEARCHER).get(f"{LIST}?{query}").context["lines"]) == 1


def test_the_form_opens_for_any_address_and_is_filled_by_those_of_the_page():
    make_sut()
    browser = browser_of(Role.RESEARCHER)

    for query in ("preset=x", "axis=x", "scale=9", "domain=x&sut=x", "preset=revelio-table-4"):
        assert browser.get(f"{NEW}?{query}").status_code == 200
    axis = browser.get(f"{NEW}?axis=kernel").context["form"]
    table = browser.get(f"{NEW}?preset=revelio-table-6&scale=0.2&domain=indoor").context["form"]
    assert (axis["axis"].value(), axis["algorithms"].value()) == ("kernel", ["gpts"])
    assert (table["domain"].value(), table["inference_budget"].value()) == ("indoor", 200)
