"""Several processes train one model: the gradients of all are their mean, one process changes nothing."""

import json
import signal
import socket

import pytest
import torch

from tests.tools.pocket_parts import shared_gradient
from tools.pocket import workers


def test_alone_a_process_has_number_0_and_keeps_its_gradients():
    one = torch.nn.Parameter(torch.zeros(2))
    one.grad = torch.tensor([1.0, 3.0])

    workers.share_gradients([one])

    assert workers.rank() == 0
    assert one.grad.tolist() == [1.0, 3.0]


def test_one_worker_works_here():
    done = []

    workers.run(1, done.append, "here")

    assert done == ["here"]


def test_several_workers_are_told_a_port_on_which_nothing_listens(monkeypatch):
    told = []
    monkeypatch.setattr(workers.multiprocessing, "spawn", lambda _work, *, args, nprocs: told.append(args))

    with socket.socket() as busy:
        busy.bind((workers.ADDRESS, 0))
        for _ in range(2):
            workers.run(2, print, "here")
        busy_port = busy.getsockname()[1]

    ports = [port for _, port, *_ in told]
    assert told == [(2, port, print, ("here",)) for port in ports]
    assert busy_port not in ports
    for port in ports:
        with socket.socket() as probe:
            probe.bind((workers.ADDRESS, port))


@pytest.fixture
def in_the_background():
    """Ignore interrupts as a process does that a shell started in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("in_the_background")
def test_two_processes_go_on_with_the_mean_of_their_gradients(tmp_path):
    workers.run(2, shared_gradient, str(tmp_path))

    found = [json.loads((tmp_path / f"{number}.json").read_text()) for number in range(2)]
    # process 0 has (1, 1) and none, process 1 has (2, 2) and (4,): means (1.5, 1.5) and (2,)
    expected = {"first": [1.5, 1.5], "second": [2.0], "fixed": None, "minds_interrupts": True}
    assert found == [expected, expected]
