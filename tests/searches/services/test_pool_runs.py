"""A search whose pictures are photographs: from launch to samples, and again after a restart."""

from contextlib import suppress
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from searches.enums import DatasetState, RunState, TrialStatus
from searches.launch import start_campaign
from searches.models import Dataset, PictureSource, Sample, SearchRun, SutRecord
from searches.services import scene_sources
from searches.services.endings import MAX_FRUITLESS_BATCHES
from searches.services.picture_bills import BilledSource, billed
from searches.services.runs import resume_run
from searches.services.slice_ends import SliceEnd
from searches.services.source_checks import check_launch
from searches.services.spending import SpendingLimitError
from tests.doubles import FlatSceneSource
from tests.factories import make_sut
from tests.searches.engine import STOP, advance, as_new_process, run_digest, start_run
from tests.searches.pools import make_pool, make_source
from vlmlab.core.errors import DrawingStoppedError, GenerationError, SourceAwayError, VlmLabError
from vlmlab.core.images import png_size
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.scenes.catalogue import load_domain

pytestmark = pytest.mark.django_db
DRIVING = load_domain("driving")
SHOWN = ("cone", "cyclist", "pedestrian")
LEFT_OUT = tuple(one.id for one in DRIVING.concepts if one.id not in SHOWN)
PICTURES = (("cone",), ("cone",), ("cyclist",), ("cone", "pedestrian"), ("pedestrian", "cyclist"))
CONFIG = {
    "algorithm": "random",
    "inference_budget": 24,
    "backend": "photos",
    "excluded_concepts": LEFT_OUT,
    "max_set_size": 2,
    "samples_per_set": 3,
    "image_width": 80,
    "image_height": 64,
}


@pytest.fixture
def photos():
    scene_sources.forget_sources()
    yield make_source("photos", dataset=make_pool("streets", shown=PICTURES))
    scene_sources.forget_sources()


def stopping_sut(seed: int = 1):
    return make_sut(params={"default": "", "rules": [{"answer_option": STOP}], "seed": seed})


def test_a_search_on_photographs_runs_to_its_end_and_keeps_where_they_come_from(photos):
    run = start_run(stopping_sut(), **CONFIG)

    advance(run)

    assert run.state == RunState.SUCCEEDED
    drawn = Sample.objects.exclude(image_sha256="")
    assert drawn.count() == run.n_inferences > 0
    for sample in drawn:
        shown = PICTURES[int(sample.provenance["file"][0])]
        assert set(sample.trial.concepts) <= set(shown)
        assert sample.provenance["backend"] == "image_pool"
        assert sample.description["world"]["picture"] == sample.provenance["picture"]
        assert {one["concept"] for one in sample.annotations} == set(shown)
    photos.refresh_from_db()
    assert (photos.n_pictures, photos.spend_usd) == (drawn.count(), 0.0)


def test_sets_that_no_photograph_shows_cannot_be_drawn_and_count_in_no_rate(photos):
    run = start_run(stopping_sut(), **CONFIG)

    advance(run)

    trial = run.trials.get(key="cyclist+cone")  # in catalogue order
    assert trial.status == TrialStatus.INCOMPATIBLE
    assert trial.answers == 0
    photos.refresh_from_db()
    assert photos.n_refusals == run.n_generation_errors > 0
    assert photos.last_error.startswith("No picture of the pool shows")


def test_a_run_on_photographs_is_the_same_when_its_worker_starts_again(photos):
    undisturbed, cut = (start_run(stopping_sut(seed), **CONFIG) for seed in (1, 2))
    advance(undisturbed)
    while cut.state != RunState.SUCCEEDED:
        advance(cut, slice_seconds=0.0)
        as_new_process()
        scene_sources.forget_sources()

    assert run_digest(cut) == run_digest(undisturbed)


def test_a_source_that_was_switched_off_lets_its_run_wait(photos):
    run = start_run(stopping_sut(), **CONFIG)
    PictureSource.objects.update(is_enabled=False)

    advance(run)

    assert (run.state, run.n_generation_errors) == (RunState.PAUSED, 0)
    assert run.error == "Photos is switched off. Switch it on again on its page."


def test_a_picture_that_is_gone_from_the_disk_lets_its_run_wait(photos, settings, tmp_path):
    run = start_run(stopping_sut(), **CONFIG)
    settings.BLOB_DIR = tmp_path / "elsewhere"

    advance(run)

    assert run.state == RunState.PAUSED
    assert "not on the disk any more" in run.error


@pytest.mark.parametrize("state", [one for one in DatasetState if one != DatasetState.READY])
def test_a_dataset_that_is_not_ready_lets_its_run_wait(photos, state):
    run = start_run(stopping_sut(), **CONFIG)
    Dataset.objects.update(state=state)

    advance(run)

    assert (run.state, run.n_generation_errors) == (RunState.PAUSED, 0)
    assert run.error == f"The dataset Streets is {state.label.lower()}."


def test_the_size_of_a_run_is_that_of_its_pictures(photos):
    source = scene_sources.scene_source(DRIVING, "photos", width=64, height=48)

    assert png_size(source.generate(("cone",), seed=1).image_png) == (64, 48)
    assert scene_sources.scene_source(DRIVING, "photos", width=64, height=48) is source


def test_a_changed_source_is_loaded_afresh(photos):
    before = scene_sources.scene_source(DRIVING, "photos", width=64, height=48)
    PictureSource.objects.update(params={"match": "exact", "fit": "contain"})

    after = scene_sources.scene_source(DRIVING, "photos", width=64, height=48)

    assert (before.identity == after.identity, "match=exact" in after.identity) == (False, True)


def test_a_run_never_mixes_pictures_of_two_makers(photos):
    run = start_run(stopping_sut(), **CONFIG)
    advance(run, slice_seconds=0.0)
    before = run.n_inferences
    PictureSource.objects.update(params={"match": "exact", "fit": "contain"})

    assert advance(run) == SliceEnd.FAILED

    assert (run.state, run.n_inferences > 0, run.n_inferences) == (RunState.FAILED, True, before)
    assert run.error == "Pictures are not made any more as when this run began."
    PictureSource.objects.update(params={"match": "contains", "fit": "contain"})
    resume_run(run, by=None)
    assert advance(run) == SliceEnd.FINISHED


def test_a_dataset_that_grew_meanwhile_stops_a_run_too(photos):
    run = start_run(stopping_sut(), **CONFIG)
    advance(run, slice_seconds=0.0)
    first = photos.dataset.pictures.first()
    first.pk, first.order, first.file_name = None, 99, "99.png"
    first.save()

    assert advance(run) == SliceEnd.FAILED


def test_another_second_look_makes_another_source(photos):
    looking = make_sut("looker", params={"default": "T", "rules": []})
    address, key = "https://api.example.com/v1", None
    params = {"provider": "openai", "model": "m", "base_url": address, "price_usd_per_picture": 0.04}
    PictureSource.objects.filter(pk=photos.pk).update(
        kind="image_api", params=params, api_key=key, presence_sut=looking
    )

    def identity():
        return scene_sources.scene_source(DRIVING, "photos", width=64, height=48).identity

    before = identity()
    SutRecord.objects.update(params={"default": "F", "rules": []})

    assert before != identity() == identity()


def test_what_a_picture_cost_is_written_before_the_next_one_is_made(photos):
    run = start_run(stopping_sut(), **CONFIG)
    spent = []

    class Watched(Priced):
        def generate(self, concepts, *, seed):
            spent.append(round(SearchRun.objects.get(pk=run.pk).spend_usd, 6))
            return super().generate(concepts, seed=seed)

    with billed(run, RevelioConfig(**CONFIG), Watched()) as source:
        for concepts in (("cone",), ("cyclist",), ("cone",)):
            with suppress(GenerationError):
                source.generate(concepts, seed=1)

    photos.refresh_from_db()
    assert spent == [0.0, 0.1, 0.3]
    assert (photos.n_pictures, photos.n_refusals, photos.last_error) == (2, 2, "Refused.")
    assert photos.spend_usd == pytest.approx(0.4)
    assert run.spend_usd == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"is_enabled": False}, "backend", "switched off"),
        ({"kind": "unheard"}, "backend", "does not know the kind"),
        ({"params": {"match": "some"}}, "backend", "match"),
        ({"dataset": None}, "backend", "has no dataset"),
    ],
)
def test_a_search_is_not_started_when_its_source_cannot_be_used(photos, change, field, words):
    PictureSource.objects.update(**change)

    with pytest.raises(VlmLabError) as raised:
        start_campaign(
            config=RevelioConfig(**CONFIG),
            suts=[stopping_sut()],
            domain_slug="driving",
            name="",
            run_seed=1,
            by=None,
        )

    assert raised.value.field == field
    assert words in raised.value.message


def test_concepts_without_pictures_must_be_left_out(photos):
    with pytest.raises(GenerationError) as raised:
        check_launch(DRIVING, RevelioConfig(**CONFIG | {"excluded_concepts": LEFT_OUT[1:]}))

    label = DRIVING.concept(LEFT_OUT[0]).label
    assert raised.value.message == f"Photos has no picture of “{label}”."
    assert raised.value.field == "excluded_concepts"
    check_launch(DRIVING, RevelioConfig(**CONFIG))


def test_a_source_nobody_has_set_up_and_a_domain_without_a_world_are_refused():
    with pytest.raises(GenerationError, match="There is no picture source “moon”"):
        check_launch(DRIVING, RevelioConfig(backend="moon"))
    with pytest.raises(SourceAwayError):
        scene_sources.scene_source(DRIVING, "moon", width=64, height=48)


class Priced(FlatSceneSource):
    """Makes pictures for money, and refuses cyclists for money too."""

    def generate(self, concepts, *, seed):
        if "cyclist" in concepts:
            error = GenerationError("Refused.")
            error.cost_usd, error.n_refusals = 0.2, 2
            raise error
        return replace(super().generate(concepts, seed=seed), cost_usd=0.1)


def test_pictures_and_refusals_are_counted_with_what_they_cost():
    source = BilledSource(Priced(), left_usd=None, most_usd=0.3)

    source.generate(("cone",), seed=1)
    with pytest.raises(GenerationError):
        source.generate(("cyclist",), seed=1)

    bill = source.bill
    assert (bill.n_pictures, bill.n_refusals, bill.last_error) == (1, 2, "Refused.")
    assert bill.cost_usd == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("error", "bill"),
    [
        (GenerationError("Nothing shows it."), (1, "Nothing shows it.")),
        (SourceAwayError("The server is down."), (0, "The server is down.")),
        (DrawingStoppedError("The worker ends."), (0, "")),
    ],
    ids=lambda one: type(one).__name__,
)
def test_only_a_set_that_was_refused_counts_as_a_refusal_and_only_trouble_is_written_down(error, bill):
    class Failing(FlatSceneSource):
        def generate(self, concepts, *, seed):
            raise error

    source = BilledSource(Failing(), left_usd=None, most_usd=0.0)

    with pytest.raises(type(error)):
        source.generate(("cone",), seed=1)

    assert (source.bill.n_refusals, source.bill.last_error) == bill
    assert source.bill.n_pictures == 0


def test_no_picture_is_made_that_could_pass_the_limit():
    source = BilledSource(Priced(), left_usd=0.45, most_usd=0.3)
    source.generate(("cone",), seed=1)
    source.generate(("cone",), seed=2)

    with pytest.raises(SpendingLimitError) as raised:
        source.generate(("cone",), seed=3)

    assert source.bill.n_pictures == 2
    assert "the next picture may cost up to $0.30, $0.25 are left" in raised.value.message


def test_a_picture_of_unknown_price_is_not_made_under_a_limit():
    with pytest.raises(SpendingLimitError, match="price of a picture is unknown"):
        BilledSource(Priced(), left_usd=1.0, most_usd=None).generate(("cone",), seed=1)
    assert BilledSource(Priced(), left_usd=None, most_usd=None).generate(("cone",), seed=1)


def test_the_command_searches_photographs(photos, capsys):
    sut = stopping_sut()
    params = [f"{name}={value}" for name, value in (("max_set_size", 1), ("samples_per_set", 2))]
    params.append(f"excluded_concepts={','.join(LEFT_OUT)}")

    call_command("run_search", sut=sut.slug, backend="photos", algorithm="random", budget=6, param=params)

    assert set(Sample.objects.values_list("provenance__backend", flat=True)) == {"image_pool"}
    with pytest.raises(CommandError, match="There is no picture source"):
        call_command("run_search", sut=sut.slug, backend="moon")


def test_the_command_sets_sources_up_lists_and_checks_them(photos, capsys):
    call_command(
        "source", "add", "exact", "--kind", "image_pool", "--dataset", "streets", "--param", "match=exact"
    )
    call_command("source", "list")
    call_command("source", "check", "exact")

    said = capsys.readouterr().out
    assert PictureSource.objects.get(slug="exact").params == {"match": "exact", "fit": "contain"}
    assert "exact is set up. Check it with: manage.py source check exact" in said
    assert "exact                    image_pool   not used yet, 0 pictures, $0.00" in said
    assert "Everything that it needs is there. It has no picture of" in said
    for wrong in (["--dataset", "gone"], ["--param", "match=some"], ["--kind", "embedded"]):
        arguments = ["add", "other", "--kind", "image_pool", "--dataset", "streets", *wrong]
        with pytest.raises(CommandError) as raised:
            call_command("source", *arguments)
        assert raised.value.returncode == 2


def test_sets_without_a_photograph_do_not_halt_a_run_however_many_come_in_a_row(photos):
    run = start_run(stopping_sut(), **{**CONFIG, "excluded_concepts": (), "max_set_size": 3, "run_seed": 5})

    advance(run)

    assert run.state == RunState.SUCCEEDED
    assert run.n_generation_errors > 3 * RevelioConfig().slots
    assert run.checkpoint["fruitless_batches"] == 0


def test_batches_that_the_embedded_renderer_cannot_draw_halt_a_run(monkeypatch):
    class Broken(FlatSceneSource):
        def generate(self, concepts, *, seed):
            raise GenerationError("Nothing fits.")

    monkeypatch.setattr("searches.services.batches.scene_source", lambda *_a, **_k: Broken())
    run = start_run(stopping_sut())

    advance(run)

    assert (run.state, run.checkpoint["fruitless_batches"]) == (RunState.PAUSED, MAX_FRUITLESS_BATCHES)
    assert run.error.startswith("No scene of 3 batches in a row could be drawn: Nothing fits.")
