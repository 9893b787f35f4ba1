"""Campaigns and runs over the API: starting once, reading progress, acting, paging."""

import pytest

from searches.enums import RunState
from searches.models import AuditEntry, Campaign, Job, SearchRun
from tests.factories import make_campaign, make_finished_run, make_run, make_sut, make_user
from tests.searches.api.asking import Program
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db
SEARCH = {"suts": ["toy"], "config": {"inference_budget": 10}, "seed": 3}
KEY = {"Idempotency-Key": "7f1d"}


@pytest.fixture
def program():
    make_sut("toy")
    return Program()


def test_a_search_starts_one_run_for_each_system(program):
    make_sut("other")

    campaign = program.post("/campaigns", SEARCH | {"suts": ["toy", "other"]})

    assert program.status == 201
    assert campaign["name"] == "Driving, sits, minimal, 10 inferences"
    assert [(run["sut"], run["state"], run["seed"]) for run in campaign["runs"]] == [
        ("toy", "queued", 3),
        ("other", "queued", 3),
    ]
    assert program.get(f"/campaigns/{campaign['id']}") == campaign


def test_a_preset_is_where_the_settings_start(program):
    campaign = program.post(
        "/campaigns", SEARCH | {"preset": "paper_1000", "config": {"inference_budget": 50}}
    )

    assert (campaign["config"]["algorithm"], campaign["config"]["inference_budget"]) == ("beam", 50)


def test_the_same_key_with_the_same_search_starts_it_once(program):
    first = program.post("/campaigns", SEARCH, **KEY)
    again = program.post("/campaigns", SEARCH, **KEY)

    assert (program.status, again) == (201, first)
    assert Campaign.objects.count() == 1


def test_the_same_key_with_another_search_is_a_conflict(program):
    program.post("/campaigns", SEARCH, **KEY)

    problem = program.post("/campaigns", SEARCH | {"seed": 4}, **KEY)

    assert (program.status, problem["field"]) == (409, "Idempotency-Key")
    assert Campaign.objects.count() == 1


def test_two_people_may_use_the_same_key(program):
    program.post("/campaigns", SEARCH, **KEY)

    Program(make_user(Role.RESEARCHER)).post("/campaigns", SEARCH, **KEY)

    assert Campaign.objects.count() == 2


def test_two_keys_start_the_same_search_twice(program):
    program.post("/campaigns", SEARCH, **KEY)

    program.post("/campaigns", SEARCH, **{"Idempotency-Key": "another"})

    assert Campaign.objects.count() == 2


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"config": {"inference_budget": 0}}, "config.inference_budget", "from 1 to 1,000,000"),
        ({"config": {"budget": 5}}, "config.budget", "There is no setting called “budget”."),
        ({"config": {"required_concepts": ["dragon"]}}, "concepts", "dragon"),
        ({"suts": ["toy", "ghost"]}, "suts", "There is no system “ghost”."),
        ({"suts": []}, "suts", "at least 1"),
        ({"suts": ["off"]}, "suts", "switched off"),
        ({"domain": "kitchen"}, "domain", "There is no domain “kitchen”."),
        ({"method": "magic"}, "method", "There is no method"),
        ({"preset": "none"}, "preset", "There is no preset"),
        ({"seed": -1}, "seed", "of at least 0"),
    ],
)
def test_a_refused_search_says_what_is_wrong_and_where(program, change, field, sentence):
    make_sut("off", is_enabled=False)

    problem = program.post("/campaigns", SEARCH | change)

    assert (program.status, problem["field"]) == (422, field)
    assert sentence in problem["message"]
    assert SearchRun.objects.count() == 0


@pytest.mark.parametrize("key", ["x" * 81, "\x01"])
def test_a_key_that_cannot_be_kept_is_refused(program, key):
    problem = program.post("/campaigns", SEARCH, **{"Idempotency-Key": key})

    assert (program.status, problem["field"]) == (422, "Idempotency-Key")


@pytest.mark.parametrize("path", ["/campaigns", "/runs"])
@pytest.mark.parametrize("count", [1, 3])
def test_lists_ask_the_database_the_same_whatever_their_length(
    program, path, count, django_assert_num_queries
):
    for _ in range(count):
        make_run(make_sut(), campaign=make_campaign(created_by=make_user()), created_by=make_user())

    with django_assert_num_queries(2):  # token, rows
        answer = program.get(path)

    assert len(answer["items"]) == count


def test_runs_can_be_narrowed(program):
    queued = make_run(make_sut("a"))
    done = make_run(make_sut("b"), state=RunState.SUCCEEDED)

    def found(query):
        return [run["id"] for run in program.get(f"/runs?{query}")["items"]]

    assert found("") == [done.pk, queued.pk]
    assert found("sut=a") == found("is_live=true") == found("state=queued") == [queued.pk]
    assert found("is_live=false") == found(f"campaign={done.campaign_id}") == [done.pk]


def test_a_run_says_how_far_it_is_and_what_it_cost(program):
    run = make_finished_run()
    SearchRun.objects.filter(pk=run.pk).update(spend_usd=1.5, spend_cap_usd=2.0, input_tokens=7)

    answer = program.get(f"/runs/{run.pk}")

    assert (answer["state"], answer["is_final"], answer["page"]) == ("succeeded", True, f"/runs/{run.pk}/")
    assert answer["progress"] == {
        "inferences": 13, "inference_budget": 60, "answers": 13, "wrong": 8, "invalid": 1, "call_errors": 1,
        "scenes_not_drawn": 0, "from_cache": 0, "sets": 3, "sets_decided": 3, "sets_parked": 0,
        "failure_modes": 2,
    }  # fmt: skip
    assert answer["spending"] == {
        "usd": 1.5, "cap_usd": 2.0, "is_halted": False, "input_tokens": 7, "output_tokens": 0,
    }  # fmt: skip


def test_an_unchanged_run_costs_no_body(program):
    run = make_run()
    program.get(f"/runs/{run.pk}")
    etag = program.last["ETag"]

    program.get(f"/runs/{run.pk}", **{"If-None-Match": etag})
    unchanged = program.status
    SearchRun.objects.filter(pk=run.pk).update(step=1)
    program.get(f"/runs/{run.pk}", **{"If-None-Match": etag})

    assert (unchanged, program.status) == (304, 200)


def test_a_run_is_paused_resumed_and_ended_by_the_owner_of_the_token(program):
    run = make_run()

    states = [program.post(f"/runs/{run.pk}/{what}")["state"] for what in ("pause", "resume", "cancel")]

    assert states == ["paused", "queued", "cancelled"]
    assert set(AuditEntry.objects.filter(object_type="searchrun").values_list("actor", flat=True)) == {
        program.person.pk
    }


@pytest.mark.parametrize("what", ["pause", "resume", "cancel", "retry-call-errors", "raise-limit"])
def test_what_the_state_does_not_allow_is_a_conflict(program, what):
    run = make_run(state=RunState.SUCCEEDED)

    problem = program.post(f"/runs/{run.pk}/{what}", {"spend_cap_usd": 5.0})

    assert program.status == 409
    assert problem["message"]


def test_failed_calls_are_asked_again(program):
    run = make_finished_run()

    assert program.post(f"/runs/{run.pk}/retry-call-errors")["state"] == "queued"


@pytest.mark.parametrize(
    "path", ["/runs/7", "/runs/7/log", "/runs/7/sets", "/runs/7/samples", "/campaigns/7"]
)
def test_what_does_not_exist_is_told(program, path):
    problem = program.get(path)

    assert program.status == 404
    assert problem["message"] in ("There is no run 7.", "There is no campaign 7.")


def test_sets_and_samples_are_read_page_by_page_without_a_gap(program):
    run = make_finished_run()

    def all_of(path):
        found = []
        while path:
            page = program.get(path.removeprefix("/api/v1"))
            found += [row["id"] for row in page["items"]]
            path = page["next"]
        return found

    assert all_of(f"/runs/{run.pk}/sets?limit=2") == list(run.trials.values_list("pk", flat=True))
    assert all_of(f"/runs/{run.pk}/samples?limit=4") == list(
        run.samples.order_by("id").values_list("pk", flat=True)
    )


def test_samples_of_one_set_with_their_pictures(program):
    run = make_finished_run()
    trial = run.trials.first()

    samples = program.get(f"/runs/{run.pk}/samples?set={trial.pk}&verdict=fail")["items"]
    picture = program.get(samples[0]["picture"].removeprefix("/api/v1"))

    assert {sample["verdict"] for sample in samples} == {"fail"}
    assert len(samples) == 4
    assert b"".join(picture.streaming_content).startswith(b"\x89PNG")


def test_a_picture_that_is_not_kept_is_told(program):
    program.get(f"/pictures/{'ab' * 32}.png")
    unknown = program.status
    program.get("/pictures/..%2F..%2Fetc.png")

    assert (unknown, program.status) == (404, 404)


def test_the_log_is_read_newest_line_first(program):
    run = make_finished_run()

    page = program.get(f"/runs/{run.pk}/log?limit=1")

    assert page["items"][0]["text"] == "Finished: 13 answers, 2 failure modes."
    assert page["next"].startswith(f"/api/v1/runs/{run.pk}/log?limit=1&cursor=")


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "cursor=x", "cursor=-1", "state=odd"])
def test_a_page_that_cannot_be_is_refused(program, query):
    problem = program.get(f"/runs?{query}")

    assert (program.status, problem["field"]) == (422, query.partition("=")[0])


def test_a_drawn_scene_is_a_job(program):
    job = program.post("/domains/driving/scenes", {"concepts": ["cone"], "seed": 5})

    assert (program.status, job["kind"]) == (202, "render_scene")
    assert Job.objects.get().params["concepts"] == ["cone"]


@pytest.mark.parametrize("concepts", [["conex"], ["near", "far", "cone"], []])
def test_a_scene_that_cannot_be_drawn_is_refused(program, concepts):
    problem = program.post("/domains/driving/scenes", {"concepts": concepts})

    assert (program.status, problem["field"]) == (422, "concepts")
    assert Job.objects.count() == 0


def test_a_domain_names_its_concepts(program):
    domain = program.get("/domains/driving")

    assert domain["n_concepts"] == len(domain["concepts"]) == 30
    assert [one["slug"] for one in program.get("/domains")][:2] == ["driving", "indoor"]


def test_a_domain_tells_its_rules_and_how_they_decide(program):
    domain = program.get("/domains/indoor")

    assert (domain["decides_by"], len(domain["rules"])) == ("best_fit", 51)
    assert domain["actions"] == {"hazard": "Risk", "safe": "Safe"}
    assert domain["rules"][7] == {
        "id": "knife_edge", "title": "Knife over the edge", "expected": "hazard",
        "topic": "cut", "priority": 20,
        "why": "The knife reaches out over the edge, where it can fall or be walked into.",
        "question": "Could a knife fall down or cut somebody who walks past?",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
@pytest.mark.parametrize("field", ["name", "domain", "config", "suts"])
def test_a_text_that_cannot_be_stored_is_refused_at_its_field(program, field, text):
    values = {"config": {"excluded_concepts": [text]}, "suts": [text]}

    problem = program.post("/campaigns", SEARCH | {field: values.get(field, text)})

    assert (program.status, problem["field"]) == (422, field)
    assert "cannot be stored" in problem["message"]


@pytest.mark.parametrize("path", ["/runs?sut=%00", "/findings?q=%00", "/campaigns?name=%00"])
def test_a_filter_that_no_database_takes_is_refused(program, path):
    program.get(path)

    assert program.status == 422


def test_a_body_that_is_too_large_is_refused(program, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100

    problem = program.post("/campaigns", SEARCH | {"name": "x" * 200})

    assert (program.status, problem["message"]) == (413, "There is too much in this request.")
