import pytest

from searches.enums import RunState
from searches.forms import run as run_form
from searches.models import AuditEntry, Campaign, SearchRun
from tests.factories import make_campaign, make_finished_run, make_run, make_sut
from vlmlab.core.revelio.config import ALGORITHMS, PRESETS, RevelioConfig
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

    assert sorted(groups) == sorted(set(RevelioConfig.model_fields) - {"image_width", "image_height"})


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
    assert sorted(campaign.runs.values_list("sut", flat=True)) == sorted([first.pk, second.pk])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("inference_budget", 0), ("failure_rate_threshold", 1.5), ("samples_per_set", 101),
        ("max_set_size", 6),
        ("slots", 0), ("spend_cap_usd", 0), ("beam_width", "many"), ("warm_start_share", 1), ("run_seed", -1),
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

    assert answer.context["estimate"]["n_inferences"] == 250
    assert "--budget 250 --seed 11" in answer.content.decode()


def test_the_estimate_of_a_form_with_an_error_says_what_is_wrong():
    page = browser_of(Role.RESEARCHER).get("/runs/estimate/", posted(make_sut(), inference_budget=0))

    assert page.context["estimate"] is None
    assert "Inference budget: Ensure this value is greater than or equal to 1" in page.content.decode()


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
        "1,000 random sets of up to four concepts", "All sets of up to three concepts", "All sets",
        "Linear (published)", "Radial basis function (for comparison)",
        "All small sets and 4,000 random larger ones", "All sets (slower)",
    ]  # fmt: skip
