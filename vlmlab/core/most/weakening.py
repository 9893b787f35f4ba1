"""Weaker strategies that still fail: plans that name what to ask next and read what is known."""

from collections.abc import Callable, Generator, Sequence
from functools import partial

from vlmlab.core.most.types import Strategy

Plan = Generator[Strategy, None, Strategy]
"""Yields a strategy whose outcome must be known before it goes on; returns the weakest that fails."""

Fails = Callable[[Strategy], bool]


class RunningPlan:
    """A plan under way.

    Args:
        plan: not started yet.
        is_known: whether a strategy needs no asking.
    """

    def __init__(self, plan: Plan, *, is_known: Callable[[Strategy], bool]) -> None:
        self._plan = plan
        self._is_known = is_known
        self._wanted: Strategy | None = None
        self._result: Strategy | None = None

    @property
    def result(self) -> Strategy | None:
        """The weakest strategy that fails, once the plan is over."""
        return self._result

    def wanted(self) -> Strategy | None:
        """Return the strategy that must be known before the plan goes on; None when it is over."""
        while self._result is None and (self._wanted is None or self._is_known(self._wanted)):
            try:
                self._wanted = next(self._plan)
            except StopIteration as stop:
                self._wanted, self._result = None, stop.value
        return self._wanted


def along_ray(weaken: Callable[[float], Strategy], *, whole: Strategy, fails: Fails, steps: int) -> Plan:
    """Halve the bracket between no perturbation and all of it.

    Args:
        weaken: maps a share below 1 to a strategy.
        whole: all of it; it fails.
        fails: whether a strategy that is known fails.
        steps: strategies looked at; the result is within ``2 ** -steps`` of the ray's weakest failure
            where failing is monotone, and fails in any case.

    Yields:
        What to ask next.

    Returns:
        The weakest strategy that was seen to fail.
    """
    low, high, weakest = 0.0, 1.0, whole
    for _ in range(steps):
        middle = (low + high) / 2.0
        weaker = weaken(middle)
        yield weaker
        if fails(weaker):
            high, weakest = middle, weaker
        else:
            low = middle
    return weakest


def only(strategy: Strategy, kept: Sequence[int]) -> Strategy:
    """Return a strategy without the operators that are not kept."""
    return tuple(severity if index in kept else 0.0 for index, severity in enumerate(strategy))


def fewest_operators(
    strategy: Strategy, *, fails: Fails, reduced: Callable[[Strategy, Sequence[int]], Strategy] = only
) -> Plan:
    """Take operators away while the rest still fails: halves first, then ever smaller groups.

    The result is minimal: it fails, and without any one of its operators it does not. This is the
    delta debugging of Zeller and Hildebrandt (2002) with complements only.

    Args:
        strategy: it fails.
        fails: whether a strategy that is known fails.
        reduced: makes a strategy of the one given and the operators that are kept.

    Yields:
        What to ask next.

    Returns:
        A strategy that fails, with as few operators as were needed.
    """
    kept = [index for index, severity in enumerate(strategy) if severity > 0.0]
    kept.sort(key=lambda index: (strategy[index], index))  # the weakest first: most likely not needed
    fewest, groups = strategy, 2
    while len(kept) > 1:
        size = -(-len(kept) // groups)
        for start in range(0, len(kept), size):
            rest = kept[:start] + kept[start + size :]
            fewer = reduced(strategy, rest)
            yield fewer
            if fails(fewer):
                fewest, kept, groups = fewer, rest, max(2, groups - 1)
                break
        else:
            if size == 1:
                break
            groups = min(len(kept), 2 * groups)
    return fewest


def lowest_severities(
    strategy: Strategy, *, lowered: Callable[[Strategy, int, float], Strategy], fails: Fails, steps: int
) -> Plan:
    """Lower the severities one after the other, the strongest first, each as far as the whole still fails.

    Args:
        strategy: it fails.
        lowered: returns a strategy with the severity at an index times a share.
        fails: whether a strategy that is known fails.
        steps: strategies looked at for each operator.

    Yields:
        What to ask next.

    Returns:
        The weakest strategy that was seen to fail.
    """
    for index in sorted(range(len(strategy)), key=lambda index: (-strategy[index], index)):
        if strategy[index] > 0.0:
            weaken = partial(lowered, strategy, index)
            strategy = yield from along_ray(weaken, whole=strategy, fails=fails, steps=steps)
    return strategy
