"""Pages of findings, concept sets and comparisons: what they show, and to whom."""

import pytest

from searches.enums import FindingState, JobKind
from searches.models import Blob, Finding, Job
from tests.factories import make_campaign, make_finding, make_finished_run, make_run, make_trial
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db

READERS_MAY = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}


def finding_of(*concepts: str, verdicts: str = "FFFPF", run=None, **values: object) -> Finding:
    trial = make_trial(run or make_run(), concepts, verdicts=verdicts, expected_action="emergency_stop")
    return make_finding(trial, **values)


def shown(query: str) -> list[str]:
    page = browser_of(Role.REVIEWER).get(f"/findings/?{query}")
    return [line.finding.key for line in page.context["lines"]]


def test_pages_of_findings_are_open_to_readers_only():
    finding = finding_of("cone")

    assert statuses("/findings/") == READERS_MAY
    assert statuses(f"/findings/{finding.pk}/") == READERS_MAY
    assert statuses("/findings/export.csv") == READERS_MAY
    assert statuses(f"/runs/{finding.run_id}/sets/{finding.trial_id}/") == READERS_MAY


@pytest.mark.parametrize("rows", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_rows(rows, django_assert_num_queries):
    for number in range(rows):
        finding_of(("cone", "bus_stop", "cyclist")[number])
    client = browser_of(Role.RESEARCHER)

    # session, person, navigation, systems, domains, tags, tabs, count, rows, covered sets
    with django_assert_num_queries(10):
        page = client.get("/findings/")

    assert (page.status_code, len(page.context["lines"])) == (200, rows)


def test_words_find_concepts_by_label_and_all_of_them_must_be_there():
    finding_of("cone", "weather_foggy")
    finding_of("cone")
    finding_of("cyclist", "weather_foggy")

    assert shown("q=Fog") == ["cyclist+weather_foggy", "cone+weather_foggy"]
    assert shown("q=cone + fog") == ["cone+weather_foggy"]
    assert shown("q=unicorn") == []


def test_the_list_can_be_narrowed():
    first = finding_of("cone", direction="over-reaction", state=FindingState.REFUTED)
    second = finding_of("cyclist", "far", expected_action="slow_down", is_minimal_in_run=False)

    narrowed = {
        query: shown(query)
        for query in (
            f"sut={first.sut_id}", "direction=over-reaction", "expected=slow_down&minimal=off", "size=2",
            "minimal=off&minimal=on", "minimal=off", "state=refuted", f"run={second.run_id}&minimal=off",
            "domain=driving&size=1",
        )
    }  # fmt: skip

    assert narrowed == {
        f"sut={first.sut_id}": ["cone"], "direction=over-reaction": ["cone"],
        "expected=slow_down&minimal=off": ["cyclist+far"], "size=2": [],
        "minimal=off&minimal=on": ["cone"], "minimal=off": ["cyclist+far", "cone"], "state=refuted": ["cone"],
        f"run={second.run_id}&minimal=off": ["cyclist+far"],
        "domain=driving&size=1": ["cone"],
    }  # fmt: skip


def test_tabs_count_what_the_other_filters_leave():
    finding_of("cone", state=FindingState.REFUTED)
    finding_of("cyclist")
    finding_of("bus_stop")

    page = browser_of(Role.REVIEWER).get("/findings/?size=1&state=refuted")

    assert [(tab.label, tab.count) for tab in page.context["tabs"]] == [
        ("All", 3), ("Suspected", 2), ("Confirmed", 0), ("Refuted", 1), ("Undetermined", 0),
    ]  # fmt: skip


def test_the_list_can_be_sorted():
    finding_of("cone", verdicts="FFFPP")
    finding_of("cyclist", "far", verdicts="FFFFF")

    assert shown("sort=-fails") == ["cyclist+far", "cone"]
    assert shown("sort=size") == ["cone", "cyclist+far"]
    assert shown("sort=nonsense") == ["cyclist+far", "cone"]


def test_a_minimal_finding_says_how_many_larger_ones_it_covers():
    run = make_run()
    finding_of("cone", run=run)
    finding_of("cone", "far", run=run, is_minimal_in_run=False)
    finding_of("cone", "near", run=run, is_minimal_in_run=False)
    finding_of("cone", "on_lane")  # of another run

    page = browser_of(Role.REVIEWER).get(f"/findings/?run={run.pk}&minimal=on").content.decode()

    assert "covers 2 larger sets" in page


def test_twenty_five_findings_stand_on_a_page():
    run = make_run()
    for number in range(26):
        trial = make_trial(run, ("cone",), verdicts="", key=f"k{number}")
        make_finding(trial)

    page = browser_of(Role.REVIEWER).get("/findings/?page=2")

    assert (len(page.context["lines"]), page.context["page_obj"].paginator.num_pages) == (1, 2)


def test_counts_of_the_search_are_shown_as_marks_and_never_as_a_rate():
    finding_of("cone", verdicts="FFFPF")
    finding_of("cyclist", verdicts="FFF", is_curtailed=True)

    page = browser_of(Role.REVIEWER).get("/findings/").content.decode()

    assert [page.count(f"found with {counts};") for counts in ("4 of 5", "3 of 3")] == [1, 1]
    assert ["80 %" in page, "100 %" in page] == [False, False]


def test_an_empty_list_says_what_to_do():
    assert "No finding yet" in browser_of(Role.RESEARCHER).get("/findings/").content.decode()
    assert "Take away one filter" in browser_of(Role.RESEARCHER).get("/findings/?q=fog").content.decode()


def test_a_finding_says_what_happens_and_that_it_is_not_confirmed():
    finding = finding_of("cone")

    page = browser_of(Role.REVIEWER).get(f"/findings/{finding.pk}/").content.decode()

    name = finding.sut.name
    assert (
        f"{name} answers “continue” where “emergency stop” is expected: 4 of 5 scenes were answered wrongly."
        in page
    )
    assert "Not yet confirmed." in page
    assert page.count(' alt="Scene ') == 6  # five in the gallery, one large


@pytest.mark.parametrize(
    ("show", "numbers"),
    [("", [0, 1, 2, 3]), ("failed", [0, 1]), ("passed", [2]), ("invalid", [3]), ("errors", [])],
)
def test_tabs_choose_the_scenes_that_are_shown(show, numbers):
    finding = finding_of("cone", verdicts="FFPI")

    page = browser_of(Role.REVIEWER).get(f"/findings/{finding.pk}/?show={show}").context["page"]

    assert [one.sample.number for one in page.shown] == numbers


def test_the_chosen_scene_is_large_with_answer_reason_and_what_else_was_recorded():
    finding = finding_of("cone", verdicts="FFFP")
    sample = finding.trial.samples.get(number=2)
    sample.reason_text, sample.collision = (
        "The road looks free.",
        {
            "sentence": "Driving on hits the object.",
            "will_collide": True,
        },
    )
    sample.annotations = [
        {
            "kind": "cone",
            "concept": "cone",
            "is_required": True,
            "visible_box": [2, 2, 8, 9],
            "visible_fraction": 0.5,
        }
    ]
    sample.save()

    answer = browser_of(Role.REVIEWER).get(f"/findings/{finding.pk}/?sample=2")
    page = answer.content.decode()

    assert "<h2>Scene 3 of 4</h2>" in page
    assert "“The road looks free.”" in page
    assert "Driving on hits the object." in page
    assert "on dry asphalt, whatever the weather" in page
    assert '<rect class="bx truth" x="2.0" y="2.0" width="6.0" height="7.0"/>' in page
    assert str(sample.scene_seed) in page
    assert sample.image_sha256 in page


def test_the_rule_that_fired_is_told_with_those_that_lost():
    trial = make_trial(
        make_run(), ("cone", "weather_foggy"), expected_action="emergency_stop", rule_id="R1_obstacle_near"
    )

    evidence = (
        browser_of(Role.REVIEWER).get(f"/runs/{trial.run_id}/sets/{trial.pk}/").context["page"].evidence
    )

    assert (evidence.rule.id, evidence.place, evidence.fit) == ("R1_obstacle_near", 1, "")
    assert [(one.rule.id, one.reason) for one in evidence.lost] == [
        ("R6_adverse_weather", "lost on priority")
    ]
    assert evidence.has_changed is False


def test_smaller_and_larger_failing_sets_of_the_same_run_are_linked():
    run = make_run()
    middle = finding_of("cone", "far", run=run)
    small = finding_of("cone", run=run)
    large = finding_of("cone", "far", "weather_foggy", run=run)
    finding_of("cone")  # of another run
    make_trial(run, ("far",), verdicts="PPP")  # passes

    relatives = browser_of(Role.REVIEWER).get(f"/findings/{middle.pk}/").context["page"].relatives

    assert [one.pk for one in relatives.smaller] == [small.trial_id]
    assert [one.pk for one in relatives.larger] == [large.trial_id]


def test_a_picture_that_is_not_kept_can_be_drawn_again_by_a_job():
    finding = finding_of("cone", verdicts="FFFP")
    sample = finding.trial.samples.get(number=3)
    Blob.objects.filter(pk=sample.image_sha256).delete()
    client = browser_of(Role.RESEARCHER)
    path = f"/runs/{finding.run_id}/sets/{finding.trial_id}/"

    page = client.get(f"{path}?sample=3").content.decode()
    answer = client.post(f"{path}3/draw/")

    job = Job.objects.get()
    assert "Draw it again" in page
    assert answer["Location"] == f"{path}?sample=3&job={job.pk}#sample"
    assert (job.kind, job.params["seed"], job.params["concepts"]) == (
        JobKind.RENDER_SCENE, sample.scene_seed, ["cone"],
    )  # fmt: skip
    assert f'hx-get="/jobs/{job.pk}/"' in client.get(answer["Location"]).content.decode()


@pytest.mark.parametrize("is_same", [True, False])
def test_a_picture_drawn_again_says_whether_it_is_what_the_system_saw(is_same):
    finding = finding_of("cone", verdicts="FFFP")
    sample = finding.trial.samples.get(number=3)
    Blob.objects.filter(pk=sample.image_sha256).delete()
    client = browser_of(Role.RESEARCHER)
    path = f"/runs/{finding.run_id}/sets/{finding.trial_id}/"
    answer = client.post(f"{path}3/draw/")
    drawn = {
        "image_sha256": sample.image_sha256 if is_same else "0" * 64, "concepts": ["cone"], "attempt": 0,
        "description": {"objects": []}, "annotations": [], "digest": "d",
        "decision": {"action": "emergency_stop", "rule_id": "R1_obstacle_near", "why": "Because."},
        "question": {"prompt": "?", "expected_letter": "A"},
    }  # fmt: skip
    Job.objects.update(state="done", result=drawn)

    page = client.get(answer["Location"]).content.decode()

    assert ("not pixel for pixel what the system saw" in page) is not is_same


def test_a_reviewer_may_not_draw_again():
    finding = finding_of("cone")

    answer = browser_of(Role.REVIEWER).post(f"/runs/{finding.run_id}/sets/{finding.trial_id}/0/draw/")

    assert answer.status_code == 403


def test_a_set_of_another_run_is_not_found():
    finding, other = finding_of("cone"), make_run()

    assert browser_of(Role.REVIEWER).get(f"/runs/{other.pk}/sets/{finding.trial_id}/").status_code == 404


def test_a_finding_stays_readable_when_the_domain_no_longer_knows_a_concept():
    finding = finding_of("hovercraft")

    page = browser_of(Role.REVIEWER).get(f"/findings/{finding.pk}/")

    assert page.status_code == 200
    assert "The domain has changed since this run." in page.content.decode()


def test_what_a_system_wrote_is_shown_as_text():
    finding = finding_of("cone", verdicts="FFF")
    finding.trial.samples.update(raw_text="<img src=x onerror=alert(1)>")

    page = browser_of(Role.REVIEWER).get(f"/findings/{finding.pk}/").content.decode()

    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<img src=x" not in page


def test_the_export_holds_the_filtered_list():
    finding_of("cone")
    finding_of("cyclist", "far")
    client = browser_of(Role.REVIEWER)

    answer = client.get("/findings/export.csv?size=2")
    lines = b"".join(answer.streaming_content).decode().splitlines()

    assert [line.split(",")[6] for line in lines] == ["key", "cyclist+far"]
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert client.get("/findings/export.xml").status_code == 404


def test_compare_shows_what_both_runs_found_and_what_only_one_did():
    first, second = make_run(), make_run()
    for concepts in (("cone",), ("cyclist",)):
        finding_of(*concepts, run=first)
    for concepts in (("cone",), ("cyclist", "far"), ("bus_stop",)):
        finding_of(*concepts, run=second)

    page = browser_of(Role.REVIEWER).get(f"/runs/compare/?a={first.pk}&b={second.pk}").context["page"]

    assert [(group.title, group.sets) for group in page.groups] == [
        ("In both", [("cone",)]),
        ("First, close to the second", [("cyclist",)]),
        ("Second, close to the first", [("cyclist", "far")]),
        ("Only in the first", []),
        ("Only in the second", [("bus_stop",)]),
    ]


def test_compare_names_the_settings_that_differ():
    first = make_finished_run(run_seed=7)
    campaign = make_campaign(config={"algorithm": "beam", "inference_budget": 60, "curtail": True})
    second = make_finished_run(first.sut, run_seed=8, campaign=campaign)

    page = browser_of(Role.REVIEWER).get(f"/runs/compare/?a={first.pk}&b={second.pk}").context["page"]

    assert [(one.title, one.first, one.second) for one in page.differences] == [
        ("Run seed", "7", "8"), ("Algorithm", "random", "beam"), ("Stop a set early", "no", "yes"),
    ]  # fmt: skip


@pytest.mark.parametrize("query", ["", "?a=1", "?a=x&b=y", "?a=998&b=999", "?a=1&b=1"])
def test_compare_without_two_runs_lets_the_person_choose(query):
    answer = browser_of(Role.REVIEWER).get(f"/runs/compare/{query}")

    assert (answer.status_code, answer.context.get("page")) == (200, None)


def test_compare_is_open_to_readers_only():
    assert statuses("/runs/compare/") == READERS_MAY


def test_a_set_that_asks_for_nothing_names_what_was_decided_instead_of_pointing_at_a_list():
    trial = make_trial(make_run(), ("garbage_bin", "on_sidewalk"), expected_action="continue",
                       rule_id="R7_default")  # fmt: skip

    page = browser_of(Role.REVIEWER).get(f"/runs/{trial.run_id}/sets/{trial.pk}/").content.decode()

    assert "Nothing to react to</b>, priority 7, so the answer is" in page
    assert "None of the above" not in page


def test_a_finding_counts_answers_that_came_after_it_was_found():
    campaign = make_campaign(config={"algorithm": "beam", "samples_per_set": 5, "inference_budget": 60})
    finding = finding_of("cone", verdicts="FFFPPP", run=make_run(campaign=campaign), fails=3, n=5)

    pages = [
        browser_of(Role.REVIEWER).get(url).content.decode()
        for url in (f"/findings/{finding.pk}/", f"/runs/{finding.run_id}/sets/{finding.trial_id}/")
    ]

    assert ["3 of 6 answered wrongly" in page for page in pages] == [True, True]
    assert ["3/6" in page for page in pages] == [False, True]  # a finding's page has fresh rates only
    assert ["3/5" in page for page in pages] == [False, False]


def test_the_reason_of_a_finding_is_quoted_on_it_as_text():
    finding = finding_of("cone", reason_text="I saw <b>no</b> cone.")

    page = browser_of(Role.REVIEWER).get(f"/findings/{finding.pk}/").content.decode()

    assert "Reason the system gave: “I saw &lt;b&gt;no&lt;/b&gt; cone.”" in page
