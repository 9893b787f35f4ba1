"""The shell's way to search: exact result file, clear refusals, interruption and resumption."""

import json
import signal

import pytest
from django.core.management import CommandError, call_command

from searches.enums import RunState
from searches.models import Campaign, SearchRun
from searches.services.runs import pause_run
from tests.searches.engine import FLAT, as_new_process, scripted, start_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT
    as_new_process()
    yield
    as_new_process()


def search(tmp_path, *arguments, **values):
    out = tmp_path / "out.json"
    call_command("run_search", *arguments, json=str(out), **values)
    return json.loads(out.read_text())


@pytest.mark.parametrize("algorithm", ["random", "beam", "beam-literal", "gpts", "sits", "sits-minimal"])
def test_every_algorithm_runs_to_its_budget_and_writes_its_result(tmp_path, algorithm):
    scripted("careless")

    result = search(
        tmp_path, method="revelio", sut="careless", domain="driving", algorithm=algorithm, budget=40, seed=3
    )

    assert (result["state"], result["call_errors"]) == ("succeeded", 0)
    assert 35 <= result["inferences"] <= 40  # plain sampling opens no set it cannot finish
    assert result["sets_touched"] == SearchRun.objects.get().trials.count()
    for mode in result["failure_modes"]:
        assert 3 <= mode["fails"] <= mode["samples"] <= 5
    assert 0 <= result["pfm"] <= 1
    assert result["algorithm"] == algorithm


def test_an_underscore_in_the_name_of_an_algorithm_is_a_hyphen(tmp_path):
    scripted("careless")

    result = search(tmp_path, sut="careless", algorithm="sits_minimal", budget=10)

    assert (result["algorithm"], result["config"]["minimal"]) == ("sits-minimal", True)


def test_the_same_seed_gives_the_same_result(tmp_path):
    scripted("careless")
    values = {"sut": "careless", "algorithm": "sits", "budget": 40, "seed": 3}

    first, second = search(tmp_path, **values), search(tmp_path, **values)

    assert first["failure_modes"] == second["failure_modes"]
    assert first["run"] != second["run"]


def test_settings_are_taken_from_the_command_line(tmp_path):
    scripted("careless")

    result = search(
        tmp_path,
        "--param",
        "samples_per_set=3",
        "--param",
        "max_set_size=1",
        sut="careless",
        algorithm="random",
    )

    assert result["config"]["samples_per_set"] == 3
    assert all(len(mode["concepts"]) == 1 for mode in result["failure_modes"])
    assert result["ending"].startswith("the ")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"sut": "nobody"}, "There is no system called “nobody”. Registered: careless."),
        ({"domain": "moon"}, "There is no domain “moon”."),
        ({"algorithm": "magic"}, "There is no algorithm"),
        ({"method": "magic"}, "There is no method"),
        ({"budget": 0}, "Inference budget"),
        ({"seed": -1}, "The run seed must be between 0 and"),
        ({"param": ["foo"]}, "--param needs KEY=VALUE"),
        ({"param": ["foo=1"]}, "There is no setting called “foo”."),
        ({"param": ["excluded_concepts=conee"]}, "Did you mean cone"),
        ({"resume": 99}, "There is no run 99."),
    ],
)
def test_wrong_arguments_end_with_code_2_and_a_sentence_and_store_nothing(tmp_path, values, sentence):
    scripted("careless")

    with pytest.raises(CommandError) as caught:
        search(tmp_path, **{"sut": "careless"} | values)

    assert caught.value.returncode == 2
    assert sentence in str(caught.value)
    assert Campaign.objects.count() == 0


def test_a_result_that_could_not_be_written_is_refused_before_the_search(tmp_path):
    scripted("careless")

    with pytest.raises(CommandError, match="does not exist"):
        call_command("run_search", sut="careless", json=str(tmp_path / "no" / "out.json"))

    assert SearchRun.objects.count() == 0


def test_an_interrupt_pauses_the_run_and_resume_finishes_it(tmp_path, monkeypatch):
    scripted("careless")
    draws = iter(range(1000))
    command = "searches.management.commands.run_search.Command._draw_bar"
    monkeypatch.setattr(
        command, lambda self, run_id: signal.raise_signal(signal.SIGINT) if next(draws) == 1 else None
    )

    with pytest.raises(CommandError, match="--resume") as caught:
        search(tmp_path, sut="careless", algorithm="sits", budget=40)

    run = SearchRun.objects.get()
    halted = json.loads((tmp_path / "out.json").read_text())
    assert (caught.value.returncode, run.state, halted["state"]) == (1, RunState.PAUSED, "paused")
    assert 0 < run.n_inferences < 40
    assert search(tmp_path, resume=run.pk)["inferences"] == 40


def test_a_run_that_a_worker_has_is_not_taken_from_it():
    run = start_run()
    SearchRun.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED)

    with pytest.raises(CommandError, match="cannot be resumed: it is finished"):
        call_command("run_search", resume=run.pk)


def test_a_run_paused_on_its_page_is_resumed_from_the_shell(tmp_path):
    run = start_run(scripted("careless"), inference_budget=40)
    pause_run(run, by=None)

    assert search(tmp_path, resume=run.pk)["state"] == "succeeded"


def test_a_system_that_never_answers_halts_the_search_with_its_reason(tmp_path):
    scripted("broken", call_error_rate=1.0)

    with pytest.raises(CommandError, match="answered none of 3 batches in a row"):
        search(tmp_path, sut="broken", algorithm="random", budget=40)

    result = json.loads((tmp_path / "out.json").read_text())
    assert (result["state"], result["inferences"], result["call_errors"]) == ("paused", 0, 24)
    assert result["pfm"] is None


def test_a_result_that_could_not_be_written_is_told_before_the_search(tmp_path):
    scripted("careless")

    for target in (tmp_path, tmp_path / "missing" / "out.json"):
        with pytest.raises(CommandError):
            call_command("run_search", sut="careless", json=str(target))

    assert SearchRun.objects.count() == 0


def test_what_was_found_is_confirmed_in_the_same_process_when_asked_for(tmp_path):
    scripted("careless")

    result = search(tmp_path, sut="careless", budget=60, confirm="extra")

    assert result["failure_modes"]
    items = result["confirmation"]["items"]
    assert len(items) == len(result["failure_modes"])
    assert {item["state"] for item in items} <= {"confirmed", "refuted", "undetermined"}
    assert result["confirmation"]["runs"][0]["state"] == "succeeded"


def test_a_wish_to_confirm_that_cannot_be_read_starts_nothing(tmp_path):
    scripted("careless")

    with pytest.raises(CommandError, match="no way to confirm called “maybe”"):
        search(tmp_path, sut="careless", confirm="maybe")

    assert not Campaign.objects.exists()
