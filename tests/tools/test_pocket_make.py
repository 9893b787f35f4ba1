"""``make pocket``: which steps it takes, in which order, and with which states."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE_SECONDS
from tools.pocket.train import PLANS

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "pocket" / "make.sh"
STUB = """#!/bin/sh
echo "$@" >> calls.txt
case "$*" in *"$FAILS_AT"*) exit 3 ;; esac
"""


@pytest.fixture
def made(tmp_path):
    stub = tmp_path / "python"
    stub.write_text(STUB)
    stub.chmod(0o755)

    def run(fails_at="nothing fails"):
        outcome = subprocess.run(
            ["/bin/sh", str(SCRIPT)],
            cwd=tmp_path,
            env={**os.environ, "PYTHON": str(stub), "FAILS_AT": fails_at},
            check=False,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
        )
        return outcome.returncode, (tmp_path / "calls.txt").read_text().splitlines()

    return run


def test_the_earlier_state_is_one_that_training_keeps():
    early = re.search(r"^EARLY=(\d+)$", SCRIPT.read_text(), re.MULTILINE)

    assert early is not None
    assert int(early[1]) in PLANS["joint"].kept_steps


def test_all_steps_are_taken_for_both_domains_and_both_models(made):
    code, calls = made()

    modules = [re.match(r"-m tools\.pocket\.(\w+)", call)[1] for call in calls]
    purposes = ["validation", "train", "evaluation-small", "evaluation-random", "evaluation-several"]
    assert code == 0
    for purpose in purposes:
        rendered = {call.split()[3] for call in calls if f"--purpose {purpose}" in call}
        assert rendered == {"driving", "indoor"}
    assert [one for one in modules if one != "render"] == [
        *["train"] * 4, "train", "evaluate", "train", "evaluate", "degrade", "card", "card",
    ]  # fmt: skip
    phases = [call.split()[3] for call in calls if "--phase" in call]
    assert phases == list(PLANS)
    exports = [call for call in calls if "--export" in call]
    assert "joint/best.pt --export var/pocket/models/pocket" in exports[0]
    assert "joint/step_200.pt --export var/pocket/models/pocket-early" in exports[1]
    assert calls[-1].endswith("--last-step 200")


def test_a_step_that_fails_ends_it(made):
    code, calls = made(fails_at="--phase vision")

    assert code == 3
    assert calls[-1] == "-m tools.pocket.train --phase vision --workers 1 --resume"
