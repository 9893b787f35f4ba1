"""Numbers of run pages and exports, against hand-counted runs."""

import csv
import io
import json

import pytest

from searches.models import Finding, SearchRun
from searches.services import exports, results
from searches.services.finding_pages import trial_detail
from searches.services.jobs import redraw_job
from searches.services.run_pages import run_curves
from tests.factories import make_campaign, make_finding, make_run, make_trial
from tests.searches.engine import advance, start_run

pytestmark = pytest.mark.django_db


def whole_run(**values):
    """A run of plain sampling, counted by hand: 2 of 3 sets fail, 8 of 15 answers are wrong, 1 is invalid."""
    run = make_run(campaign=make_campaign(config={"algorithm": "random", "inference_budget": 15}), **values)
    first = make_trial(run, ("cone", "on_lane", "near"), verdicts="FFFPF", expected_action="emergency_stop")
    second = make_trial(run, ("cone", "on_lane", "far"), verdicts="FFIPP", expected_action="slow_down")
    make_trial(run, ("weather_foggy",), verdicts="PPFPP", expected_action="continue")
    make_finding(first, found_at_inference=5, direction="under-reaction")
    make_finding(second, found_at_inference=10, direction="insufficient")
    type(run).objects.filter(pk=run.pk).update(n_inferences=15, n_observations=15, n_modes=2, n_trials=3)
    run.refresh_from_db()
    return run


def test_metrics_carry_their_counts():
    metrics = results.run_metrics(whole_run())

    assert (metrics.pfm.numerator, metrics.pfm.denominator) == (2, 3)
    assert (metrics.mfr.numerator, metrics.mfr.denominator) == (8, 15)
    assert (metrics.mfr_valid.numerator, metrics.mfr_valid.denominator) == (7, 14)
    assert metrics.pfm_valid.numerator == 1
    assert metrics.diversity == pytest.approx(1 - 2 / 4)
    assert metrics.by_expected["continue"].pfm.numerator == 0


def test_convergence_of_findings_agrees_with_the_recount_at_batch_ends():
    run = start_run(inference_budget=60)
    advance(run)

    exact = results.exact_convergence(run)

    assert exact[-1].modes == run_curves(run).modes[-1].modes == run.n_modes
    assert exact[-1].inferences == 60


def test_overview_estimates_the_rest_from_the_pace_so_far():
    run = make_run(
        campaign=make_campaign(config={"algorithm": "random", "inference_budget": 100}),
        state="running",
        n_observations=25,
        active_seconds=50.0,
        render_seconds=30.0,
        sut_seconds=19.0,
    )

    overview = results.run_overview(run)

    assert (overview.share_done, overview.seconds_left, overview.pace) == (0.25, 150.0, 30.0)


def test_expected_table_follows_the_domains_order_of_severity():
    run = start_run(inference_budget=40)
    advance(run)

    rows = results.expected_table(run)

    order = ["emergency_stop", "slow_down", "continue"]
    assert [row.action for row in rows] == [one for one in order if one in run.by_expected]
    assert sum(row.answers for row in rows) == 40


def test_a_finding_shows_every_sample_with_its_rule_and_rate():
    run = whole_run()
    finding = run.findings.get(found_at_inference=5)
    gone = finding.trial.samples.first()
    type(gone).objects.filter(pk=gone.pk).update(image_sha256="0" * 64)

    view = trial_detail(finding.trial)

    assert (len(view.samples), view.rate) == (5, 0.8)
    assert 0.28 < view.interval.low < 0.8 < view.interval.high < 1
    assert [one.has_picture for one in view.samples] == [False, True, True, True, True]
    assert view.decision.action == "emergency_stop"
    assert view.graph.nodes[0].id == "ego"


def test_a_curtailed_finding_has_a_class_and_no_rate():
    run = make_run()
    finding = make_finding(make_trial(run, ("cone", "on_lane", "near"), verdicts="FFF", is_curtailed=True))

    assert trial_detail(finding.trial).rate is None


def test_the_same_picture_is_drawn_again_by_one_job():
    sample = whole_run().samples.first()

    first, second = redraw_job(sample, by=None), redraw_job(sample, by=None)

    assert first == second
    assert first.params["seed"] == sample.scene_seed


def test_summary_has_what_the_shell_promises():
    run = start_run(inference_budget=40)
    advance(run)

    summary = exports.run_summary(run)

    promised = {"state", "inferences", "call_errors", "sets_touched", "failure_modes", "pfm", "mfr", "div"}
    assert promised <= set(summary)
    assert (summary["state"], summary["inferences"]) == ("succeeded", 40)
    assert len(summary["failure_modes"]) == run.n_modes
    assert {"concepts", "fails", "samples"} <= set(summary["failure_modes"][0])
    assert summary["mfr"] is None  # curtailed sets have no rate


def test_run_json_is_valid_and_complete():
    run = whole_run()

    content = json.loads("".join(exports.run_json(run)))

    assert (len(content["sets"]), len(content["samples"])) == (3, 15)
    assert content["pfm_counts"] == [2, 3]


def test_csv_cells_are_never_formulas():
    run = whole_run()
    texts = ["=HYPERLINK(1)", "+1", "-1", "@x", "fine"]
    for sample, text in zip(run.samples.all(), texts, strict=False):
        type(sample).objects.filter(pk=sample.pk).update(raw_text=text)

    rows = list(csv.DictReader(io.StringIO("".join(exports.samples_csv(run)))))

    assert [row["raw_text"] for row in rows[:5]] == ["'=HYPERLINK(1)", "'+1", "'-1", "'@x", "fine"]
    assert len(rows) == 15


def test_exports_of_findings_agree():
    whole_run()
    findings = Finding.objects.order_by("id")

    rows = list(csv.DictReader(io.StringIO("".join(exports.findings_csv(findings)))))
    listed = json.loads("".join(exports.findings_json(findings)))

    assert [row["key"] for row in rows] == [row["key"] for row in listed]
    assert json.loads("".join(exports.findings_json(Finding.objects.none()))) == []
    assert (
        len(list(csv.DictReader(io.StringIO("".join(exports.trials_csv(Finding.objects.first().run)))))) == 3
    )


def test_the_head_of_a_run_page_counts_nothing(django_assert_num_queries):
    run = SearchRun.objects.select_related("campaign").get(pk=whole_run().pk)

    with django_assert_num_queries(0):
        results.run_overview(run)
        results.expected_table(run)
