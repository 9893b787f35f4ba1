"""The structure check of compose.yaml."""

from pathlib import Path

import pytest
import yaml

from tools.ci.compose import problems_of

COMPOSE = Path(__file__).resolve().parents[2] / "compose.yaml"


def test_our_own_file_has_no_problems():
    assert problems_of(yaml.safe_load(COMPOSE.read_text("utf-8"))) == []


def test_our_own_file_starts_every_part_of_the_lab():
    services = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]

    assert set(services) == {"database", "queue", "migrate", "web", "cpu-worker", "gpu-worker"}
    assert services["gpu-worker"]["deploy"]["resources"]["reservations"]["devices"][0]["capabilities"] == [
        "gpu"
    ]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ([], "there is no mapping “services”"),
        ({"services": {"web": {}}}, "web: neither image nor build"),
        ({"services": {"web": {"image": "a", "comand": "b"}}}, "web: unknown keys comand"),
        ({"services": {"web": {"image": "a", "depends_on": ["db"]}}}, "web: depends on unknown db"),
        (
            {"services": {"web": {"image": "a", "volumes": ["data:/data"]}}},
            "web: volume data is not declared",
        ),
    ],
)
def test_mistakes_are_named(document, problem):
    assert problem in problems_of(document)
