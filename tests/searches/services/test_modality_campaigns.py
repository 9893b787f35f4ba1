"""A modality campaign is a grid of runs: what it holds, how runs are paired, what is refused and where."""

import pytest

from searches.enums import DatasetState, ModalityStatus, Queue, RunState
from searches.models import AuditEntry, Campaign, ModalityRun, SearchRun
from searches.services.modality_campaigns import (
    MOST_RUNS,
    create_modality_campaign,
    just_started,
    plan_of,
    run_seed_of,
)
from searches.services.seed_plans import SeedPlan
from tests.factories import make_sut, make_user
from tests.searches.modality_factory import make_seed_dataset
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.most.config import MostConfig
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS
from vlmlab.core.seeding import derive_seed

pytestmark = pytest.mark.django_db


def create(dataset=None, *, suts=None, plan=None, name="Test", by=None, **config) -> Campaign:
    return create_modality_campaign(
        MostConfig(**config),
        plan or SeedPlan(seed=4),
        suts=[make_sut()] if suts is None else suts,
        dataset=dataset or make_seed_dataset(4),
        name=name,
        by=by,
    )


def refused(**values) -> VlmLabError:
    with pytest.raises(VlmLabError) as caught:
        create(**values)
    assert (Campaign.objects.count(), SearchRun.objects.count()) == (0, 0)
    return caught.value


def test_the_grid_has_a_queued_run_for_each_system_seed_image_regime_and_replicate():
    suts = [make_sut(queue=Queue.GPU), make_sut(queue=Queue.API)]
    person = make_user()

    campaign = create(suts=suts, plan=SeedPlan(n_seed_images=3, replicates=2, seed=4), by=person)

    places = ModalityRun.objects.filter(campaign=campaign)
    assert places.count() == 2 * 3 * 3 * 2 == campaign.runs.count()
    assert set(places.values_list("sut", "regime", "replicate")) == {
        (sut.pk, regime, replicate)
        for sut in suts
        for regime in ("image", "text", "joint")
        for replicate in (0, 1)
    }
    assert places.values_list("picture").distinct().order_by().count() == 3
    assert set(places.values_list("status")) == {(ModalityStatus.UNFINISHED,)}
    runs = campaign.runs.all()
    assert {(run.sut_id, run.queue) for run in runs} == {(suts[0].pk, "gpu"), (suts[1].pk, "api")}
    assert {(run.state, run.created_by) for run in runs} == {(RunState.QUEUED, person)}
    assert {run.modality.sut_id == run.sut_id for run in runs} == {True}


def test_a_place_knows_stratum_and_label_of_its_picture():
    campaign = create(make_seed_dataset(2, strata=("street", "kitchen"), label="cup"), regimes=("text",))

    rows = campaign.modality_runs.values_list("stratum", "label", "picture__stratum")
    assert sorted(rows) == [("kitchen", "cup", "kitchen"), ("street", "cup", "street")]


def test_run_seeds_are_the_same_for_all_systems_and_regimes_and_other_in_each_replicate():
    plan = SeedPlan(seed=4, replicates=3)

    campaign = create(suts=[make_sut(), make_sut()], plan=plan)

    found = set(campaign.runs.values_list("modality__replicate", "run_seed"))
    assert found == {(0, 4), (1, derive_seed(4, "replicate", 1)), (2, derive_seed(4, "replicate", 2))}
    assert [run_seed_of(plan, number) for number in range(3)] == [seed for _, seed in sorted(found)]


def test_runs_stand_in_the_order_of_work_image_by_image():
    campaign = create(plan=SeedPlan(replicates=2), regimes=("image", "joint"))

    places = list(campaign.modality_runs.order_by("run_id").values_list("replicate", "picture", "regime"))
    assert [replicate for replicate, *_ in places] == [0] * 8 + [1] * 8
    assert [regime for *_, regime in places[:4]] == ["image", "joint"] * 2
    assert places[0][1] == places[1][1] != places[2][1]


def test_a_campaign_keeps_configuration_and_plan():
    dataset = make_seed_dataset(4, strata=("b", "a"))
    plan = SeedPlan(strata=("a",), n_seed_images=1, seed=4, replicates=2)

    campaign = create(dataset, plan=plan, regimes=("text", "image"), inference_budget=9)

    assert campaign.plan == {
        "strata": ["a"], "n_seed_images": 1, "seed": 4, "replicates": 2, "regimes": ["text", "image"],
    }  # fmt: skip
    assert MostConfig(**campaign.config).inference_budget == 9
    assert plan_of(campaign) == plan
    assert (campaign.method, campaign.dataset) == ("most", dataset)


def test_a_plan_without_strata_keeps_the_names_of_all():
    assert create(make_seed_dataset(2, strata=("b", "a"))).plan["strata"] == ["a", "b"]


def test_a_plan_of_another_version_is_named_as_such():
    with pytest.raises(ConfigError, match="does not understand the plan"):
        plan_of(Campaign(plan={"colour": "red"}))


def test_one_line_of_the_audit_tells_of_the_whole_campaign():
    person = make_user()

    campaign = create(by=person)

    entry = AuditEntry.objects.get()
    assert (entry.verb, entry.object_type, entry.object_id) == ("started", "campaign", str(campaign.pk))
    assert entry.after["plan"] == campaign.plan


def test_a_thousand_runs_are_written_in_a_fixed_number_of_statements(django_assert_max_num_queries):
    dataset, suts = make_seed_dataset(120), [make_sut() for _ in range(3)]

    with django_assert_max_num_queries(120):  # a run alone would take two
        campaign = create(dataset, suts=suts)

    assert campaign.runs.count() == 1080


def test_nothing_chosen_is_refused_at_the_systems():
    assert refused(suts=[]).field == "suts"


def test_a_system_that_is_off_is_refused_by_name():
    error = refused(suts=[make_sut(name="Sleepy", is_enabled=False)])

    assert (error.field, error.message) == ("suts", "Sleepy is switched off.")


@pytest.mark.parametrize("name", ["x" * 121, "a\x00b"])
def test_a_name_that_cannot_be_stored_is_refused(name):
    assert refused(name=name).field == "name"


def test_a_dataset_that_is_not_ready_or_empty_is_refused():
    empty = make_seed_dataset(1)
    empty.pictures.update(annotations=[])

    assert refused(dataset=make_seed_dataset(1, state=DatasetState.MAKING)).field == "dataset"
    assert refused(dataset=empty).field == "dataset"


def test_an_unknown_stratum_is_refused_at_its_field():
    assert refused(plan=SeedPlan(strata=("moon",))).field == "strata"


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"excluded_operators": ("smudge",)}, "excluded_operators"),
        ({"excluded_operators": tuple(IMAGE_OPERATORS), "regimes": ("image",)}, "excluded_operators"),
        ({"excluded_operators": tuple(TEXT_OPERATORS)}, "excluded_operators"),
        ({"homophone_table": "none"}, "homophone_table"),
    ],
)
def test_operators_and_tables_that_cannot_be_used_are_refused_at_their_fields(config, field):
    assert refused(**config).field == field


def test_too_many_runs_are_refused_with_how_many_images_fit(monkeypatch):
    monkeypatch.setattr("searches.services.modality_campaigns.MOST_RUNS", 10)

    error = refused(dataset=make_seed_dataset(4))

    assert error.field == "n_seed_images"
    assert str(error).startswith("This makes 12 runs; one campaign may have 10. Take at most 3 seed images")


def test_too_many_replicates_of_a_single_image_are_refused_there(monkeypatch):
    monkeypatch.setattr("searches.services.modality_campaigns.MOST_RUNS", 10)

    error = refused(dataset=make_seed_dataset(1), plan=SeedPlan(replicates=4))

    assert error.field == "replicates"


def test_the_limit_of_runs_holds_the_experiment_of_the_paper():
    assert MOST_RUNS >= 100 * 3 * 6 * 10  # seed images, regimes, systems, replicates


@pytest.mark.parametrize(
    ("params", "config", "field"),
    [
        ({"price_usd": 0.01}, {"spend_cap_usd": 0.05}, "spend_cap_usd"),
        ({"price_usd": 0.01, "spend_cap_usd": 0.05}, {}, "suts"),
    ],
)
def test_a_first_batch_that_does_not_fit_its_limit_is_refused(params, config, field):
    error = refused(suts=[make_sut(params=params)], **config)

    assert error.field == field
    assert "8 calls" in error.message


def test_a_first_batch_that_fits_may_begin():
    sut = make_sut(params={"price_usd": 0.01, "spend_cap_usd": 0.08})

    assert create(suts=[sut]).runs.count() == 12


def test_the_same_wish_of_the_same_person_is_found_for_a_moment():
    person, dataset, suts = make_user(), make_seed_dataset(2), [make_sut()]
    campaign = create(dataset, suts=suts, by=person)

    def found(by=person, plan=None, name="Test", other_suts=None, **config):
        return just_started(
            MostConfig(**config),
            plan or SeedPlan(seed=4),
            suts=other_suts or suts,
            dataset=dataset,
            name=name,
            by=by,
        )

    assert found() == campaign
    assert found(plan=SeedPlan(seed=5)) is None
    assert found(name="Other") is None
    assert found(inference_budget=7) is None
    assert found(other_suts=[*suts, make_sut()]) is None
    assert found(by=make_user()) is None
    assert found(by=None) is None
