"""Replay brings a fresh search to the state that the stored batches gave."""

import pytest

from vlmlab.core.search import ReplayMismatchError, replay


class Counter:
    """Asks how many answers it has had; ends after five."""

    def __init__(self, start=0):
        self.told = []
        self.start = start

    def ask(self):
        return [self.start + len(self.told)] if len(self.told) < 5 else []

    def tell(self, outcomes):
        self.told.extend(outcomes)


def test_replay_tells_every_stored_outcome_in_order():
    search = Counter()

    replay(search, [([0], ["a"]), ([1], ["b"])])

    assert search.told == ["a", "b"]
    assert search.ask() == [2]


def test_replay_refuses_a_search_that_asks_something_else():
    search = Counter(start=7)

    with pytest.raises(ReplayMismatchError, match=r"batch 0: stored \[0\], asked \[7\]"):
        replay(search, [([0], ["a"])])
    assert search.told == []


def test_replay_refuses_more_batches_than_the_search_asks():
    with pytest.raises(ReplayMismatchError, match="batch 5"):
        replay(Counter(), [([n], [n]) for n in range(6)])
