"""Choosing some of many without bias: shuffles, stratified draws, and ties broken by a seed."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import numpy as np

from vlmlab.core.checks import check_count

ItemT = TypeVar("ItemT")
GroupT = TypeVar("GroupT", bound=Hashable)


def shuffled(items: Sequence[ItemT], rng: np.random.Generator) -> list[ItemT]:
    """Return the items in random order."""
    return [items[int(index)] for index in rng.permutation(len(items))]


def top(
    items: Sequence[ItemT], count: int, *, score: Callable[[ItemT], float], rng: np.random.Generator
) -> list[ItemT]:
    """Return the ``count`` items with the largest score, best first, ties at random.

    Raises:
        ValueError: ``count`` is negative.
    """
    check_count("count", count)
    return sorted(shuffled(items, rng), key=score, reverse=True)[:count]


def stratified(
    items: Sequence[ItemT], count: int, *, group: Callable[[ItemT], GroupT], rng: np.random.Generator
) -> list[ItemT]:
    """Return ``count`` items, spread over the groups as evenly as their sizes allow.

    Groups take turns in a random order until enough are chosen; within a group the choice is random.

    Raises:
        ValueError: ``count`` is negative.
    """
    check_count("count", count)
    groups: dict[GroupT, list[ItemT]] = {}
    for item in shuffled(items, rng):
        groups.setdefault(group(item), []).append(item)
    queues = list(groups.values())
    chosen: list[ItemT] = []
    while queues and len(chosen) < count:
        for queue in queues:
            if len(chosen) < count:
                chosen.append(queue.pop())
        queues = [queue for queue in queues if queue]
    return chosen
