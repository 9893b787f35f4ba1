"""The shell's way to follow up: what is chosen, what is refused, what is printed, and going on later."""

import json

import pytest
from django.core.management import CommandError, call_command

from searches.enums import RunState
from searches.models import Campaign, Finding
from tests.searches.engine import FLAT, as_new_process, scripted
from tests.searches.follow_up_engine import suspects

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT
    as_new_process()
    yield
    as_new_process()


def test_the_suspects_of_a_run_are_confirmed_and_printed_as_a_table(capsys, tmp_path):
    run = suspects()[0].run
    out = tmp_path / "out.json"

    call_command(
        "follow_up",
        "confirm",
        "--run",
        str(run.pk),
        "--param",
        "max_samples=40",
        "--wait",
        "--json",
        str(out),
    )

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["system", "set", "state", "wrong", "of", "because"]
    assert [word for word in ("confirmed", "refuted") for line in lines[1:] if word in line] == [
        "confirmed", "confirmed", "refuted",
    ]  # fmt: skip
    result = json.loads(out.read_text())
    assert (result["kind"], result["follows"]) == ("confirm", run.campaign_id)
    assert [item["state"] for item in result["items"]] == ["confirmed", "confirmed", "refuted"]
    assert result["runs"][0]["state"] == "succeeded"


def test_without_waiting_it_is_queued_for_the_workers_of_the_lab(capsys):
    finding = suspects()[0]

    call_command("follow_up", "probe", "--finding", str(finding.pk), "--param", "scenes=2")

    campaign = Campaign.objects.get(kind="probe")
    assert f"Follow-up {campaign.pk} is queued" in capsys.readouterr().out
    assert campaign.runs.get().state == RunState.QUEUED


def test_a_transfer_asks_another_system(capsys):
    found = suspects()
    scripted("other")

    call_command(
        "follow_up", "transfer", "--run", str(found[0].run_id), "--sut", "other",
        "--param", "scenes=2", "--param", "random_sets=1", "--param", "top=2", "--wait",
    )  # fmt: skip

    campaign = Campaign.objects.get(kind="transfer")
    assert campaign.items.count() == 3
    assert campaign.runs.get().sut.slug == "other"


def test_a_four_cell_test_names_pair_and_base():
    run = suspects()[0].run

    call_command(
        "follow_up", "interact", "--run", str(run.pk), "--pair", "weather_foggy,near", "--base", "cone",
        "--param", "scenes=5", "--wait",
    )  # fmt: skip

    item = Campaign.objects.get(kind="interact").items.get()
    assert item.spec["settings"]["base"] == ["cone"]
    assert item.n == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["confirm"], "Say what it is about"),
        (["confirm", "--run", "99"], "There is no run 99"),
        (["explain", "--run", "1"], "There is no follow-up “explain”"),
        (["confirm", "--finding", "1", "--param", "samples=3"], "There is no setting called “samples”"),
        (["--resume", "99"], "There is no follow-up 99"),
        (["interact", "--run", "99", "--pair", "cone,near"], "There is no run 99"),
        (["interact", "--pair", "cone,near"], "Give the number of one search"),
        (["confirm", "--run", "9" * 30], "There is no run 999"),
        (["confirm", "--campaign", "9" * 30], "There is no campaign 999"),
        (["confirm", "--case", "9" * 30], "A chosen case is gone"),
        (["--resume", "9" * 30], "There is no follow-up 999"),
        (["transfer", "--run", "99", "--param", "top=3"], "There is no run 99"),
    ],
)
def test_what_cannot_be_done_is_said_with_exit_code_2(arguments, said):
    suspects()
    if "--finding" in arguments:
        arguments[arguments.index("--finding") + 1] = str(Finding.objects.first().pk)

    with pytest.raises(CommandError, match=said) as refused:
        call_command("follow_up", *arguments)

    assert refused.value.returncode == 2


def test_a_halted_follow_up_says_how_to_go_on_and_goes_on():
    found = suspects()
    found[0].run.checkpoint = {"fingerprint": "another system"}
    found[0].run.save()

    with pytest.raises(CommandError, match="--resume") as halted:
        call_command("follow_up", "confirm", "--run", str(found[0].run_id), "--wait")

    assert halted.value.returncode == 1
    found[0].run.checkpoint = {}
    found[0].run.save()
    call_command("follow_up", "--resume", str(Campaign.objects.get(kind="confirm").pk))
    found[0].refresh_from_db()
    assert found[0].state == "confirmed"


def test_a_transfer_of_no_whole_number_of_sets_is_refused():
    run = suspects()[0].run
    for top in ("x", "-3", "2.5", "9" * 30):
        with pytest.raises(CommandError, match="top must be a whole number") as refused:
            call_command("follow_up", "transfer", "--run", str(run.pk), "--param", f"top={top}")
        assert refused.value.returncode == 2


def test_nobody_chooses_the_place_of_a_confirmation():
    run = suspects()[0].run

    call_command(
        "follow_up", "confirm", "--run", str(run.pk), "--param", "later_index=5", "--param", "family_size=1",
        "--param", "later_discoveries=50",
    )  # fmt: skip

    config = Campaign.objects.get(kind="confirm").config
    assert (config["family_size"], config["later_index"], config["later_discoveries"]) == (3, None, 0)
