"""What stands in the environment may be anything; the lab says what is wrong with it."""

import subprocess
import sys

import pytest

from tests.serve.labs import ROOT, clean_environment
from vlmlab.core.errors import ConfigError
from vlmlab.environment import LabEnvironment

NAME = "VLMLAB_TRIED"


def environment(text: str) -> LabEnvironment:
    env = LabEnvironment()
    env.ENVIRON = {NAME: text}
    return env


@pytest.mark.parametrize("text", ["abc", "", "1.5", "1e9", "nan"])
def test_a_number_that_is_none_is_refused_with_its_variable(text):
    with pytest.raises(ConfigError, match=NAME) as refusal:
        environment(text).int(NAME, 60)

    assert refusal.value.field == NAME


def test_numbers_are_read():
    assert environment("12").int(NAME, 60) == 12
    assert environment("0.5").float(NAME, 1.0) == 0.5


@pytest.mark.parametrize("url", ["garbage", "mysql://", "evil://user:secret@host/name", "sqlite:", "://"])
def test_what_names_no_database_is_refused_without_its_password(url):
    with pytest.raises(ConfigError, match="not the address of a database") as refusal:
        environment(url).database(NAME, "sqlite:////lab.sqlite3")

    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("text", ["", "sqlite:////lab.sqlite3"])
def test_unset_and_empty_mean_the_default_database(text):
    assert environment(text).database(NAME, "sqlite:////lab.sqlite3")["NAME"] == "/lab.sqlite3"


def test_time_zones_and_log_levels_are_known_ones():
    assert environment("Europe/Berlin").time_zone(NAME, "UTC") == "Europe/Berlin"
    assert environment("debug").log_level(NAME, "INFO") == "DEBUG"
    for text in ("Mars/Phobos", "../etc/passwd", "/etc"):
        with pytest.raises(ConfigError, match="no such time zone"):
            environment(text).time_zone(NAME, "UTC")
    with pytest.raises(ConfigError, match="no such log level"):
        environment("evil").log_level(NAME, "INFO")


def test_the_command_line_says_it_in_one_sentence(tmp_path):
    file = tmp_path / "file"
    file.touch()

    ended = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env=clean_environment(VLMLAB_DATA_DIR=str(file)),
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 1
    assert ended.stderr.startswith(f"VLM Lab cannot start. The data folder {file} cannot be used")
    assert "Traceback" not in ended.stderr


def test_a_python_without_django_is_told_which_one_has_it():
    answer = subprocess.run(
        [sys.executable, "-S", "manage.py", "check"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert answer.returncode == 1
    assert answer.stderr.startswith("This Python has no Django. The lab's own has it: .venv/bin/python")
    assert "Traceback" not in answer.stderr
