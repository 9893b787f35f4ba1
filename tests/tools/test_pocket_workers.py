"""Several processes train one model: the gradients of all are their mean, one process changes nothing."""

import json
import socket

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


def test_two_processes_go_on_with_the_mean_of_their_gradients(tmp_path, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("MASTER_PORT", str(free.getsockname()[1]))

    workers.run(2, shared_gradient, str(tmp_path))

    found = [json.loads((tmp_path / f"{number}.json").read_text()) for number in range(2)]
    # process 0 has (1, 1) and none, process 1 has (2, 2) and (4,): means (1.5, 1.5) and (2,)
    assert found == [{"first": [1.5, 1.5], "second": [2.0], "fixed": None}] * 2
