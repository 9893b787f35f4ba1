"""What a regression says: pairs, verdicts, flags, files, and JUnit XML that other readers take."""

import csv
import io
import json
from xml.etree import ElementTree

import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from searches.enums import RunState
from searches.models import FollowUpItem, FollowUpSource, RegressionFamily, Sample, SearchRun
from searches.services.families import (
    FamilyWish,
    archive_family,
    create_family,
    pin_to,
    read_pins,
    unpin,
)
from searches.services.junit import junit_xml
from searches.services.regression_exports import regression_file
from searches.services.regression_scenes import mode_scenes
from searches.services.regression_settling import settle_regression
from searches.services.regression_wishes import power_of, regression_wish
from searches.services.regressions import letters_of, regression_page
from searches.services.scene_flags import flag_sample
from tests.factories import make_campaign, make_finding, make_run, make_sut, make_trial
from tests.searches.gate_factory import SETS, fixed_numbers, make_confirmed, make_family, make_regression
from vlmlab.core.errors import VlmLabError

pytestmark = pytest.mark.django_db
FIXED = ("F" * 36 + "P" * 4, "F" * 6 + "P" * 34)
OPEN = ("F" * 20 + "P" * 20, "P" * 3 + "F" * 17 + "F" * 4 + "P" * 16)
WORSE = ("P" * 30 + "F" * 10, "F" * 36 + "PPPI")


# --- the verdict ---------------------------------------------------------------------------------------
def test_a_regression_with_a_worse_mode_fails_and_says_which():
    page = regression_page(make_regression(make_family(3), {0: FIXED, 1: OPEN, 2: WORSE}))

    assert page.verdict == "fail"
    assert [line.verdict for line in page.modes] == ["fixed", "not_enough", "worse"]
    assert page.tally == {"worse": 1, "not_enough": 1, "fixed": 1}
    assert page.sentence == "New fails more often than before on 1 mode: Pedestrian + Fog."


def test_p_values_and_holm_are_those_of_statsmodels():
    page = regression_page(make_regression(make_family(3), {0: FIXED, 1: OPEN, 2: WORSE}))

    tables = [
        [[line.counts.both, line.counts.first_only], [line.counts.second_only, line.counts.neither]]
        for line in page.modes
    ]
    wanted = [mcnemar(table, exact=True).pvalue for table in tables]
    assert [line.reading.p_value for line in page.modes] == pytest.approx(wanted)
    adjusted = multipletests(wanted, method="holm")[1]
    assert [line.reading.adjusted for line in page.modes] == pytest.approx(list(adjusted))


def test_a_family_passes_only_where_every_mode_surely_is_no_worse():
    family = make_family(2, scenes=100)
    steady = ("F" * 50 + "P" * 50, "F" * 50 + "P" * 50)

    assert regression_page(make_regression(family, {0: steady, 1: steady})).verdict == "pass"
    assert regression_page(make_regression(family, {0: steady, 1: OPEN})).verdict == "not_enough"


def test_a_family_that_wants_all_fixed_fails_on_a_mode_that_still_fails():
    family = make_family(2, goal="all_fixed")
    still = ("F" * 36 + "P" * 4, "F" * 36 + "P" * 4)

    page = regression_page(make_regression(family, {0: FIXED, 1: still}))

    assert page.verdict == "fail"
    assert page.sentence == "New still fails on 1 mode."
    assert regression_page(make_regression(family, {0: FIXED, 1: FIXED})).verdict == "pass"


def test_only_scenes_that_both_systems_answered_are_pairs():
    page = regression_page(make_regression(make_family(1), {0: ("FFFFPP", "FFP")}))

    counts = page.modes[0].counts

    assert (counts.n, counts.first, counts.second, counts.first_only) == (3, 3, 2, 1)
    assert page.n_short == 1


def test_no_verdict_is_given_before_both_runs_have_ended():
    page = regression_page(make_regression(make_family(1), {0: WORSE}, state=RunState.RUNNING))

    assert (page.verdict, page.modes[0].verdict, page.modes[0].reading) == ("", "", None)
    assert page.sentence.startswith("New is being asked")


@pytest.mark.parametrize(
    ("state", "word"), [(RunState.CANCELLED, "ended early"), (RunState.FAILED, "failed")]
)
def test_a_regression_that_was_halted_has_no_verdict_whatever_was_answered(state, word):
    campaign = make_regression(make_family(2), {0: FIXED, 1: WORSE})
    new_run = campaign.runs.get(sut__slug="new")
    SearchRun.objects.filter(pk=new_run.pk).update(state=state)

    page = regression_page(campaign)
    settle_regression(campaign)

    assert (page.is_final, page.verdict, {line.verdict for line in page.modes}) == (True, "", {""})
    assert page.sentence == (
        f"There is no verdict, because not everything was asked: the run on New is {word}."
    )
    spec = FollowUpSource.objects.get(campaign=campaign).spec
    assert (spec["verdict"], spec["modes"]) == ("halted", {})
    xml = ElementTree.fromstring(junit_xml(page))
    assert (xml.get("failures"), len(xml.findall(".//skipped"))) == ("0", 3)


@pytest.mark.parametrize(
    ("answers", "goal", "verdict", "sentence"),
    [
        (("F" * 40, "F" * 4 + "P" * 36), "no_worse", "pass",
         "New fails on fewer test cases than the baseline: 4 of 40 test cases fail now, 40 did before."),
        (("P" * 40, "F" * 30 + "P" * 10), "no_worse", "fail",
         "New fails on more test cases than the baseline: 30 of 40 test cases fail now, 0 did before."),
        (("F" * 40, "F" * 40), "all_fixed", "fail",
         "New surely still fails on at least 60 % of test cases: 40 of 40 test cases fail now, 40 did "
         "before."),
        (("F" * 40, "F" * 4 + "P" * 36), "all_fixed", "pass",
         "New surely fails on less than 60 % of test cases: 4 of 40 test cases fail now, 40 did before."),
        (("F" * 20 + "P" * 20, "F" * 22 + "P" * 18), "no_worse", "not_enough",
         "Nothing is shown to be worse, but it is not shown either that New is no worse: 22 of 40 test cases "
         "fail now, 20 did before. That is no pass."),
        (("F" * 40 + "P" * 60, "F" * 39 + "P" * 61), "no_worse", "pass",
         "On all test cases together New fails surely at most 1.7 points more often: 39 of 100 test cases "
         "fail now, 40 did before."),
    ],
)  # fmt: skip
def test_cases_that_were_each_compared_once_are_told_as_one(answers, goal, verdict, sentence):
    campaign = make_case_regression(answers, goal=goal)

    page = regression_page(campaign)

    assert (page.verdict, page.sentence) == (verdict, sentence)


def make_case_regression(answers, *, goal):
    """Make a regression of test cases without draws: a letter a case and system."""
    config = {"scenes": 1, "goal": goal}
    campaign = make_campaign(name="Cases", method="case_follow_up", kind="regress", config=config)
    suts = [make_sut(slug, name=slug.capitalize()) for slug in ("old", "new")]
    spec = {"baseline": suts[0].pk, "candidate": suts[1].pk}
    FollowUpSource.objects.create(campaign=campaign, spec=spec)
    for sut, letters in zip(suts, answers, strict=True):
        run = make_run(sut, campaign=campaign, state=RunState.SUCCEEDED)
        FollowUpItem.objects.bulk_create(
            FollowUpItem(
                campaign=campaign, run=run, order=order, block=f"{order:016d}", n=1, fails=letter == "F",
                numbers={"parts": {"exact": "fail" if letter == "F" else "pass"}},
            )
            for order, letter in enumerate(letters)
        )  # fmt: skip
    return campaign


def test_a_flagged_scene_counts_for_neither_system():
    campaign = make_regression(make_family(1), {0: ("FFFFPP", "PFFFPP")}, with_samples=True)
    first = Sample.objects.filter(run__campaign=campaign, number=0).earliest("pk")

    flag_sample(first, ["noise"], by=None)

    line = regression_page(campaign).modes[0]
    assert (line.counts.n, line.counts.first_only, line.flagged) == (5, 0, 1)


def test_a_settled_regression_keeps_its_verdict_for_lists_once_it_has_ended():
    campaign = make_regression(make_family(2), {0: FIXED, 1: WORSE})
    early = make_regression(RegressionFamily.objects.get(), {0: FIXED, 1: WORSE}, state=RunState.RUNNING)

    settle_regression(campaign)
    settle_regression(campaign)  # again does no harm
    settle_regression(early)

    spec = FollowUpSource.objects.get(campaign=campaign).spec
    assert (spec["verdict"], spec["counts"]) == ("fail", {"worse": 1, "fixed": 1})
    assert sorted(one["verdict"] for one in spec["modes"].values()) == ["fixed", "worse"]
    assert "verdict" not in FollowUpSource.objects.get(campaign=early).spec


def test_scenes_stand_side_by_side_and_those_that_differ_come_first():
    page = regression_page(make_regression(make_family(1), {0: ("FFPP", "PFFP")}, with_samples=True))

    opened = mode_scenes(page, 0, which="")

    assert opened.which == "differ"
    assert [pair.number for pair in opened.pairs] == [0, 2]
    assert [pair.kind for pair in mode_scenes(page, 0, which="all").pairs] == [
        "differ", "both", "differ", "neither",
    ]  # fmt: skip
    assert mode_scenes(page, 1, which="all") is None


def test_a_test_case_without_draws_is_one_pair_and_with_draws_the_draws_are_the_pairs():
    exact = FollowUpItem(case_id=1, numbers={"parts": {"clean": "pass", "exact": "fail"}})
    drawn = FollowUpItem(case_id=1, numbers={"parts": {"exact": "fail"}} | fixed_numbers("PF"))
    unanswered = FollowUpItem(case_id=1, numbers={"parts": {"exact": "call_error"}})

    assert [letters_of(one) for one in (exact, drawn, unanswered)] == [{0: "F"}, {0: "P", 1: "F"}, {}]


# --- files ---------------------------------------------------------------------------------------------
def test_junit_fails_worse_modes_skips_open_ones_and_passes_the_rest():
    page = regression_page(make_regression(make_family(3), {0: FIXED, 1: OPEN, 2: WORSE}))

    root = ElementTree.fromstring(junit_xml(page))

    suite = root.find("testsuite")
    cases = suite.findall("testcase")
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4", "failures": "2", "errors": "0", "skipped": "1",
    }  # fmt: skip
    assert [case.find("failure") is not None for case in cases] == [False, False, True, True]
    assert [case.find("skipped") is not None for case in cases] == [False, True, False, False]
    assert cases[0].get("classname") == "vlmlab.regression.cones-and-debris"
    assert cases[2].find("failure").get("message").startswith("Worse: Failed on 10 of 40 scenes before")


CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase", "system-out", "system-err"},
    "properties": {"property"},
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
}
ATTRIBUTES = {
    "testsuites": ({"name"}, {"time", "tests", "failures", "errors", "disabled"}),
    "testsuite": (
        {"name", "tests"},
        {"failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id", "package"},
    ),
    "property": ({"name", "value"}, set()),
    "testcase": ({"name", "classname"}, {"assertions", "time", "status"}),
    "failure": (set(), {"type", "message"}),
    "skipped": (set(), {"type", "message"}),
}
"""Elements, and attributes (needed, allowed), of the schema that Jenkins and most CI systems publish."""


def test_junit_has_the_shape_that_ci_systems_expect():
    family = make_family(3)
    family.name = 'A <b> & "c" \x07'
    family.save()
    page = regression_page(make_regression(family, {0: FIXED, 1: OPEN, 2: WORSE}))

    root = ElementTree.fromstring(junit_xml(page))

    for element in root.iter():
        children = {child.tag for child in element}
        needed, allowed = ATTRIBUTES.get(element.tag, (set(), set()))
        assert children <= CHILDREN.get(element.tag, set()), element.tag
        assert needed <= set(element.attrib) <= needed | allowed, element.tag
    assert root.get("name") == 'VLM Lab regression A <b> & "c" ?'
    suite = root.find("testsuite")
    assert int(suite.get("tests")) == len(suite.findall("testcase"))
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
    float(suite.get("time"))


def test_files_hold_no_secret_and_say_the_same(settings):
    family = make_family(2)
    family.baseline.params = {"asking": {}, "note": "s3cret-token"}
    family.baseline.save()
    page = regression_page(make_regression(family, {0: FIXED, 1: WORSE}))

    files = {fmt: regression_file(page, fmt) for fmt in ("csv", "json", "xml")}

    assert not any("s3cret-token" in text for text in files.values())
    rows = list(csv.DictReader(io.StringIO(files["csv"])))
    values = json.loads(files["json"])
    assert [row["verdict"] for row in rows] == [one["verdict"] for one in values["modes"]]
    assert (values["verdict"], values["counts"]) == ("fail", {"worse": 1, "fixed": 1})
    assert rows[1]["new_invalid"] == "1"


# --- families ------------------------------------------------------------------------------------------
def test_findings_of_two_domains_or_two_kinds_of_picture_make_no_family():
    run = make_run()
    other = make_run(campaign=make_campaign(config={"image_width": 320, "image_height": 240}))
    old = make_run(campaign=make_campaign(domain_version="0" * 12))
    first, second, third = (make_finding(make_trial(one, ("cone",))) for one in (run, other, old))

    with pytest.raises(VlmLabError, match="several domains or versions"):
        read_pins(findings=[first.pk, third.pk])
    with pytest.raises(VlmLabError, match="different pictures: embedded, 320 × 240 pixels; embedded, 448"):
        read_pins(findings=[first.pk, second.pk])
    with pytest.raises(VlmLabError, match="Nothing is chosen"):
        read_pins()
    with pytest.raises(VlmLabError, match="is gone"):
        read_pins(findings=[first.pk, 10**9])


def test_pinning_warns_of_findings_that_are_not_confirmed():
    run = make_run()
    sure, unsure = make_confirmed(run, ("cone",)), make_finding(make_trial(run, ("near", "cone")))

    assert read_pins(findings=[sure.pk]).warnings == ()
    assert (
        read_pins(findings=[sure.pk, unsure.pk])
        .warnings[0]
        .startswith("1 of 2 is not confirmed (1 suspected).")
    )


def test_a_family_keeps_the_rate_on_fresh_scenes_and_the_kind_of_picture_of_its_findings():
    campaign = make_campaign(config={"image_width": 320, "image_height": 240, "algorithm": "sits"})
    finding = make_confirmed(make_run(campaign=campaign), ("cone",))

    family = create_family(FamilyWish("Cones", finding.sut), read_pins(findings=[finding.pk]), by=None)

    assert (family.config["image_width"], family.config["scenes"]) == (320, 40)
    assert family.members.get().pinned_rate == 0.9


def test_what_a_family_has_is_passed_over_and_what_does_not_fit_is_refused():
    family = make_family(2)
    known = family.members.first().finding
    new = make_confirmed(known.run, SETS[2])
    small = make_run(campaign=make_campaign(config={"image_width": 320}))
    misfit = make_finding(make_trial(small, ("near", "cone")))

    assert pin_to(family, read_pins(findings=[known.pk, new.pk]), by=None) == 1
    with pytest.raises(VlmLabError, match="drawn with embedded, 448 × 336 pixels; finding"):
        pin_to(family, read_pins(findings=[misfit.pk]), by=None)
    archive_family(family, is_archived=True, by=None)
    with pytest.raises(VlmLabError, match="is archived"):
        pin_to(family, read_pins(findings=[new.pk]), by=None)


def test_the_last_member_stays():
    family = make_family(1)

    with pytest.raises(VlmLabError, match="It is the last member"):
        unpin(family, family.members.get().pk, by=None)


def test_a_regression_asks_both_systems_the_same_blocks_and_no_system_against_itself():
    family, candidate = make_family(2), make_sut("new")

    wish = regression_wish(family, candidate=candidate, scenes=7)

    assert [sut.slug for sut, _ in wish.items] == ["old", "new"]
    blocks = [[one.stored_block for one in items] for _, items in wish.items]
    assert blocks[0] == blocks[1]
    assert (wish.config.scenes, wish.domain_ref) == (7, f"driving@{family.domain_version}")
    with pytest.raises(VlmLabError, match="compared with itself"):
        regression_wish(family, candidate=family.baseline)
    with pytest.raises(VlmLabError, match="has no baseline"):
        regression_wish(RegressionFamily(name="Empty", config=family.config), candidate=candidate)


def test_the_plan_says_what_its_scenes_can_show():
    plan = power_of(scenes=40, margin=0.1, level=0.05, modes=2)

    assert plan.calls == 160
    assert 0.4 < plan.detectable < 0.6  # from 80 %, at 80 % power
    assert 0 < plan.passing < 0.8
    assert plan.needed > 40
    assert power_of(scenes=4, margin=0.1, level=0.05, modes=1).sentences[0].startswith("Too few: below 6")
    assert power_of(scenes=0, margin=0.1, level=0.05, modes=1) is None
