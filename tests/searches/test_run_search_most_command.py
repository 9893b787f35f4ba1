"""Modality searches from the shell: exact result file, clear refusals, interruption and resumption."""

import json
import signal

import pytest
from django.core.management import CommandError, call_command

from searches.enums import RunState
from searches.models import Campaign, ModalityCase, SearchRun
from searches.services.modality_steering import pause_campaign
from tests.searches.engine import as_new_process
from tests.searches.modality_engine import (
    AS_WRITTEN,
    CHEAP_TEXT,
    breaks_now_and_then,
    breaks_when_misspelt,
    make_seed_dataset,
    never_breaks,
    small_config,
    start_modality,
)

pytestmark = pytest.mark.django_db
EXCLUDED = ",".join(small_config().excluded_operators)


@pytest.fixture(autouse=True)
def fresh_process():
    as_new_process()
    yield
    as_new_process()


def search(tmp_path, *arguments, **values):
    out = tmp_path / "out.json"
    given = {"method": "most", "dataset": "seeds", "param": [f"excluded_operators={EXCLUDED}"]} | values
    call_command("run_search", *arguments, json=str(out), **given)
    return json.loads(out.read_text())


def test_a_campaign_is_searched_to_its_end_and_written_run_by_run(tmp_path):
    make_seed_dataset(n=2)
    sut = breaks_when_misspelt()

    result = search(tmp_path, sut=sut.slug, regimes="image,text", budget=12, seed=3)

    assert (result["state"], result["n_runs"], result["by_status"]) == ("succeeded", 4, {"finished": 4})
    assert (result["dataset"], result["algorithm"], result["seed"]) == ("seeds", "screen", 3)
    assert [one["regime"] for one in result["runs"]] == ["image", "text"] * 2
    assert sum(one["evaluations"] for one in result["runs"]) == result["evaluations"]
    asked = result["calls"]["sent"] + result["calls"]["cached"]
    assert asked == result["evaluations"] + 2  # and one clean question a seed image
    assert result["suts"][0]["slug"] == sut.slug


def test_a_run_tells_strategy_prompts_digests_objectives_and_budgets_of_its_case(tmp_path):
    make_seed_dataset(n=1)

    result = search(tmp_path, sut=breaks_when_misspelt().slug, regimes="text", budget=20)

    (run,) = result["runs"]
    case, stored = run["case"], ModalityCase.objects.get()
    assert (run["status"], run["outcome"]) == ("finished", "below")
    assert run["first_hit"] <= run["evaluations"] <= 20
    assert run["seed_image"] == {
        "file": "0.png",
        "sha256": stored.generator["seed_image"],
        "width": 96,
        "height": 72,
        "stratum": "street",
        "label": "bus",
    }
    assert set(case["strategy"]) <= set(CHEAP_TEXT)
    assert case["budgets"]["total"] == pytest.approx(sum(case["strategy"].values()))
    assert case["budgets"]["image"] == 0.0
    assert case["objectives"] == {"f1": stored.f1, "f2": 0.0, "f3": stored.f3}
    assert case["objectives"]["f1"] < 0.5
    assert AS_WRITTEN in run["clean"]["prompt"]
    assert AS_WRITTEN not in case["prompt"]
    assert case["image_sha256"] == run["clean"]["image_sha256"]  # only the text was touched
    assert (case["numbers"]["ms_ssim"], case["numbers"]["ned"] > 0) == (1.0, True)
    assert (run["clean"]["status"], run["clean"]["iou"]) == ("boxes", 1.0)


def test_the_same_seed_gives_the_same_cases(tmp_path):
    make_seed_dataset(n=2)
    first, second = breaks_now_and_then(), breaks_now_and_then()
    values = {"regimes": "image", "budget": 20, "seed": 4}

    results = [search(tmp_path, sut=sut.slug, **values) for sut in (first, second)]

    kept = [
        [(run["seed_image"], run["evaluations"], run["case"]["strategy"]) for run in result["runs"]]
        for result in results
    ]
    assert kept[0] == kept[1]


def test_a_budget_below_the_limit_for_giving_up_lowers_that_too(tmp_path):
    make_seed_dataset(n=1)

    result = search(tmp_path, sut=never_breaks().slug, regimes="image", algorithm="random", budget=7)

    assert (result["config"]["inference_budget"], result["config"]["give_up_after"]) == (7, 7)
    assert result["runs"][0]["evaluations"] == 7
    assert result["runs"][0]["outcome"] == "held"


@pytest.mark.parametrize("algorithm", ["nsga2", "sweep"])
def test_other_algorithms_use_their_own_settings(tmp_path, algorithm):
    make_seed_dataset(n=1)

    result = search(tmp_path, sut=never_breaks().slug, regimes="image", algorithm=algorithm, budget=10)

    assert (result["algorithm"], result["runs"][0]["evaluations"]) == (algorithm, 10)
    assert result["config"]["give_up_after"] is None


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"sut": "nobody"}, "There is no system called “nobody”."),
        ({"sut": None}, "--method most needs --sut."),
        ({"dataset": None}, "--method most needs --dataset."),
        ({"dataset": "moon"}, "There is no dataset called “moon”. There are: seeds."),
        ({"algorithm": "magic"}, "There is no algorithm 'magic'. Known: screen"),
        ({"regimes": "smell"}, "choose any of image, text, joint"),
        ({"regimes": "image,image"}, "name each regime once"),
        ({"budget": 0}, "Enter a whole number from 1 to"),
        ({"seed": -1}, "Seed (seed): Enter a whole number from 0"),
        ({"n_seed_images": 0}, "Seed images (n_seed_images): Enter a whole number from 1"),
        ({"replicates": 0}, "Replicates (replicates): Enter a whole number from 1"),
        ({"strata": "moon"}, "Seeds has no stratum called “moon”"),
        ({"param": ["foo"]}, "--param needs KEY=VALUE"),
        ({"param": ["foo=1"]}, "There is no setting called “foo”."),
        ({"param": ["excluded_operators=smudge"]}, "There is no operator called “smudge”."),
        ({"param": ["synonym_table=none"]}, "There is no word table called “none”."),
        ({"name": "x" * 121}, "The name must have at most 120"),
        ({"name": "a\x00b"}, "printable"),
        ({"resume": 99}, "There is no modality campaign 99."),
    ],
)
def test_wrong_arguments_end_with_code_2_and_a_sentence_and_store_nothing(tmp_path, values, sentence):
    make_seed_dataset(n=1)
    sut = never_breaks()

    with pytest.raises(CommandError) as caught:
        search(tmp_path, **{"sut": sut.slug} | values)

    assert caught.value.returncode == 2
    assert sentence.lower() in str(caught.value).lower()
    assert Campaign.objects.count() == 0


def test_ctrl_c_pauses_the_campaign_and_resume_ends_it_as_if_nothing_had_happened(tmp_path, monkeypatch):
    make_seed_dataset(n=2)
    sut = breaks_when_misspelt()
    from searches.management import most_search

    advance = most_search.advance_run
    monkeypatch.setattr(
        most_search,
        "advance_run",
        lambda *args, **values: (advance(*args, **values), signal.raise_signal(signal.SIGINT))[0],
    )
    with pytest.raises(CommandError) as caught:
        search(tmp_path, sut=sut.slug, regimes="text", budget=20)
    campaign = Campaign.objects.get()
    cut = json.loads((tmp_path / "out.json").read_text())
    monkeypatch.undo()

    whole = search(tmp_path, resume=campaign.pk)

    assert caught.value.returncode == 1
    assert f"--method most --resume {campaign.pk}" in str(caught.value)
    assert cut["by_state"] == {"succeeded": 1, "paused": 1}
    assert [run["outcome"] for run in cut["runs"]] == ["below", "unfinished"]
    assert [run["outcome"] for run in whole["runs"]] == ["below", "below"]
    assert whole["campaign"] == campaign.pk


def test_a_campaign_that_was_paused_on_its_page_is_not_finished(tmp_path, monkeypatch):
    make_seed_dataset(n=2)
    from searches.management import most_search

    advance = most_search.advance_run

    def pause_after(lease, **values):
        end = advance(lease, **values)
        pause_campaign(Campaign.objects.get(), by=None)
        return end

    monkeypatch.setattr(most_search, "advance_run", pause_after)

    with pytest.raises(CommandError) as caught:
        search(tmp_path, sut=never_breaks().slug, regimes="image", budget=4)

    assert (caught.value.returncode, str(caught.value).split(".")[0]) == (1, "1 of 2 runs have not ended")
    assert SearchRun.objects.filter(state=RunState.PAUSED).count() == 1


def test_a_run_of_a_modality_campaign_is_not_resumed_alone(tmp_path):
    campaign = start_modality(never_breaks())

    with pytest.raises(CommandError) as caught:
        call_command("run_search", resume=campaign.runs.get().pk)

    assert f"--method most --resume {campaign.pk}" in str(caught.value)


def test_a_system_whose_calls_all_fail_is_told_with_code_1(tmp_path):
    make_seed_dataset(n=1)
    sut = never_breaks(call_error_rate=1.0)

    with pytest.raises(CommandError) as caught:
        search(tmp_path, sut=sut.slug, regimes="image", budget=4)

    assert caught.value.returncode == 1
    result = json.loads((tmp_path / "out.json").read_text())
    assert (result["runs"][0]["clean"], result["runs"][0]["case"]) == (None, None)
    assert (result["runs"][0]["outcome"], result["runs"][0]["call_errors"]) == ("call_error", 3)


def test_resume_asks_the_clean_question_again_that_was_never_answered(tmp_path):
    make_seed_dataset(n=1)
    sut = never_breaks(call_error_rate=1.0)
    with pytest.raises(CommandError):
        search(tmp_path, sut=sut.slug, regimes="image", budget=4)
    sut.params = sut.params | {"call_error_rate": 0.0}
    sut.save()

    result = search(tmp_path, resume=Campaign.objects.get().pk)

    assert (result["by_status"], result["runs"][0]["outcome"]) == ({"finished": 1}, "held")
