"""The command that the form shows starts the same search as the form."""

import shlex
from types import SimpleNamespace
from typing import cast

import pytest

from searches.forms.run import RunForm
from searches.views.run_create import _shell_lines
from vlmlab.core.revelio.bench import bench_config
from vlmlab.core.revelio.config import PRESETS, config_from_values


@pytest.mark.parametrize("preset", PRESETS)
def test_the_shown_command_starts_the_search_of_the_form(preset: str) -> None:
    config = config_from_values(
        {**PRESETS[preset].values, "excluded_concepts": ("far", "cone"), "strict": True}
    )
    cleaned = {"config": config, "domain": "driving", "run_seed": 7, "suts": [SimpleNamespace(slug="pocket")]}

    (line,) = _shell_lines(cast(RunForm, SimpleNamespace(cleaned_data=cleaned)))

    words = shlex.split(line)
    params = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--param")
    algorithm, budget = words[words.index("--algorithm") + 1], words[words.index("--budget") + 1]
    assert bench_config(algorithm, budget=int(budget), params=params) == config
    assert words[words.index("--seed") + 1] == "7"
