"""Several processes that train one model: each has its own batches, all use the mean of their gradients.

On CPUs this beats one process with more threads: the kernels of so small a model keep few threads busy.
"""

import signal
import socket
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import distributed, multiprocessing

ADDRESS = "127.0.0.1"


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
    multiprocessing.spawn(_joined, args=(count, free_port(), work, arguments), nprocs=count)


def free_port() -> int:
    """Return a port of this machine on which nothing listens, so that trainings side by side do not meet."""
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


def _joined(number: int, count: int, port: int, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    # torch interrupts the workers of a parent that ended; started in the background they would not mind
    signal.signal(signal.SIGINT, signal.default_int_handler)
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"tcp://{ADDRESS}:{port}", rank=number, world_size=count
    )
    try:
        work(*arguments)
    finally:
        distributed.destroy_process_group()
