"""One phase of training: optimisers, schedule, checkpoints that a later start goes on from."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tools.pocket.workers import rank, share_gradients

Readings = dict[str, float]
WARM_UP_STEPS = 60
CLIP = 1.0
LOG = "log.jsonl"
LAST = "last.pt"


@dataclass(frozen=True)
class PhasePlan:
    """How long and how fast a phase learns.

    Attributes:
        steps: batches in all; the learning rate falls to its end over them.
        rate: learning rate of AdamW.
        muon_rate: learning rate of Muon on the inner matrices.
        constant_share: share of the steps at full rate, before the linear decay.
        check_steps: batches between two validations.
        batch_size: pictures a batch.
        kept_steps: steps whose states are kept for good, as ``step_N.pt``.
        slow_parts: beginnings of the names of parameters that learn more slowly.
        slow_share: their share of the rates.
        seed: where all choices of the phase come from.
    """

    steps: int
    rate: float
    muon_rate: float
    constant_share: float = 0.4
    check_steps: int = 100
    batch_size: int = 32
    kept_steps: tuple[int, ...] = ()
    slow_parts: tuple[str, ...] = ()
    slow_share: float = 1.0
    seed: int = 1


Named = list[tuple[str, nn.Parameter]]


def split_parameters(module: nn.Module) -> tuple[Named, Named]:
    """Return the inner matrices (for Muon) and everything else (for AdamW) of the trainable parameters."""
    inner: Named = []
    rest: Named = []
    for name, parameter in module.named_parameters():
        if not parameter.requires_grad:
            continue
        outer = any(word in name for word in ("wte", "wpe", "lm_head", "codes", "heads"))
        is_inner = parameter.ndim == 2 and min(parameter.shape) > 32 and not outer
        (inner if is_inner else rest).append((name, parameter))
    return inner, rest


class Phase:
    """Trains one module with a loss function for a number of steps."""

    def __init__(self, name: str, module: nn.Module, plan: PhasePlan, folder: Path) -> None:
        self.name = name
        self.module = module
        self.plan = plan
        self.folder = folder
        self.step = 0
        self.spent_seconds = 0.0
        self.best = -100.0
        inner, rest = split_parameters(module)
        self.optimisers: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(self._groups(rest), lr=plan.rate, weight_decay=0.05, betas=(0.9, 0.98))
        ]
        self.base_rates = [plan.rate]
        if inner:
            self.optimisers.append(
                torch.optim.Muon(
                    self._groups(inner),
                    lr=plan.muon_rate,
                    weight_decay=0.05,
                    adjust_lr_fn="match_rms_adamw",
                )
            )
            self.base_rates.append(plan.muon_rate)

    def _groups(self, named: Named) -> list[dict[str, Any]]:
        slow = [one for name, one in named if name.startswith(self.plan.slow_parts)]
        fast = [one for name, one in named if not name.startswith(self.plan.slow_parts)]
        groups = [{"params": fast, "share": 1.0}, {"params": slow, "share": self.plan.slow_share}]
        return [group for group in groups if group["params"]]

    @property
    def progress(self) -> float:
        """Share of the phase that is over, in [0, 1]."""
        return min(1.0, self.step / self.plan.steps)

    def run(
        self, loss_at: Callable[[int], tuple[torch.Tensor, Readings]], check: Callable[[], Readings]
    ) -> None:
        """Train to the last step; of what ``check`` returns, ``score`` decides which state is the best.

        From step 0 the log starts anew; a resumed phase adds to it.
        """
        if self.step == 0 and rank() == 0:
            (self.folder / LOG).unlink(missing_ok=True)
        recent: list[Readings] = []
        start = time.monotonic() - self.spent_seconds
        while self.progress < 1.0:
            self.spent_seconds = time.monotonic() - start
            self.module.train()
            self._set_rates()
            loss, readings = loss_at(self.step)
            for optimiser in self.optimisers:
                optimiser.zero_grad()
            loss.backward()
            share_gradients(self.module.parameters())
            nn.utils.clip_grad_norm_(self.module.parameters(), CLIP)
            for optimiser in self.optimisers:
                optimiser.step()
            self.step += 1
            recent.append(readings)
            if rank() > 0:
                continue
            if self.step in self.plan.kept_steps:
                self.save(self.folder / f"step_{self.step}.pt")
            if self.step in (1, 10, 30, 100):
                self._log("train", readings)
            if self.step % self.plan.check_steps == 0 or self.progress >= 1.0:
                self._log("train", {k: sum(r[k] for r in recent) / len(recent) for k in recent[0]})
                recent = []
                self._keep(check())

    def _set_rates(self) -> None:
        falling = (1.0 - self.progress) / (1.0 - self.plan.constant_share)
        share = min(1.0, (self.step + 1) / WARM_UP_STEPS, max(0.02, falling))
        for optimiser, rate in zip(self.optimisers, self.base_rates, strict=True):
            for group in optimiser.param_groups:
                group["lr"] = rate * share * group["share"]

    def _keep(self, readings: Readings) -> None:
        self._log("check", readings)
        is_best = readings["score"] > self.best
        self.best = max(self.best, readings["score"])
        if is_best:
            self.save(self.folder / "best.pt")
        self.save(self.folder / LAST)

    def _log(self, kind: str, readings: Readings) -> None:
        numbers = {name: round(value, 4) for name, value in readings.items()}
        line = {
            "phase": self.name,
            "kind": kind,
            "step": self.step,
            "seconds": round(self.spent_seconds),
            **numbers,
        }
        print(json.dumps(line), flush=True)
        with (self.folder / LOG).open("a") as log:
            log.write(json.dumps(line) + "\n")

    def save(self, path: Path) -> None:
        """Write everything that a later start needs; by renaming, so a cut never leaves half a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        state = {
            "module": self.module.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
            "step": self.step,
            "spent_seconds": self.spent_seconds,
            "best": self.best,
        }
        unfinished = path.with_suffix(".tmp")
        torch.save(state, unfinished)
        unfinished.rename(path)

    def resume(self, path: Path) -> bool:
        """Go on from a saved state; return whether there was one. The log is cut where it goes on."""
        if not path.exists():
            return False
        state = torch.load(path, weights_only=True)
        self.module.load_state_dict(state["module"])
        for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        self.step, self.spent_seconds, self.best = state["step"], state["spent_seconds"], state["best"]
        log = self.folder / LOG
        if log.exists() and rank() == 0:
            kept = [line for line in log.read_text().splitlines() if json.loads(line)["step"] <= self.step]
            log.write_text("".join(f"{line}\n" for line in kept))
        return True
