"""``manage.py check_scenes`` tells how many sets become a picture, and fails when asked to be strict."""

import json

import pytest
from django.core.management import CommandError, call_command

from vlmlab.core.scenes.render.embedded import EmbeddedBackend


def check(capsys, *arguments):
    call_command("check_scenes", "--domain", "indoor", *arguments)
    return capsys.readouterr().out


def test_command_tells_rates_of_each_size(capsys):
    told = check(capsys, "--sets", "4", "--max-size", "2")

    assert told.startswith("Kitchen (indoor@")
    assert "   1          22        2      2  100.0%" in told
    assert "   2         257        2      2  100.0%" in told


def test_command_writes_json_for_programs(capsys):
    told = json.loads(check(capsys, "--sets", "2", "--max-size", "1", "--json", "-"))

    assert [(row["size"], row["checked"], row["drawn"], row["rate"]) for row in told["rows"]] == [
        (1, 2, 2, 1.0)
    ]
    assert told["rows"][0]["exact"] == {"low": pytest.approx(0.1581, abs=1e-4), "high": 1.0, "level": 0.95}
    assert told["meets_goals"] is True


def test_command_names_what_fails_and_is_strict_only_when_asked(capsys, monkeypatch):
    monkeypatch.setattr(EmbeddedBackend, "fault", lambda self, description: "wet_floor shows only 3 pixels")

    told = check(capsys, "--sets", "1", "--max-size", "1")
    with pytest.raises(SystemExit) as ended:
        check(capsys, "--sets", "1", "--max-size", "1", "--strict")

    assert "8  “Wet floor” shows too few pixels" in told  # the one set that seed 1 draws
    assert "0.0%" in told
    assert ended.value.code == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sets", "0"], "--sets: at least 1"),
        (["--size", "big"], "--size: expected WIDTHxHEIGHT"),
        (["--sets", "1", "--max-size", "1", "--json", "/nowhere/out.json"], "cannot be written"),
    ],
)
def test_command_says_what_is_wrong_with_the_call(capsys, arguments, words):
    with pytest.raises(CommandError, match=words):
        check(capsys, *arguments)
