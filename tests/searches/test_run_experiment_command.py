"""``run_experiment``: every run in this process, the numbers as JSON, wrong arguments said at once."""

import json

import pytest
from django.core.management import CommandError, call_command

from searches.enums import RunState
from searches.models import Experiment, SearchRun
from tests.searches.engine import FLAT, scripted

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def flat(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT


def test_an_experiment_runs_from_start_to_end_and_writes_its_numbers(tmp_path):
    scripted("careless")
    target = tmp_path / "out.json"

    call_command("run_experiment", "--sut", "careless", "--algorithms", "random,beam", "--seeds", "2",
                 "--budget", "20", "--first-seed", "4", "--json", str(target))  # fmt: skip

    numbers = json.loads(target.read_text())
    assert set(SearchRun.objects.values_list("state", "run_seed", "n_inferences")) == {
        (RunState.SUCCEEDED, 4, 20), (RunState.SUCCEEDED, 5, 20),
    }  # fmt: skip
    assert len(numbers["runs"]) == 4
    spent = [
        row["mean"]
        for row in numbers["arms"]
        if row["measure"] == "inferences" and not row["expected_answer"]
    ]
    assert spent == [20.0, 20.0]


def test_a_preset_fills_what_is_not_said_and_a_halted_experiment_goes_on(capsys):
    scripted("careless")
    call_command("run_experiment", "--sut", "careless", "--preset", "revelio-table-7", "--scale", "0.02",
                 "--seeds", "1")  # fmt: skip
    experiment = Experiment.objects.get()
    SearchRun.objects.filter(campaign__arm__value="5").update(state=RunState.CANCELLED)

    call_command("run_experiment", "--resume", str(experiment.pk))

    assert (experiment.preset, experiment.name) == (
        "revelio-table-7", "Revelio, Table 7: Beam width, driving",
    )  # fmt: skip
    assert [arm["value"] for arm in experiment.spec["arms"]] == ["1", "5", "10"]
    assert set(SearchRun.objects.values_list("state", flat=True)) == {RunState.SUCCEEDED}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "No system is named"), (["--sut", "nobody"], "no system called"),
        (["--sut", "careless", "--preset", "x"], "Nothing is called"),
        (["--sut", "careless", "--preset", "revelio-table-13"], "Nothing is called"),
        (["--sut", "careless", "--algorithms", "magic"], "no algorithm"),
        (["--sut", "careless", "--axis", "backend"], "cannot be varied"),
        (["--sut", "careless", "--domain", "moon"], "moon"),
        (["--sut", "careless", "--seeds", "0"], "from 1 to 50"),
        (["--sut", "careless", "--param", "x=1"], "x"), (["--resume", "99"], "no experiment 99"),
        (["--sut", "careless", "--json", "/nowhere/x.json"], "does not exist"),
    ],
)  # fmt: skip
def test_wrong_arguments_end_with_code_2_and_start_nothing(options, said):
    scripted("careless")

    with pytest.raises(CommandError, match=said) as caught:
        call_command("run_experiment", *options)

    assert caught.value.returncode == 2
    assert Experiment.objects.count() == 0
