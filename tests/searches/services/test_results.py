"""Numbers of run pages and comparisons, against hand-counted runs."""

import pytest

from searches.enums import RunState
from searches.models import Finding, SearchRun
from searches.services import results
from searches.services.comparison import compare_page, differences, measures, set_groups, unlike
from searches.services.run_pages import cached_metrics, run_curves
from tests.factories import make_campaign, make_finding, make_finished_run, make_run, make_trial
from tests.searches.pools import make_source
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.metrics import ConvergencePoint

pytestmark = pytest.mark.django_db


def test_metrics_carry_numerator_and_denominator_in_all_and_by_expected_answer():
    run = make_finished_run()

    metrics = results.run_metrics(run)

    assert (metrics.pfm.numerator, metrics.pfm.denominator) == (2, 3)
    assert (metrics.mfr.numerator, metrics.mfr.denominator) == (4, 9)  # the set cut short is left out
    assert metrics.diversity == pytest.approx(2 / 3)  # cone+far and cone+fog share 1 of 3
    assert {action: part.pfm.numerator for action, part in metrics.by_expected.items()} == {
        "continue": 0,
        "stop": 2,
    }
    assert metrics.invalid.numerator == 1


def test_call_errors_are_outside_every_rate():
    run = make_run()
    make_trial(run, ("cone",), verdicts="FFFEE")

    metrics = results.run_metrics(run)

    assert (metrics.inferences, metrics.mfr.denominator) == (3, 3)


def test_a_run_that_stops_sets_early_has_no_mean_failure_rate():
    run = make_finished_run(campaign=make_campaign(config={"algorithm": "sits", "inference_budget": 60}))

    assert results.run_metrics(run).mfr is None


def test_kept_metrics_follow_the_run():
    run = make_finished_run()
    before = cached_metrics(run).pfm.denominator
    make_trial(run, ("cyclist",), verdicts="PPPPP")
    SearchRun.objects.filter(pk=run.pk).update(step=3)
    run.refresh_from_db()

    assert (before, cached_metrics(run).pfm.denominator) == (3, 4)


def test_the_curve_steps_where_each_finding_was_known_and_ends_at_the_last_answer():
    run = make_finished_run()
    Finding.objects.filter(found_at_inference=9).update(is_minimal_in_run=False)

    curves = run_curves(run)

    assert curves.modes == [
        ConvergencePoint(0, 0), ConvergencePoint(5, 1), ConvergencePoint(9, 2), ConvergencePoint(13, 2),
    ]  # fmt: skip
    assert curves.minimal == [ConvergencePoint(0, 0), ConvergencePoint(5, 1), ConvergencePoint(13, 1)]


def test_a_long_curve_has_at_most_500_points_with_both_ends():
    points = [ConvergencePoint(number, number) for number in range(5001)]

    kept = results.thin(points)

    assert (len(kept), kept[0], kept[-1]) == (500, points[0], points[-1])


def test_the_best_sets_have_the_most_wrong_answers_and_fewest_right_ones():
    run = make_run()
    make_trial(run, ("cone",), verdicts="FFPP")
    make_trial(run, ("far",), verdicts="FFF")
    make_trial(run, ("near",), verdicts="PPP")
    make_trial(run, ("bus_stop",), verdicts="FF")

    assert [trial.key for trial in results.best_trials(run, 3)] == ["far", "bus_stop", "cone"]


def test_the_time_left_follows_the_pace_so_far_and_ends_with_the_run():
    run = make_run(n_observations=30, active_seconds=60.0, state=RunState.RUNNING)
    paused = make_run(n_observations=30, active_seconds=60.0, state=RunState.SUCCEEDED)

    assert results.run_overview(run).seconds_left == pytest.approx(60.0)
    assert results.run_overview(run).share_done == pytest.approx(0.5)
    assert results.run_overview(paused).seconds_left is None


def test_the_table_by_expected_answer_stands_in_the_order_of_severity():
    counts = {"answers": 4, "fails": 1, "invalid": 0, "decided": 1, "modes": 0}
    run = make_run(by_expected={"continue": counts, "emergency_stop": counts, "slow_down": counts})

    rows = results.expected_table(run)

    assert [row.label for row in rows] == ["Emergency stop", "Slow down", "Continue"]
    assert (rows[0].fails, rows[0].answers) == (1, 4)


def test_comparing_names_shared_and_single_modes_and_what_is_not_alike():
    first, second = make_run(n_observations=10), make_run(n_observations=20)
    for run, concepts in ((first, ("cone",)), (second, ("cone",)), (second, ("far",))):
        make_finding(make_trial(run, concepts))

    page = compare_page(first, second)

    assert [group.sets for group in page.groups] == [[("cone",)], [], [], [], [("far",)]]
    assert page.warnings == ["They took different numbers of inferences: 10 and 20."]


def compared(*settings: dict[str, object]) -> list[results.RunOverview]:
    runs = [
        make_run(campaign=make_campaign(config=RevelioConfig(**one).model_dump(mode="json")))
        for one in settings
    ]
    return [results.run_overview(run) for run in runs]


@pytest.mark.parametrize(
    ("first", "second", "warnings"),
    [
        ({"algorithm": "sits"}, {"algorithm": "sits"}, []),
        ({"algorithm": "sits"}, {"algorithm": "sits", "minimal": False},
         ["Prefer minimal sets differs: yes and no."]),
        ({"algorithm": "beam"}, {"algorithm": "beam", "minimal": False}, []),
        ({"samples_per_set": 5}, {"samples_per_set": 9}, ["Samples per set differs: 5 and 9."]),
        ({"failure_rate_threshold": 0.6}, {"failure_rate_threshold": 0.8},
         ["Failure rate threshold differs: 0.6 and 0.8."]),
        ({"ask_reason": False}, {"ask_reason": True}, ["Ask for a reason differs: no and yes."]),
        ({"image_height": 336}, {"image_height": 480},
         ["The scenes differ in size: 448 × 336 and 448 × 480 pixels."]),
        ({"algorithm": "beam"}, {"algorithm": "beam", "curtail": True},
         ["Only one of the runs stops sets early, so their failure rates cannot be compared."]),
        ({"algorithm": "gpts"}, {"algorithm": "beam"},
         ["The algorithms differ (gpts and beam): compare failure modes for the same number of inferences, "
          f"not PFM. {results.PFM_NOTE}"]),
    ],
)  # fmt: skip
def test_each_setting_that_makes_numbers_unlike_is_warned_of(first, second, warnings):
    assert unlike(*compared(first, second)) == warnings


def test_pictures_from_elsewhere_make_numbers_unlike():
    make_source("photos")

    assert unlike(*compared({}, {"backend": "photos"})) == [
        "The pictures come from different sources: Embedded renderer and Photos."
    ]


def test_runs_on_two_domains_have_nothing_in_common():
    driving, kitchen = compared({}, {})
    kitchen.run.campaign.domain = "indoor"

    assert unlike(driving, kitchen) == [
        "The runs search different domains; their sets have nothing in common."
    ]


@pytest.mark.parametrize(
    ("first", "second", "is_warned"),
    [("embedded 3", "embedded 4", True), ("embedded 3", "embedded 3", False), ("", "embedded 3", False)],
)
def test_another_renderer_makes_numbers_unlike_where_both_are_known(first, second, is_warned):
    heads = compared({}, {})
    for head, pictures in zip(heads, (first, second), strict=True):
        head.run.checkpoint = {"pictures": pictures} if pictures else {}

    words = "Their pictures are made in different ways: the source or the renderer has changed."
    assert unlike(*heads) == ([words] if is_warned else [])


def test_choices_that_differ_are_written_as_words():
    heads = compared({"algorithm": "gpts", "pool": "le3"}, {"algorithm": "gpts"})

    rows = {row.title: (row.first, row.second) for row in differences(*heads)}

    assert rows["Candidates of gpts"] == (
        "All sets of up to 3", "1,000 random sets of up to 4",
    )  # fmt: skip


def test_sets_inside_sets_are_close_and_the_rest_stands_alone():
    groups = set_groups([frozenset("ab"), frozenset("c")], [frozenset("a"), frozenset("d")])

    assert [group.sets for group in groups] == [[], [("a", "b")], [("a",)], [("c",)], [("d",)]]


def test_measures_of_a_comparison_have_counts():
    run = make_finished_run()

    rows = {row.title: row for row in measures(cached_metrics(run), cached_metrics(run))}

    assert rows["Failure modes, PFM"].first.denominator == 3
    assert rows["Failure modes, PFM"].first_note == f"{cached_metrics(run).parked} parked"
    assert rows["Diversity, Div"].second_text == "0.67 over 1 pair"
