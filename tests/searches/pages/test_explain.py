"""Pages that explain the failures of a run: concepts, answers, attribution, reasons, sets, files."""

import csv
import json
from urllib.parse import urljoin

import pytest

from searches.models import Campaign, Finding, Sample, SceneFlag
from tests.factories import make_run, make_trial
from tests.searches.explained import CHILD, CONE, EARLY, FOG, ask_fresh, follow_up, say, searched
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db

READERS_MAY = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
TABS = ("", "pairs/", "answers/", "attribution/", "coverage/", "reasons/", "sets/")


def page(path: str, role: Role = Role.REVIEWER):
    return browser_of(role).get(path)


def sent(path: str) -> str:
    return b"".join(page(path).streaming_content).decode()


def by_concept(response):
    shown = response.context["page"]
    return {line.concept: line for line in [*shown.lines, *shown.left_out]}


def counts(response):
    return {name: n for name, n in response.context["page"].found.counts.items() if n}


def test_explanations_are_open_to_readers_only():
    assert statuses(f"/explain/run/{searched().pk}/") == READERS_MAY


def test_every_page_works_for_runs_campaigns_and_systems():
    run = searched()
    client = browser_of(Role.RESEARCHER)

    for tab in TABS:
        for scope, pk in (("run", run.pk), ("campaign", run.campaign_id), ("system", run.sut_id)):
            assert client.get(f"/explain/{scope}/{pk}/{tab}").status_code == 200, (scope, tab)


def test_every_page_works_before_the_first_answer():
    run = make_run()
    client = browser_of(Role.REVIEWER)

    for tab in TABS:
        assert client.get(f"/explain/run/{run.pk}/{tab}").status_code == 200, tab


@pytest.mark.parametrize("path", ["run/987654/", "nothing/1/", f"run/{10**30}/", "campaign/987654/pairs/"])
def test_what_nobody_searched_is_not_found(path):
    assert page(f"/explain/{path}").status_code == 404


def test_a_concept_has_the_mean_rate_of_the_sets_that_contain_it():
    lines = by_concept(page(f"/explain/run/{searched().pk}/?least_sets=2"))

    assert {one: line.failure.value for one, line in lines.items()} == {CONE: 0.6, FOG: 0.5, CHILD: 0.0}
    assert (lines[CONE].failure.sets, lines[CONE].failure.fails, lines[CONE].failure.samples) == (2, 6, 10)


def test_concepts_in_too_few_sets_are_left_out_with_their_counts():
    shown = page(f"/explain/run/{searched().pk}/?least_sets=2").context["page"]

    assert [line.concept for line in shown.lines] == [CONE, FOG]
    assert [line.concept for line in shown.left_out] == [CHILD]


def test_sets_of_a_search_that_stops_early_have_no_rate():
    response = page(f"/explain/run/{searched(EARLY).pk}/")

    assert by_concept(response) == {}
    assert "No set has a rate yet" in response.content.decode()


def test_fresh_scenes_take_the_place_of_the_answers_that_a_set_was_found_with():
    run = searched()
    ask_fresh(follow_up(run), (CONE, FOG), verdicts="FPPPPPPPPP")

    def rates(source):
        lines = by_concept(page(f"/explain/run/{run.pk}/?source={source}"))
        return {one: line.failure.value for one, line in lines.items()}

    assert rates("all")[FOG] == pytest.approx((0.1 + 0.0) / 2)
    assert rates("search")[FOG] == pytest.approx((1.0 + 0.0) / 2)
    assert rates("fresh") == {CONE: 0.1, FOG: 0.1}


def test_fresh_scenes_of_another_system_or_campaign_do_not_count():
    run, other = searched(), searched()
    ask_fresh(follow_up(other), (CONE, FOG), verdicts="PPPPP")

    assert by_concept(page(f"/explain/run/{run.pk}/"))[FOG].failure.value == 0.5


def test_flagged_scenes_are_left_out_until_the_flag_is_withdrawn():
    run = searched()
    sample = Sample.objects.filter(run=run, trial__key=CONE, verdict="fail").get()
    flag = SceneFlag.objects.create(sample=sample, kind="noise")
    assert by_concept(page(f"/explain/run/{run.pk}/"))[CONE].failure.value == pytest.approx(0.5)

    SceneFlag.objects.filter(pk=flag.pk).update(kind="none")

    assert by_concept(page(f"/explain/run/{run.pk}/"))[CONE].failure.value == pytest.approx(0.6)


def test_recognition_is_the_mean_of_both_kinds_of_statements():
    run = searched()
    fresh = ask_fresh(follow_up(run, "probe"), (CONE, FOG), verdicts="FFFFFPPPPP")
    say(fresh, right={CONE: True, FOG: False})

    lines = by_concept(page(f"/explain/run/{run.pk}/?least_sets=1"))

    assert (lines[CONE].recognition.value, lines[FOG].recognition.value) == (1.0, 0.0)
    assert lines[CONE].recognition.replies == 10
    assert lines[CHILD].recognition.value is None


def test_a_button_probes_the_concepts_whose_recognition_is_not_told():
    run = searched()
    fresh = ask_fresh(follow_up(run, "probe"), (CONE,), verdicts="FFFFFPPPPP")
    say(fresh, right={CONE: True})
    client = browser_of(Role.RESEARCHER)
    offer = client.get(f"/explain/run/{run.pk}/").context["offer"]
    assert (offer.keys, offer.concepts, offer.calls) == (((CHILD, FOG),), (CHILD, FOG), 40)

    answer = client.post(f"/explain/run/{run.pk}/probe/")

    campaign = Campaign.objects.exclude(pk=fresh.run.campaign_id).get(kind="probe")
    assert answer.url == campaign.get_absolute_url()
    assert [tuple(item.concepts) for item in campaign.items.all()] == [(CHILD, FOG)]


def test_what_somebody_writes_into_an_address_breaks_no_page():
    run = searched()
    client = browser_of(Role.REVIEWER)

    for tab, names in {
        "": ("source", "least_sets", "reasoning"),
        "coverage/": ("basis", "calls", "largest"),
        "sets/": ("c", "page"),
        f"../../campaign/{run.campaign_id}/": ("sut",),
        f"../../system/{run.sut_id}/": ("domain",),
        "../../": ("domain", "measure", "least_systems"),
    }.items():
        for name in names:
            for value in ("-1", "9" * 40, "\x00", "٣", "nan", "<script>"):
                address = urljoin(f"/explain/run/{run.pk}/", tab)
                assert client.get(address, {name: value}).status_code in (200, 422), (address, name, value)


def test_answers_behind_statements_are_in_no_failure_rate():
    run = searched()
    fresh = ask_fresh(follow_up(run, "probe"), (CONE, FOG), verdicts="FFFFF")
    say(fresh, right={CONE: True, FOG: True})  # five right answers, primed

    assert by_concept(page(f"/explain/run/{run.pk}/?source=fresh"))[CONE].failure.value == 1.0


def test_thresholds_that_are_out_of_order_are_named_at_the_field_and_defaults_shown():
    response = page(f"/explain/run/{searched().pk}/?reasoning=30&recognition=60")

    assert response.status_code == 422
    assert "Enter less than 30 %" in response.content.decode()
    assert response.context["page"].thresholds.reasoning == 0.7


def test_the_papers_table_says_which_rows_break_its_own_rule():
    shown = page(f"/explain/run/{searched().pk}/").context["page"]

    assert (shown.table, len(shown.published)) == (13, 10)
    printed = {line.row.concept: line for line in shown.published}
    assert printed["obstruction_near"].is_against_rule is False
    assert printed["obstruction_far"].is_against_rule is True  # F 15.6 is below 20, printed as mixed


def test_answers_are_counted_by_expected_answer_and_direction():
    shown = page(f"/explain/run/{searched().pk}/answers/").context["page"]

    stop, slow = shown.lines
    assert (stop.action, stop.answers, stop.fails, stop.invalid) == ("emergency_stop", 10, 5, 1)
    assert stop.outcomes == {"under-reaction": 4, "invalid": 1, "right": 5}
    assert (slow.action, slow.answers, slow.fails) == ("slow_down", 5, 1)
    assert (shown.total.answers, shown.total.fails, shown.total.readable_fails) == (15, 6, 5)
    assert stop.rate.value == pytest.approx(0.5)
    assert (stop.modes, stop.decided, stop.suspected, stop.confirmed) == (1, 2, 1, 0)


def test_findings_are_counted_by_state():
    run = searched()
    Finding.objects.filter(run=run).update(state="confirmed")

    stop = page(f"/explain/run/{run.pk}/answers/").context["page"].lines[0]

    assert (stop.suspected, stop.confirmed) == (0, 1)


def test_every_call_has_one_place_and_places_add_up():
    run = searched()

    assert counts(page(f"/explain/run/{run.pk}/attribution/")) == {
        "call_error": 1, "right": 9, "invalid": 1, "not_probed": 5,
    }  # fmt: skip


def test_flags_take_wrong_answers_out_of_what_the_system_is_blamed_for():
    run = searched()
    first, second = Sample.objects.filter(run=run, trial__key=f"{CONE}+{FOG}", answer_status="answered")[:2]
    SceneFlag.objects.create(sample=first, kind="answer_wrong")
    SceneFlag.objects.create(sample=first, kind="noise")
    SceneFlag.objects.create(sample=second, kind="question")

    found = counts(page(f"/explain/run/{run.pk}/attribution/"))

    assert (found["artefact"], found["rule"], found["not_probed"]) == (1, 1, 3)


def test_the_sentence_of_an_attribution_speaks_of_one_answer_and_of_several():
    run = searched()
    several = page(f"/explain/run/{run.pk}/attribution/").content.decode()
    wrong = Sample.objects.filter(run=run, verdict="fail", answer_status="answered").order_by("pk")
    for sample in wrong[1:]:
        SceneFlag.objects.create(sample=sample, kind="noise")

    one = page(f"/explain/run/{run.pk}/attribution/").content.decode()

    assert "0 are unclear, 5 were not probed." in several
    assert "1 was not probed." in one


def test_wrong_answers_are_judged_by_statements_about_the_scene_then_the_set_then_its_concepts():
    run = searched()
    fresh = ask_fresh(follow_up(run, "probe"), (CONE, FOG), verdicts="FPPPPPPPPP")
    say(fresh, right={CONE: True, FOG: False})

    shown = page(f"/explain/run/{run.pk}/attribution/").context["page"]

    # One fresh failure by its own scene, four of the search by their set, cone alone by its concept (R = 1).
    assert (shown.by_scene, shown.by_set, shown.by_concept) == (1, 4, 1)
    assert shown.found.counts["recognition"] == 5
    assert shown.found.counts["under-reaction"] == 1
    assert shown.found.counts["not_probed"] == 0


def test_reasons_are_quoted_with_tags_of_people_and_tags_that_words_propose():
    run = searched()
    Sample.objects.filter(run=run, verdict="fail").update(reason_text="The road is clear.")
    Finding.objects.filter(run=run).update(tags=["ignored hazard"])

    response = page(f"/explain/run/{run.pk}/reasons/")

    shown = response.context["page"]
    assert (shown.total, shown.tags, shown.proposed) == (6, [("ignored hazard", 1)], [("Ignored hazard", 6)])
    assert "“The road is clear.”" in response.content.decode()


def test_the_sets_behind_a_mark_contain_all_its_concepts():
    run = searched()
    client = browser_of(Role.REVIEWER)

    def keys(query):
        lines = client.get(f"/explain/run/{run.pk}/sets/?{query}").context["lines"]
        return sorted(line.trial.key for line in lines)

    assert keys(f"c={CONE}") == [CONE, f"{CONE}+{FOG}"]
    assert keys(f"c={CONE}&c={FOG}") == [f"{CONE}+{FOG}"]
    assert keys(f"c={FOG}") == [f"{CHILD}+{FOG}", f"{CONE}+{FOG}"]
    assert keys("c=con") == []


def test_a_system_shows_all_its_searches_of_one_version_of_a_domain():
    run = searched()
    searched(sut=run.sut)
    searched()

    shown = page(f"/explain/system/{run.sut_id}/answers/").context["page"]

    assert shown.total.answers == 30


def test_a_campaign_shows_one_of_its_systems():
    run = searched()
    other = make_run(campaign=run.campaign)
    make_trial(other, (CHILD,), verdicts="FF", expected_action="emergency_stop")

    def answers(query):
        response = page(f"/explain/campaign/{run.campaign_id}/answers/{query}")
        return response.context["scope"].sut.pk, response.context["page"].total.answers

    assert answers("") == (run.sut_id, 15)  # the one with most answers
    assert answers(f"?sut={other.sut.slug}") == (other.sut_id, 2)


def test_every_table_can_be_had_as_a_file():
    run = searched()

    for what in ("concepts", "pairs", "answers", "attribution", "coverage", "plan", "reasons"):
        rows = list(csv.reader(sent(f"/explain/run/{run.pk}/export/{what}.csv").splitlines()))
        named = json.loads(sent(f"/explain/run/{run.pk}/export/{what}.json"))
        assert len(rows) == len(named) + 1, what
        assert all(list(one) == rows[0] for one in named), what


def test_a_file_is_counted_as_its_page_is():
    run = searched()
    ask_fresh(follow_up(run), (CONE, FOG), verdicts="PPPPP")

    named = json.loads(sent(f"/explain/run/{run.pk}/export/concepts.json?source=fresh"))

    assert {row["concept"]: row["f"] for row in named} == {CONE: 0.0, FOG: 0.0}


def test_there_are_no_other_files():
    run = searched()

    assert page(f"/explain/run/{run.pk}/export/nothing.csv").status_code == 404
    assert page(f"/explain/run/{run.pk}/export/concepts.xls").status_code == 404


QUERIES = {"": 11, "pairs/": 7, "answers/": 10, "attribution/": 8, "coverage/": 8, "reasons/": 8, "sets/": 7}


@pytest.mark.parametrize("sets", [1, 3])
def test_a_page_takes_the_same_queries_for_any_number_of_sets(sets, django_assert_max_num_queries):
    run = searched()
    fresh = follow_up(run, "probe")
    for concept in (CONE, FOG, CHILD)[:sets]:
        say(ask_fresh(fresh, (concept,), verdicts="FP", block=concept[:16]), right={concept: True})
    client = browser_of(Role.RESEARCHER)

    for tab, queries in QUERIES.items():
        client.get(f"/explain/run/{run.pk}/{tab}")
        with django_assert_max_num_queries(queries):
            client.get(f"/explain/run/{run.pk}/{tab}")
