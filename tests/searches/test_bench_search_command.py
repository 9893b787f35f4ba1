"""``manage.py bench_search`` writes what a search reports, or says what is wrong with the call."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from vlmlab.core.scenes.catalogue import load_domain


@pytest.fixture
def oracle(tmp_path):
    domain = load_domain("driving")
    masks = domain.universe(2)
    cone = domain.mask(("cone",))
    path = tmp_path / "oracle.npz"
    np.savez(path, masks=masks, rate=np.where(masks & cone, 1.0, 0.0))
    return path


def bench(oracle, out, *, algorithm="sits", domain="driving", budget=400, param=()):
    call_command(
        "bench_search", oracle=str(oracle), domain=domain, algorithm=algorithm, budget=budget, seed=1,
        param=list(param), json=str(out),
    )  # fmt: skip


@pytest.mark.parametrize("algorithm", ["random", "beam", "beam-literal", "gpts", "sits", "sits_minimal"])
def test_command_reports_the_sets_that_fail(oracle, tmp_path, algorithm):
    bench(oracle, tmp_path / "out.json", algorithm=algorithm)

    told = json.loads((tmp_path / "out.json").read_text())
    assert ["cone"] in told["reported"]
    assert all("cone" in key for key in told["reported"])
    assert told["inferences"] == told["trace"] <= 400


@pytest.mark.parametrize("algorithm", ["random", "beam", "beam-literal", "gpts", "sits", "sits_minimal"])
def test_command_searches_kitchens_too(tmp_path, algorithm):
    domain = load_domain("indoor")
    masks = domain.universe(2)
    rates = np.where(masks & domain.mask(("knife_edge",)), 1.0, 0.0)
    np.savez(tmp_path / "oracle.npz", masks=masks, rate=rates)

    bench(tmp_path / "oracle.npz", tmp_path / "out.json", algorithm=algorithm, domain="indoor")

    told = json.loads((tmp_path / "out.json").read_text())
    assert ["knife_edge"] in told["reported"]
    assert all("knife_edge" in key for key in told["reported"])


def test_command_passes_params_on(oracle, tmp_path):
    bench(oracle, tmp_path / "out.json", param=["max_set_size=1", "excluded_concepts=cyclist,far"])

    assert json.loads((tmp_path / "out.json").read_text())["reported"] == [["cone"]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"algorithm": "magic"}, "There is no algorithm 'magic'"),
        ({"domain": "moon"}, "There is no domain"),
        ({"param": ["slots"]}, "--param needs KEY=VALUE"),
        ({"param": ["slots=0"]}, r"Questions in flight \(slots\)"),
        ({"param": ["excluded_concepts=conee"]}, "conee"),
    ],
)
@pytest.mark.django_db
def test_command_says_what_is_wrong(oracle, tmp_path, values, message):
    with pytest.raises(CommandError, match=message):
        bench(oracle, tmp_path / "out.json", **values)


def test_command_says_that_the_oracle_is_missing(tmp_path):
    with pytest.raises(CommandError, match="cannot be read"):
        bench(tmp_path / "missing.npz", tmp_path / "out.json")


def test_command_says_that_the_result_cannot_be_written(oracle, tmp_path):
    with pytest.raises(CommandError, match="cannot be written"):
        bench(oracle, tmp_path / "missing" / "out.json")
