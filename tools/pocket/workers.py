"""Several processes that train one model: each has its own batches, all use the mean of their gradients.

On CPUs this beats one process with more threads: the kernels of so small a model keep few threads busy.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import distributed, multiprocessing

PORT = "29731"


def rank() -> int:
    """Return the number of this process, 0 where there is only one."""
    return int(distributed.get_rank()) if distributed.is_initialized() else 0


def share_gradients(parameters: Iterable[torch.nn.Parameter]) -> None:
    """Replace the gradients by their mean over all processes; without others nothing happens."""
    if not distributed.is_initialized():
        return
    learning = [one for one in parameters if one.requires_grad]
    grads = [torch.zeros_like(one) if one.grad is None else one.grad for one in learning]
    flat = torch.cat([grad.flatten() for grad in grads])
    distributed.all_reduce(flat)
    flat /= distributed.get_world_size()
    start = 0
    for one in learning:
        one.grad = flat[start : start + one.numel()].view_as(one).clone()
        start += one.numel()


def run(count: int, work: Callable[..., Any], *arguments: Any) -> None:
    """Call ``work(*arguments)`` in ``count`` processes of one thread each, or here when it is one.

    Args:
        count: how many processes.
        work: a function of a module, so that a new process finds it.
        *arguments: what it is given, the same in each.
    """
    if count == 1:
        work(*arguments)
        return
    multiprocessing.spawn(_joined, args=(count, work, arguments), nprocs=count)


def _joined(number: int, count: int, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", PORT)
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", rank=number, world_size=count)
    try:
        work(*arguments)
    finally:
        distributed.destroy_process_group()
