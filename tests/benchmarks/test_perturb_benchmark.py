"""The benchmark of operators finds levels that it was given, and counts ratios and rows as it says."""

import ast

import pytest

from benchmarks import perturb
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS

LEVELS = (0.15, 0.3, 0.3, 0.62, 0.8)


class OwnPeer:
    """Changes pictures as our operators do at known severities, and takes a second."""

    def __init__(self, pictures):
        self.pictures = pictures

    def call(self, name, level, *, number, seed):
        picture = self.pictures[number]
        return 1.0, perturb.own_call(name, LEVELS[level - 1], picture=picture, seed=seed)[1]


@pytest.fixture(scope="module")
def pictures():
    return [picture[::4, ::4].copy() for picture in perturb.read_pictures(2)]


def test_level_rows_are_where_the_peer_changes_as_much(pictures, monkeypatch):
    monkeypatch.setattr(perturb, "SHARED", ("contrast", "gaussian_noise"))

    lines = perturb.level_rows(OwnPeer(pictures), pictures)

    table = ast.literal_eval("{" + "".join(lines) + "}")
    assert list(table) == ["contrast", "gaussian_noise"]
    assert table["contrast"] == pytest.approx(LEVELS, abs=0.003)
    assert table["gaussian_noise"] == pytest.approx(LEVELS, abs=0.003)


def test_shared_rows_divide_the_peers_time_by_ours(pictures, monkeypatch):
    monkeypatch.setattr(perturb, "SHARED", ("contrast",))
    monkeypatch.setattr(perturb, "own_call", lambda *_, **__: (0.25, 0.0))

    class Second:
        def call(self, *_, **__):
            return 1.0, 0.0

    rows, ratios = perturb.shared_rows(Second(), pictures, rounds=1)

    assert rows == ["| contrast | 250.00 | 1000.00 | 4.0 |"]
    assert ratios == [4.0]


def test_every_operator_has_a_row(pictures):
    assert [row.split()[1] for row in perturb.own_rows(pictures, rounds=1)] == list(IMAGE_OPERATORS)
    assert [row.split()[1] for row in perturb.text_rows(rounds=1)] == list(TEXT_OPERATORS)
