"""The form that starts a modality search: defaults, strata, errors at their fields, copies, estimates."""

from datetime import timedelta

import pytest
from django.contrib.messages import get_messages
from django.utils import timezone

from searches.enums import DatasetState, RunState, WordTableState
from searches.forms import modality as modality_form
from searches.models import Campaign, SearchRun, WordTableRecord
from tests.factories import make_sut
from tests.searches.modality_factory import make_seed_dataset
from vlmlab.core.most.config import ALGORITHMS, PRESETS, MostConfig
from vlmlab.core.most.types import REGIMES
from vlmlab.core.perturb import IMAGE_OPERATORS
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
NEW = "/modality/new/"


@pytest.fixture
def sut():
    return make_sut()


@pytest.fixture
def dataset():
    return make_seed_dataset(6, strata=("street", "kitchen"))


def posted(sut, dataset, **changes: object) -> dict[str, object]:
    """Return what a browser sends for the quick look, with changes."""
    values = modality_form.initial_values("quick") | {
        "suts": [sut.pk], "dataset": dataset.slug, "seed": 11, "n_seed_images": 4,
    } | changes  # fmt: skip
    return {name: value for name, value in values.items() if value is not None and value is not False}


def start(sut, dataset, **changes: object):
    return browser_of(Role.RESEARCHER).post(NEW, posted(sut, dataset, **changes))


def errors(answer) -> dict[str, list[str]]:
    return {name: list(texts) for name, texts in answer.context["form"].errors.items()}


def test_the_page_is_open_to_those_who_may_start_a_search(dataset):
    assert statuses(NEW) == {"": 302, "admin": 200, "researcher": 200, "reviewer": 403, "annotator": 403}


def test_every_setting_of_the_core_stands_in_exactly_one_group():
    groups = [
        *modality_form.CHOSEN, *modality_form.BUDGET, *modality_form.FAILURE, *modality_form.FAILURE_CHECKS,
        *modality_form.PERTURBATION, *modality_form.PERTURBATION_CHECKS, *modality_form.OPERATORS,
        *(name for names in modality_form.FINE_SETTINGS.values() for name in names),
        *modality_form.remaining_settings(),
    ]  # fmt: skip

    assert sorted(groups) == sorted(MostConfig.model_fields)
    assert modality_form.remaining_settings() == ()


def test_every_algorithm_and_regime_has_a_note():
    assert sorted(modality_form.ALGORITHM_NOTES) == sorted(ALGORITHMS)
    assert sorted(modality_form.REGIME_NOTES) == sorted(REGIMES)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_fills_the_form_with_its_values(preset, sut, dataset):
    form = modality_form.ModalityForm(initial=modality_form.initial_values(preset))

    assert {name: form[name].value() for name in PRESETS[preset].values} == dict(PRESETS[preset].values)


def test_a_preset_of_the_address_fills_the_form(sut, dataset):
    form = browser_of(Role.RESEARCHER).get(f"{NEW}?preset=random").context["form"]

    assert form["algorithm"].value() == "random"


def test_no_two_fields_share_a_name(sut, dataset):
    labels = [field.label for field in modality_form.ModalityForm()]

    assert sorted(set(labels)) == sorted(labels)


def test_the_form_as_it_is_shown_can_be_sent_at_once(sut, dataset):
    browser = browser_of(Role.RESEARCHER)
    form = browser.get(NEW).context["form"]
    shown = {field.name: field.value() for field in form}

    answer = browser.post(NEW, {name: one for name, one in shown.items() if one not in (None, False)})

    campaign = Campaign.objects.get()
    assert answer["Location"] == f"/modality/{campaign.pk}/"
    assert [str(one) for one in get_messages(answer.wsgi_request)] == ["18 runs are queued."]
    assert set(campaign.runs.values_list("state", "sut")) == {(RunState.QUEUED, sut.pk)}
    assert campaign.name == f"{dataset.title}, screen, image, text and joint"


def test_what_is_chosen_is_what_is_searched(sut, dataset):
    second = make_sut()

    start(
        sut, dataset, suts=[sut.pk, second.pk], regimes=["text"], strata=["kitchen"], n_seed_images=2,
        replicates=2, algorithm="random", inference_budget=9, give_up_after="", excluded_operators=["fog"],
        name="Mine",
    )  # fmt: skip

    campaign = Campaign.objects.get()
    assert campaign.runs.count() == 2 * 1 * 2 * 2
    assert (campaign.name, campaign.plan["strata"]) == ("Mine", ["kitchen"])
    config = MostConfig(**campaign.config)
    assert (config.algorithm, config.inference_budget, config.give_up_after) == ("random", 9, None)
    assert (config.regimes, config.excluded_operators) == (("text",), ("fog",))
    assert set(campaign.modality_runs.values_list("stratum", flat=True)) == {"kitchen"}


def test_an_empty_number_of_seed_images_takes_all(sut, dataset):
    start(sut, dataset, n_seed_images="", regimes=["text"])

    assert (Campaign.objects.get().plan["n_seed_images"], SearchRun.objects.count()) == (None, 6)


def test_all_strata_and_none_are_the_same_wish(sut, dataset):
    browser = browser_of(Role.RESEARCHER)
    for strata in ([], ["street", "kitchen"]):
        browser.post(NEW, posted(sut, dataset, strata=strata))

    assert Campaign.objects.count() == 1


def test_pictures_without_a_stratum_can_be_chosen_among_others(sut):
    mixed = make_seed_dataset(4, strata=("", "kitchen"))

    start(sut, mixed, strata=["-"], regimes=["text"])

    assert set(Campaign.objects.get().modality_runs.values_list("stratum", flat=True)) == {""}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("inference_budget", 0), ("slots", 65), ("iou_threshold", 1.5), ("iou_threshold", "nan"),
        ("max_image_distance", 0), ("perturbation_budget", "inf"), ("smallest_severity", 1),
        ("spend_cap_usd", 0), ("algorithm", "magic"), ("regimes", []), ("regimes", ["smell"]),
        ("excluded_operators", ["smudge"]), ("homophone_table", "none"), ("seed", -1), ("seed", 2**63),
        ("n_seed_images", 0), ("replicates", 0), ("replicates", 101), ("dataset", "moon"), ("dataset", ""),
        ("dataset", "x" * 5000), ("strata", ["moon"]), ("suts", []), ("suts", [10**30]), ("suts", ["x"]),
        ("name", "x" * 121), ("name", "a\x00b"), ("population_size", 3), ("sweep_levels", 0),
        ("refine", "on"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_is_refused_at_its_field(field, value, sut, dataset):
    form = modality_form.ModalityForm(posted(sut, dataset) | {field: value})

    assert list(form.errors) == [field]


def test_a_wrong_form_starts_nothing_and_says_so(sut, dataset):
    answer = start(sut, dataset, inference_budget=0, suts=[])

    assert (answer.status_code, sorted(errors(answer))) == (422, ["inference_budget", "suts"])
    assert SearchRun.objects.count() == 0
    assert "The campaign was not started." in answer.content.decode()
    assert 'id="id_inference_budget-e"' in answer.content.decode()


def test_what_was_typed_is_still_there_after_an_error(sut, dataset):
    answer = start(sut, dataset, name="<b>Mine</b>", strata=["street"], inference_budget=0)

    page, form = answer.content.decode(), answer.context["form"]
    assert "&lt;b&gt;Mine&lt;/b&gt;" in page
    assert (form["strata"].value(), form["inference_budget"].value()) == (["street"], "0")


def test_leaving_out_every_operator_of_a_regime_is_refused(sut, dataset):
    wish = posted(sut, dataset, regimes=["image"], excluded_operators=list(IMAGE_OPERATORS))

    assert modality_form.ModalityForm(wish).errors == {
        "excluded_operators": [
            "No operator is left for the regime image. Leave out fewer operators, or leave out the regime."
        ]
    }


def test_a_limit_that_the_first_batch_would_pass_is_refused_at_its_field(dataset):
    answer = start(make_sut(params={"price_usd": 1.0}), dataset, spend_cap_usd=2)

    assert list(errors(answer)) == ["spend_cap_usd"]


def test_too_many_runs_are_refused_at_the_number_of_images(sut, dataset, monkeypatch):
    monkeypatch.setattr("searches.services.modality_campaigns.MOST_RUNS", 5)

    assert list(modality_form.ModalityForm(posted(sut, dataset)).errors) == ["n_seed_images"]


@pytest.mark.parametrize("state", [DatasetState.MAKING, DatasetState.FAILED])
def test_only_datasets_that_are_ready_can_be_chosen(state, sut):
    unready = make_seed_dataset(2, state=state)

    form = modality_form.ModalityForm(posted(sut, unready))

    assert form.fields["dataset"].choices == []
    assert list(form.errors) == ["dataset"]


def test_a_dataset_without_anything_to_ask_for_is_refused(sut):
    empty = make_seed_dataset(2)
    empty.pictures.update(annotations=[])

    assert list(modality_form.ModalityForm(posted(sut, empty)).errors) == ["dataset"]


def test_the_page_begins_with_a_dataset_that_has_something_to_ask_for(sut):
    make_seed_dataset(2, title="A").pictures.update(annotations=[])
    good = make_seed_dataset(2, title="B")

    assert modality_form.initial_values()["dataset"] == good.slug


def test_a_dataset_and_a_system_of_the_address_are_chosen(sut, dataset):
    other, second = make_seed_dataset(2), make_sut()

    form = browser_of(Role.RESEARCHER).get(f"{NEW}?dataset={other.slug}&sut={second.pk}").context["form"]

    assert (form["dataset"].value(), form["suts"].value()) == (other.slug, [second.pk])


@pytest.mark.parametrize("query", ["dataset=%00", "dataset=%F0%9F", "sut=9999999999999999999", "preset=x"])
def test_nonsense_in_the_address_shows_the_page(query, sut, dataset):
    assert browser_of(Role.RESEARCHER).get(f"{NEW}?{query}").status_code == 200


def test_only_reviewed_word_tables_of_the_right_kind_are_offered(sut, dataset):
    for slug, kind, state in (
        ("mine", "synonym", WordTableState.REVIEWED),
        ("draft", "synonym", WordTableState.DRAFT),
        ("sounds", "homophone", WordTableState.REVIEWED),
    ):
        WordTableRecord.objects.create(slug=slug, title=slug.title(), kind=kind, state=state)

    form = modality_form.ModalityForm()

    assert form.fields["synonym_table"].choices == [("", "The shipped table"), ("mine", "Mine")]
    assert form.fields["homophone_table"].choices == [("", "The shipped table"), ("sounds", "Sounds")]


def test_the_strata_follow_the_dataset(dataset):
    page = browser_of(Role.RESEARCHER).get(f"/modality/seeds/?dataset={dataset.slug}")

    assert [(one.name, one.n_pictures) for _, one in page.context["strata"]] == [
        ("kitchen", 3),
        ("street", 3),
    ]
    assert "6 pictures of" in page.content.decode()


@pytest.mark.parametrize("name", ["moon", "", "%00", "x" * 3000])
def test_the_strata_of_no_dataset_are_none(name, dataset):
    page = browser_of(Role.RESEARCHER).get(f"/modality/seeds/?dataset={name}")

    assert (page.status_code, page.context["strata"]) == (200, [])


def test_without_a_dataset_the_page_says_how_to_get_one(sut):
    page = browser_of(Role.RESEARCHER).get(NEW).content.decode()

    assert "There is no dataset yet." in page


def test_the_estimate_follows_the_form_and_shows_the_first_seed_images(sut, dataset):
    browser = browser_of(Role.RESEARCHER)

    answer = browser.get("/modality/estimate/", posted(sut, dataset, inference_budget=30, n_seed_images=3))

    assert (answer.context["estimate"].n_runs, answer.context["estimate"].n_clean) == (9, 3)
    assert [one.words for one in answer.context["first_seeds"]] == ["the cup"] * 3
    assert "--budget 30 --seed 11 --n-seed-images 3" in answer.content.decode()


def test_the_estimate_of_a_form_with_an_error_says_what_is_wrong(sut, dataset):
    page = browser_of(Role.RESEARCHER).get("/modality/estimate/", posted(sut, dataset, inference_budget=0))

    assert page.context["estimate"] is None
    assert "Inference budget: Enter a whole number from 1 to 1,000,000." in page.content.decode()


def test_the_estimate_warns_of_a_system_whose_boxes_nobody_has_checked(sut, dataset):
    page = browser_of(Role.RESEARCHER).get("/modality/estimate/", posted(sut, dataset)).content.decode()

    assert f"{sut.name} is not calibrated: nobody has checked yet that its boxes are read rightly." in page


def test_a_form_that_is_sent_twice_starts_one_campaign(sut, dataset, monkeypatch):
    monkeypatch.setattr("searches.services.modality_campaigns.SENT_TWICE_WITHIN", timedelta(hours=1))
    browser = browser_of(Role.RESEARCHER)

    answers = [browser.post(NEW, posted(sut, dataset)) for _ in range(2)]

    campaign = Campaign.objects.get()
    assert [answer["Location"] for answer in answers] == [f"/modality/{campaign.pk}/"] * 2
    assert campaign.runs.count() == 12


def test_the_same_campaign_can_be_started_again_later(sut, dataset):
    browser = browser_of(Role.RESEARCHER)
    browser.post(NEW, posted(sut, dataset))
    Campaign.objects.update(created_at=timezone.now() - timedelta(seconds=11))
    browser.post(NEW, posted(sut, dataset))

    assert Campaign.objects.count() == 2


def test_a_copy_shows_the_settings_of_the_campaign_and_starts_the_same(sut, dataset):
    browser = browser_of(Role.RESEARCHER)
    browser.post(NEW, posted(sut, dataset, strata=["street"], algorithm="random", regimes=["joint"]))
    first = Campaign.objects.get()

    form = browser.get(f"/modality/{first.pk}/clone/").context["form"]
    sent = {field.name: field.value() for field in form}
    browser.post(NEW, {name: value for name, value in sent.items() if value not in (None, False)})

    copy = Campaign.objects.exclude(pk=first.pk).get()
    assert (copy.config, copy.plan, copy.name) == (first.config, first.plan, f"{first.name} (copy)")
    assert set(copy.modality_runs.values_list("picture", "label")) == set(
        first.modality_runs.values_list("picture", "label")
    )


def test_a_campaign_that_does_not_exist_cannot_be_copied():
    assert browser_of(Role.RESEARCHER).get("/modality/99/clone/").status_code == 404


def test_starting_wakes_each_queue_once(dataset, monkeypatch, django_capture_on_commit_callbacks):
    woken = []
    monkeypatch.setattr("searches.launch.waking.wake_up", lambda queue: woken.append(queue) or True)
    suts = [make_sut(queue="gpu"), make_sut(queue="cpu")]

    with django_capture_on_commit_callbacks(execute=True):
        start(suts[0], dataset, suts=[one.pk for one in suts])

    assert woken == ["cpu", "gpu"]
    assert not SearchRun.objects.filter(dispatched_at__isnull=True).exists()


def test_the_page_takes_a_fixed_number_of_queries(sut, django_assert_max_num_queries):
    large = make_seed_dataset(120)
    browser = browser_of(Role.RESEARCHER)
    browser.get(f"{NEW}?dataset={large.slug}")

    with django_assert_max_num_queries(45):
        browser.get(f"{NEW}?dataset={large.slug}")
