"""``manage.py bench_most`` writes what searches report of systems on paper, or says what is wrong."""

import json

import pytest
from django.core.management import CommandError, call_command

from vlmlab.core.most.landscapes import IMAGE_NAMES, TEXT_NAMES


def bench(tmp_path, **values):
    out = tmp_path / "out.json"
    call_command("bench_most", **{"sut": "scripted:few_strong", "json": str(out)} | values)
    return json.loads(out.read_text())


@pytest.mark.parametrize("algorithm", ["screen", "random", "nsga2", "nsga2-admitted", "sweep"])
def test_command_reports_each_regime_and_seed(tmp_path, algorithm):
    told = bench(tmp_path, algorithm=algorithm, budget=60, seed=4, runs=2)

    assert [(one["regime"], one["seed"]) for one in told["runs"]] == [
        (regime, seed) for regime in ("image", "text", "joint") for seed in (4, 5)
    ]
    assert all(1 <= one["evaluations"] <= 60 for one in told["runs"])
    assert told["config"]["algorithm"] == algorithm.removesuffix("-admitted")


def test_a_strategy_has_operators_of_its_regime_only(tmp_path):
    told = bench(tmp_path, runs=3)

    by_regime = {"image": set(IMAGE_NAMES), "text": set(TEXT_NAMES), "joint": {*IMAGE_NAMES, *TEXT_NAMES}}
    assert all(set(one["strategy"]) <= by_regime[one["regime"]] for one in told["runs"])
    assert any(one["first_hit"] for one in told["runs"])


def test_the_same_seed_gives_the_same_result(tmp_path):
    first, second = (bench(tmp_path, seed=7)["runs"] for _ in range(2))

    def kept(runs):
        return [{name: one[name] for name in one if name != "own_seconds"} for one in runs]

    assert kept(first) == kept(second)


def test_a_summary_is_printed_with_a_file_and_without_one(tmp_path, capsys):
    told = bench(tmp_path, runs=3, seed=2, regimes="image,text")
    beside_file = capsys.readouterr().out
    call_command("bench_most", sut="scripted:few_strong", runs=3, seed=2, regimes="image,text")
    alone = capsys.readouterr().out

    first, *lines = alone.splitlines()
    assert alone == beside_file
    assert first == "screen on scripted:few_strong, 6 runs"
    for line, regime in zip(lines, ("image", "text"), strict=True):
        runs = [one for one in told["runs"] if one["regime"] == regime]
        hits = sorted(one["first_hit"] for one in runs if one["first_hit"])
        assert line.startswith(
            f"{regime:<6} {len(hits)} of 3 failed; first failure after {hits[(len(hits) - 1) // 2]} "
        )
        assert line.endswith(f" {sum(one['evaluations'] for one in runs)} evaluations in all")


def test_a_single_run_shows_its_strategy(capsys):
    call_command("bench_most", sut="scripted:few_strong", seed=2, regimes="joint")

    *_, strategy = capsys.readouterr().out.splitlines()
    assert any(name in strategy for name in (*IMAGE_NAMES, *TEXT_NAMES))


def test_the_screen_gets_the_result_alone_where_it_is_asked_for(capsys):
    call_command("bench_most", sut="scripted:few_strong", regimes="image", json="-")

    assert len(json.loads(capsys.readouterr().out)["runs"]) == 1


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"sut": "pocket"}, "There is no system on paper called 'pocket'."),
        ({"sut": "scripted:moon"}, "Known: scripted:few_strong"),
        ({"algorithm": "magic"}, "There is no algorithm 'magic'."),
        ({"regimes": "smell"}, "Choose any of image, text, joint."),
        ({"budget": 0}, "Enter a whole number from 1 to"),
        ({"runs": 0}, "--runs must be between 1 and 10,000."),
        ({"seed": -1}, "--seed must not be negative."),
        ({"param": ["foo=1"]}, "There is no setting called “foo”."),
        ({"param": ["foo"]}, "--param needs KEY=VALUE"),
        ({"json": "/nowhere/out.json"}, "The result cannot be written"),
    ],
)
def test_wrong_calls_are_refused_with_a_sentence(tmp_path, values, sentence):
    with pytest.raises(CommandError) as caught:
        bench(tmp_path, **values)

    assert sentence in str(caught.value)
