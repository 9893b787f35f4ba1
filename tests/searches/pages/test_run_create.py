"""The form that starts a search: defaults, errors at their fields, copies, estimates."""

from datetime import timedelta

import pytest
from django.contrib.messages import get_messages
from django.utils import timezone

from searches.enums import RunState
from searches.forms import run as run_form
from searches.models import AuditEntry, Campaign, SearchRun
from tests.factories import make_campaign, make_finding, make_finished_run, make_run, make_sut, make_trial
from vlmlab.core.revelio.config import ALGORITHMS, PRESETS, RevelioConfig
from vlmlab.core.revelio.search import build_search
from vlmlab.core.revelio.types import Outcome, Verdict
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db


def posted(sut, **changes: object) -> dict[str, object]:
    """Return what a browser sends for the quick look on one system, with changes."""
    values = run_form.initial_values("quick_look") | {"suts": [sut.pk], "run_seed": 11} | changes
    return {name: value for name, value in values.items() if value is not None and value is not False}


def start(sut, **changes: object):
    return browser_of(Role.RESEARCHER).post("/runs/new/", posted(sut, **changes))


def errors(answer) -> dict[str, list[str]]:
    return {name: list(texts) for name, texts in answer.context["form"].errors.items()}


def test_every_setting_of_the_core_stands_in_exactly_one_group():
    groups = [
        *run_form.WHEN_A_SET_FAILS, *run_form.BUDGET, *run_form.CONCEPTS, *run_form.AFTERWARDS, "algorithm",
        *(name for names in run_form.FINE_SETTINGS.values() for name in names),
    ]  # fmt: skip

    assert sorted(groups) == sorted(set(RevelioConfig.model_fields) - run_form.SHOWN_OTHERWISE)


def test_the_page_is_open_to_those_who_may_start_a_search():
    refused = {"": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403}

    assert statuses("/runs/new/") == refused
    assert statuses("/runs/estimate/") == refused
    assert statuses(f"/runs/{make_run().pk}/clone/") == refused


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_fills_the_form_with_its_values(preset):
    make_sut()

    form = browser_of(Role.RESEARCHER).get(f"/runs/new/?preset={preset}").context["form"]

    assert {name: form[name].value() for name in PRESETS[preset].values} == dict(PRESETS[preset].values)


def test_the_form_as_it_is_shown_can_be_sent_at_once():
    sut = make_sut()

    answer = start(sut)

    run = SearchRun.objects.get()
    assert answer["Location"] == f"/runs/{run.pk}/"
    assert (run.state, run.sut, run.run_seed) == (RunState.QUEUED, sut, 11)
    assert RevelioConfig(**run.campaign.config) == RevelioConfig(
        algorithm="sits", minimal=True, inference_budget=60
    )
    assert AuditEntry.objects.values_list("verb", flat=True).get() == "started"


def test_two_systems_make_two_runs_of_one_campaign():
    first, second = make_sut(), make_sut()

    answer = start(first, suts=[first.pk, second.pk])

    campaign = Campaign.objects.get()
    assert answer["Location"] == f"/runs/?campaign={campaign.pk}"
    assert [str(one) for one in get_messages(answer.wsgi_request)] == ["2 runs are queued."]
    assert sorted(campaign.runs.values_list("sut", flat=True)) == sorted([first.pk, second.pk])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("inference_budget", 0), ("failure_rate_threshold", 1.5), ("samples_per_set", 101),
        ("max_set_size", 6), ("run_seed", -1),
        ("slots", 0), ("spend_cap_usd", 0), ("beam_width", "many"), ("warm_start_share", 1.5),
        ("algorithm", "magic"), ("image_size", "9x9"), ("domain", "moon"), ("keep_probability", -0.1),
    ],
)  # fmt: skip
def test_a_value_out_of_range_is_refused_at_its_field(field, value):
    answer = start(make_sut(), **{field: value})

    assert answer.status_code == 422
    assert list(errors(answer)) == [field]
    assert f'id="id_{field}-e"' in answer.content.decode()
    assert SearchRun.objects.count() == 0


def test_an_unknown_concept_is_refused_at_its_field():
    answer = start(make_sut(), excluded_concepts=["unicorn"])

    assert (answer.status_code, list(errors(answer))) == (422, ["excluded_concepts"])


def test_a_concept_that_is_left_out_and_required_is_refused_with_its_name():
    answer = start(make_sut(), excluded_concepts=["cone"], required_concepts=["cone"])

    assert answer.status_code == 422
    assert "cone" in str(errors(answer))


def test_required_concepts_that_exclude_each_other_are_refused_before_anything_is_queued():
    answer = start(make_sut(), required_concepts=["town_town01", "town_town02"])

    assert answer.status_code == 422
    assert SearchRun.objects.count() == 0


def test_no_system_and_a_system_that_is_switched_off_are_refused():
    off = make_sut(is_enabled=False)

    assert errors(start(off, suts=[])) == {"suts": ["Choose at least one system."]}
    assert list(errors(start(off))) == ["suts"]


def test_the_estimate_follows_the_form():
    sut = make_sut()

    answer = browser_of(Role.RESEARCHER).get("/runs/estimate/", posted(sut, inference_budget=250))

    assert answer.context["estimate"].n_inferences == 250
    assert "--budget 250 --seed 11" in answer.content.decode()


def test_the_estimate_of_a_form_with_an_error_says_what_is_wrong():
    page = browser_of(Role.RESEARCHER).get("/runs/estimate/", posted(make_sut(), inference_budget=0))

    assert page.context["estimate"] is None
    assert "Inference budget: Enter a whole number from 1 to 1,000,000." in page.content.decode()


def test_copying_settings_shows_those_of_the_run():
    campaign = make_campaign(
        config=RevelioConfig(algorithm="gpts", inference_budget=77).model_dump(mode="json")
    )
    run = make_finished_run(campaign=campaign, run_seed=99)

    form = browser_of(Role.RESEARCHER).get(f"/runs/{run.pk}/clone/").context["form"]

    values = {name: form[name].value() for name in ("algorithm", "inference_budget", "run_seed", "suts")}
    assert values == {"algorithm": "gpts", "inference_budget": 77, "run_seed": 99, "suts": [run.sut_id]}


def test_a_copy_remembers_where_its_settings_come_from():
    run = make_finished_run()

    start(run.sut, cloned_from=run.pk)
    start(run.sut, cloned_from="nonsense")

    sources = SearchRun.objects.order_by("id").values_list("cloned_from", flat=True)
    assert list(sources) == [None, run.pk, None]


def test_every_algorithm_has_a_note_on_the_page():
    assert sorted(run_form.ALGORITHM_NOTES) == sorted(ALGORITHMS)


def test_without_a_system_the_page_says_how_to_register_one():
    assert "No system is registered yet." in browser_of(Role.RESEARCHER).get("/runs/new/").content.decode()


def test_no_two_settings_share_a_name_and_no_choice_is_a_bare_code():
    page = browser_of(Role.RESEARCHER).get("/runs/new/")
    form = page.context["form"]

    labels = [field.label for field in form]
    assert sorted(set(labels)) == sorted(labels)
    shown = [text for name in ("pool", "kernel", "sits_pool") for _, text in form.fields[name].choices]
    assert shown == [
        "1,000 random sets of up to 4", "All sets of up to 3", "All sets",
        "Linear (published)", "RBF (for comparison)",
        "Small sets and 4,000 larger", "All sets (slower)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("inference_budget", "", "Enter a whole number from 1 to 1,000,000."),
        ("samples_per_set", "many", "Enter a whole number from 1 to 100."),
        ("beam_width", 101, "Enter a whole number from 1 to 100."),
        ("novelty", 11, "Enter a number from 0 to 10, or leave it empty."),
        ("inference_budget", 2, "Enter at least 3: a set is a failure mode after 3 wrong answers, so none "
         "can be found with fewer."),
    ],
)  # fmt: skip
def test_a_wrong_number_is_answered_with_what_to_enter(field, value, sentence):
    assert errors(start(make_sut(), **{field: value})) == {field: [sentence]}


@pytest.mark.parametrize(
    "concepts",
    [
        ("cone",),
        ("bus_stop", "weather_foggy"),
        ("garbage_bin", "on_sidewalk"),
        ("child_pedestrian", "weather_foggy", "near"),
    ],
)
def test_asking_a_set_again_asks_this_set_on_new_scenes_and_nothing_else(concepts):
    domain = load_domain("driving")
    key = domain.canonical(concepts)
    config = RevelioConfig(ask_reason=True, image_width=640, image_height=480)
    run = make_finished_run(campaign=make_campaign(config=config.model_dump(mode="json")), run_seed=7)
    trial = make_trial(run, key)
    client = browser_of(Role.RESEARCHER)

    form = client.get(f"/runs/new/?again={trial.pk}").context["form"]
    sent = {field.name: field.value() for field in form}
    client.post("/runs/new/", {name: value for name, value in sent.items() if value not in (None, False)})

    again = SearchRun.objects.exclude(pk=run.pk).get()
    kept = RevelioConfig(**again.campaign.config)
    search = build_search(kept, domain=domain, run_seed=again.run_seed)
    asked = []
    while batch := search.ask():
        asked += [query.key for query in batch]
        search.tell([Outcome(query, Verdict.PASS) for query in batch])
    assert asked == [key] * 20
    assert (again.sut, kept.ask_reason, kept.image_height) == (run.sut, True, 480)
    assert again.run_seed != run.run_seed


def test_a_set_and_a_finding_offer_to_be_asked_again_to_those_who_may_search():
    finding = make_finding(make_trial(make_run(), ("cone",)))
    link = f"/runs/new/?again={finding.trial_id}"

    for page in (f"/findings/{finding.pk}/", f"/runs/{finding.run_id}/sets/{finding.trial_id}/"):
        assert link in browser_of(Role.RESEARCHER).get(page).content.decode()
        assert link not in browser_of(Role.REVIEWER).get(page).content.decode()


@pytest.mark.parametrize("number", ["999999", "x", "9" * 30])
def test_a_set_that_does_not_exist_cannot_be_asked_again(number):
    assert browser_of(Role.RESEARCHER).get(f"/runs/new/?again={number}").status_code == 404


def test_a_form_that_is_sent_twice_starts_one_search(monkeypatch):
    monkeypatch.setattr("searches.services.runs.SENT_TWICE_WITHIN", timedelta(hours=1))
    sut, browser = make_sut(), browser_of(Role.RESEARCHER)

    answers = [browser.post("/runs/new/", posted(sut)) for _ in range(2)]

    run = SearchRun.objects.get()
    assert [answer["Location"] for answer in answers] == [f"/runs/{run.pk}/"] * 2


@pytest.mark.parametrize("changes", [{"run_seed": 12}, {"name": "Again"}, {"inference_budget": 61}])
def test_another_search_right_afterwards_is_another_search(changes):
    sut, browser = make_sut(), browser_of(Role.RESEARCHER)

    for values in ({}, changes):
        browser.post("/runs/new/", posted(sut, **values))

    assert SearchRun.objects.count() == 2


def test_the_same_search_can_be_started_again_later_and_by_somebody_else():
    sut, browser = make_sut(), browser_of(Role.RESEARCHER)
    browser.post("/runs/new/", posted(sut))
    start(sut)
    Campaign.objects.update(created_at=timezone.now() - timedelta(seconds=11))
    browser.post("/runs/new/", posted(sut))

    assert SearchRun.objects.count() == 3
