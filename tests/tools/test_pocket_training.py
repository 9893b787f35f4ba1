"""A phase of training: it goes on exactly where it stopped, and keeps its best state."""

import argparse
import json

import pytest
import torch
from torch import nn
from transformers import AutoModelForImageTextToText

from tests.tools.pocket_parts import SMALL, small_trainee
from tools.pocket import train
from tools.pocket.train import (
    EYES,
    _choose_parts,
    _load_start,
    export,
    kept_tokenizer,
    open_pictures,
    train_phase,
)
from tools.pocket.training import Phase, PhasePlan, split_parameters

PLAN = PhasePlan(steps=6, rate=1e-2, muon_rate=1e-2, check_steps=3)


class CutError(Exception):
    """Stands for a process that is ended."""


def network():
    torch.manual_seed(4)
    return nn.ModuleDict({"inner": nn.Linear(40, 40), "heads": nn.Linear(40, 2)})


def loss_of(module, *, cut_at=None):
    def loss_at(step):
        if step == cut_at:
            raise CutError
        generator = torch.Generator().manual_seed(step)
        inputs, wanted = torch.randn(8, 40, generator=generator), torch.randn(8, 2, generator=generator)
        loss = ((module["heads"](module["inner"](inputs).tanh()) - wanted) ** 2).mean()
        return loss, {"loss": float(loss.detach())}

    return loss_at


def weights_of(module):
    return {name: value.tolist() for name, value in module.state_dict().items()}


def test_a_resumed_phase_ends_with_the_weights_of_one_that_was_never_cut(tmp_path):
    whole, cut, resumed = network(), network(), network()
    Phase("whole", whole, PLAN, tmp_path / "whole").folder.mkdir()
    (tmp_path / "cut").mkdir()

    Phase("whole", whole, PLAN, tmp_path / "whole").run(loss_of(whole), lambda: {"score": 1.0})
    with pytest.raises(CutError):
        Phase("cut", cut, PLAN, tmp_path / "cut").run(loss_of(cut, cut_at=4), lambda: {"score": 1.0})
    again = Phase("cut", resumed, PLAN, tmp_path / "cut")
    was_there = again.resume(tmp_path / "cut" / "last.pt")
    start = again.step
    again.run(loss_of(resumed), lambda: {"score": 1.0})

    assert (was_there, start, again.step) == (True, 3, 6)
    assert weights_of(resumed) == weights_of(whole)
    assert weights_of(resumed) != weights_of(network())


def test_a_phase_without_a_state_starts_at_the_beginning(tmp_path):
    phase = Phase("new", network(), PLAN, tmp_path)

    assert (phase.resume(tmp_path / "last.pt"), phase.step) == (False, 0)


def test_the_best_state_is_the_one_with_the_highest_score(tmp_path):
    module = network()
    scores = iter([1.0, 3.0, 2.0])
    plan = PhasePlan(steps=6, rate=1e-2, muon_rate=1e-2, check_steps=2, kept_steps=(3,))

    phase = Phase("best", module, plan, tmp_path)
    phase.run(loss_of(module), lambda: {"score": next(scores)})

    steps = {path.name: torch.load(path, weights_only=True)["step"] for path in sorted(tmp_path.glob("*.pt"))}
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert steps == {"best.pt": 4, "last.pt": 6, "step_3.pt": 3}
    assert [(one["step"], one["score"]) for one in lines if one["kind"] == "check"] == [
        (2, 1.0),
        (4, 3.0),
        (6, 2.0),
    ]
    assert phase.best == 3.0


def steps_of(log):
    return [json.loads(line)["step"] for line in log.read_text().splitlines()]


def test_a_phase_that_starts_anew_has_a_log_of_its_own_and_a_resumed_one_adds_to_it(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text('{"step": 77}\n')
    module, again = network(), network()

    with pytest.raises(CutError):
        Phase("new", module, PLAN, tmp_path).run(loss_of(module, cut_at=4), lambda: {"score": 1.0})
    cut = steps_of(log)
    resumed = Phase("new", again, PLAN, tmp_path)
    resumed.resume(tmp_path / "last.pt")
    resumed.run(loss_of(again), lambda: {"score": 1.0})

    assert cut == [1, 3, 3]
    assert steps_of(log) == [1, 3, 3, 6, 6]


def test_only_the_first_worker_starts_the_log_anew(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.pocket.training.rank", lambda: 1)
    (tmp_path / "log.jsonl").write_text('{"step": 77}\n')
    module = network()

    Phase("new", module, PLAN, tmp_path).run(loss_of(module), lambda: {"score": 1.0})

    assert steps_of(tmp_path / "log.jsonl") == [77]


def test_a_resumed_phase_remembers_its_best_state(tmp_path):
    plan = PhasePlan(steps=6, rate=1e-2, muon_rate=1e-2, check_steps=2)
    module, again = network(), network()

    with pytest.raises(CutError):
        Phase("cut", module, plan, tmp_path).run(loss_of(module, cut_at=3), lambda: {"score": 0.9})
    resumed = Phase("cut", again, plan, tmp_path)
    resumed.resume(tmp_path / "last.pt")
    resumed.run(loss_of(again), lambda: {"score": 0.1})

    assert resumed.best == 0.9
    assert torch.load(tmp_path / "best.pt", weights_only=True)["step"] == 2


def test_what_was_logged_behind_the_state_is_logged_once(tmp_path):
    module, again = network(), network()
    Phase("cut", module, PLAN, tmp_path).run(loss_of(module), lambda: {"score": 1.0})
    state = torch.load(tmp_path / "last.pt", weights_only=True)
    torch.save({**state, "step": 3}, tmp_path / "last.pt")

    resumed = Phase("cut", again, PLAN, tmp_path)
    resumed.resume(tmp_path / "last.pt")
    cut = steps_of(tmp_path / "log.jsonl")
    resumed.run(loss_of(again), lambda: {"score": 1.0})

    assert cut == [1, 3, 3]
    assert steps_of(tmp_path / "log.jsonl") == [1, 3, 3, 6, 6]


def test_a_training_that_is_there_is_not_overwritten(tmp_path):
    (tmp_path / "vision").mkdir()
    (tmp_path / "vision" / "last.pt").touch()
    options = argparse.Namespace(out=str(tmp_path), steps=None, batch=None, resume=False)

    with pytest.raises(SystemExit, match="vision has a training: go on with it"):
        train_phase("vision", options)


def test_a_folder_without_pictures_ends_a_training_before_it_begins(tmp_path):
    with pytest.raises(SystemExit, match=r"No pictures in .*nothing: render them first"):
        open_pictures([str(tmp_path / "nothing")], side=32)


@pytest.mark.parametrize(
    ("step", "share"), [(0, 1 / 60), (29, 0.5), (300, 1.0), (400, 1.0), (700, 0.5), (999, 0.02)]
)
def test_rates_rise_stay_and_fall(tmp_path, step, share):
    phase = Phase("rates", network(), PhasePlan(steps=1000, rate=2.0, muon_rate=4.0), tmp_path)
    phase.step = step

    phase._set_rates()

    rates = [group["lr"] for one in phase.optimisers for group in one.param_groups]
    assert rates == pytest.approx([2.0 * share, 4.0 * share])


def test_slow_parts_learn_at_their_share_of_the_rates(tmp_path):
    plan = PhasePlan(steps=1000, rate=2.0, muon_rate=4.0, slow_parts=("inner.",), slow_share=0.25)
    phase = Phase("slow", network(), plan, tmp_path)
    phase.step = 100

    phase._set_rates()

    rates = [[group["lr"] for group in one.param_groups] for one in phase.optimisers]
    assert rates == [[2.0, 0.5], [1.0]]


def test_only_inner_matrices_that_learn_go_to_muon():
    module = network()
    inner, rest = split_parameters(module)
    module["inner"].requires_grad_(requires_grad=False)

    assert [name for name, _ in inner] == ["inner.weight"]
    assert sorted(name for name, _ in rest) == ["heads.bias", "heads.weight", "inner.bias"]
    assert split_parameters(module)[0] == []


def test_of_a_second_state_only_the_eyes_are_taken(tmp_path, pocket_tokenizer):
    first, second, third = (small_trainee(pocket_tokenizer, seed=seed) for seed in (1, 2, 3))
    for number, one in enumerate((first, second)):
        torch.save({"module": one.state_dict()}, tmp_path / f"{number}.pt")

    _load_start(third, [tmp_path / "0.pt", tmp_path / "1.pt"])

    expected = {
        name: (second if name.startswith(EYES) else first).state_dict()[name] for name in first.state_dict()
    }
    differing = [name for name in expected if not first.state_dict()[name].equal(second.state_dict()[name])]
    assert all(third.state_dict()[name].equal(value) for name, value in expected.items())
    assert any(name.startswith("vlm.model.vision_tower.") for name in differing)
    assert any(name.startswith("heads.") for name in differing)
    assert any(name.startswith("vlm.model.language_model.") for name in differing)


@pytest.mark.parametrize(
    ("phase", "learns", "is_fixed"),
    [
        (
            "language",
            {"codes", "language_model", "lm_head", "verdict_heads", "box_heads", "place_heads"},
            False,
        ),
        ("vision", {"vision_tower", "heads"}, False),
        ("bridge", {"multi_modal_projector"}, True),
        (
            "joint",
            {"vision_tower", "heads", "language_model", "lm_head", "verdict_heads", "box_heads"}
            | {"multi_modal_projector", "place_heads"},
            False,
        ),
    ],
)
def test_each_phase_teaches_its_own_parts(pocket_tokenizer, phase, learns, is_fixed):
    trainee = small_trainee(pocket_tokenizer)

    _choose_parts(trainee, phase)

    found = {
        name.removeprefix("vlm.").removeprefix("model.").split(".")[0]
        for name, parameter in trainee.named_parameters()
        if parameter.requires_grad
    }
    assert found == learns
    assert trainee.has_fixed_tower is is_fixed


def test_the_tokenizer_of_a_run_stays_what_it_was(tmp_path, pocket_tokenizer):
    pocket_tokenizer.backend_tokenizer.save(str(tmp_path / "tokenizer.json"))

    kept = kept_tokenizer(tmp_path)

    assert kept.get_vocab() == pocket_tokenizer.get_vocab()
    assert kept.eos_token_id == pocket_tokenizer.eos_token_id


def test_the_first_call_learns_the_tokenizer_of_a_run_and_writes_it_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(train, "CORPUS_SCENES", 20)
    run = tmp_path / "run"

    learnt = kept_tokenizer(run)
    monkeypatch.setattr(train, "build_tokenizer", None)  # the second call learns nothing
    kept = kept_tokenizer(run)

    assert [path.name for path in run.iterdir()] == ["tokenizer.json"]
    assert kept.get_vocab() == learnt.get_vocab()
    assert kept.backend_tokenizer.to_str() == learnt.backend_tokenizer.to_str()


def test_the_tokenizer_is_there_before_the_workers_of_every_phase_start(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr("sys.argv", ["train", "--out", str(tmp_path / "run"), "--workers", "3"])
    monkeypatch.setattr(train, "kept_tokenizer", lambda folder: calls.append(("tokenizer", folder)))
    monkeypatch.setattr(
        train.workers, "run", lambda count, work, name, _options: calls.append((count, work, name))
    )

    train.main()

    assert calls == [
        ("tokenizer", tmp_path / "run"),
        *((3, train.train_phase, name) for name in ("language", "vision", "bridge", "joint")),
    ]


def test_export_reads_the_model_of_a_state_whatever_helper_heads_it_has(tmp_path, pocket_tokenizer):
    pocket_tokenizer.backend_tokenizer.save(str(tmp_path / "tokenizer.json"))
    trainee = small_trainee(pocket_tokenizer, seed=5)
    module = {name: value for name, value in trainee.state_dict().items() if "place_heads" not in name}
    torch.save({"module": {**module, "old_heads.weight": torch.zeros(2)}}, tmp_path / "state.pt")

    export(tmp_path / "state.pt", tmp_path / "model", run=tmp_path, shape=SMALL)

    again = AutoModelForImageTextToText.from_pretrained(tmp_path / "model", dtype=torch.float32)
    saved, expected = again.state_dict(), trainee.vlm.state_dict()
    kept = {name: value for name, value in expected.items() if value.is_floating_point()}
    assert saved.keys() == expected.keys()
    assert len(kept) > 20
    assert [name for name, value in kept.items() if not saved[name].equal(value.bfloat16().float())] == []


def test_export_refuses_a_state_that_lacks_a_part_of_the_model(tmp_path, pocket_tokenizer):
    pocket_tokenizer.backend_tokenizer.save(str(tmp_path / "tokenizer.json"))
    module = small_trainee(pocket_tokenizer).state_dict()
    del module["vlm.lm_head.weight"]
    torch.save({"module": module}, tmp_path / "state.pt")

    with pytest.raises(RuntimeError, match=r"Missing key.*lm_head\.weight"):
        export(tmp_path / "state.pt", tmp_path / "model", run=tmp_path, shape=SMALL)

    assert not (tmp_path / "model").exists()
