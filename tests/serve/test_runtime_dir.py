"""The folder for sockets, and the options of the command."""

import os
import subprocess
import sys
from argparse import ArgumentTypeError

import pytest
from django.core.management import CommandError, call_command

from searches.management.commands.up import (
    is_process,
    new_runtime_dir,
    queue_names,
    reachable,
    storage_sentence,
    thread_count,
)


def dead_pid():
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_each_start_gets_a_folder_of_its_own_that_others_cannot_read(tmp_path):
    first, second = new_runtime_dir(tmp_path), new_runtime_dir(tmp_path)

    assert first != second
    assert first.stat().st_mode & 0o777 == 0o700


def test_folders_of_dead_labs_are_taken_away_and_of_living_ones_kept(tmp_path):
    dead = tmp_path / f"vlmlab-{dead_pid()}-abc"
    living = tmp_path / f"vlmlab-{os.getpid()}-abc"
    foreign = tmp_path / "vlmlab-notes-abc"
    for folder in (dead, living, foreign):
        folder.mkdir()
        (folder / "queue.sock").touch()

    new_runtime_dir(tmp_path)

    assert (dead.exists(), living.exists(), foreign.exists()) == (False, True, True)


def test_a_process_is_told_from_a_dead_one():
    assert (is_process(os.getpid()), is_process(1), is_process(dead_pid())) == (True, True, False)


def test_listening_everywhere_is_reached_on_this_machine():
    assert [reachable(host) for host in ("0.0.0.0", "::", "127.0.0.1")] == ["127.0.0.1", "[::1]", "127.0.0.1"]


@pytest.mark.parametrize(("text", "names"), [("cpu", "cpu"), (" cpu , gpu,", "cpu,gpu")])
def test_queues_are_read(text, names):
    assert queue_names(text) == names


@pytest.mark.parametrize("text", ["", ",", "evil", "cpu,evil", "CPU"])
def test_a_queue_that_nobody_fills_is_refused(text):
    with pytest.raises(ArgumentTypeError, match="cpu, gpu, api"):
        queue_names(text)


@pytest.mark.parametrize("text", ["0", "-3", "65", "many", "²", ""])
def test_a_worker_has_one_to_sixty_four_threads(text):
    assert thread_count("4") == 4
    with pytest.raises(ArgumentTypeError, match="1 to 64"):
        thread_count(text)


def test_a_disk_that_refuses_is_told_with_its_file():
    full = OSError(28, "No space left on device", "/data/up.lock")

    assert storage_sentence(full).startswith("No space left on device (/data/up.lock). Make room")
    assert storage_sentence(OSError("odd")).startswith("odd. Make room")


def test_a_lab_that_cannot_write_its_lock_says_so(monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError(30, "Read-only file system", "/data/up.lock")

    monkeypatch.setattr("searches.management.commands.up.take_lock", refuse)

    with pytest.raises(CommandError, match="Read-only file system"):
        call_command("up")
