"""How many paired scenes a regression needs, and what a number of scenes can show at all."""

from collections.abc import Callable
from dataclasses import dataclass

from vlmlab.core.checks import check_count, check_probabilities, check_share
from vlmlab.core.stats import mcnemar_power, pass_power

MOST_PAIRS = 5_000
_STEPS = 12  # halvings when a rate is looked for: to 1 in 4,000


@dataclass(frozen=True)
class PairsPlan:
    """How many scenes a mode needs.

    Attributes:
        pairs: scenes that both systems are asked; None where more than 5,000 would be needed.
        power: chance that the verdict wished for comes with them, if the rates are the assumed ones.
    """

    pairs: int | None
    power: float


@dataclass(frozen=True)
class Discordance:
    """True shares of scenes on which only the older system fails, and only the newer one."""

    old_only: float
    new_only: float


def independent_discordance(old_rate: float, new_rate: float) -> Discordance:
    """Return the discordance of systems whose answers to the same scene are independent.

    Answers to the same scene mostly agree more than that, so this asks for rather too many scenes.

    Raises:
        ValueError: a rate is outside [0, 1].
    """
    check_probabilities("rates", [old_rate, new_rate])
    return Discordance(old_rate * (1.0 - new_rate), new_rate * (1.0 - old_rate))


def plan_pass(differing: float, *, margin: float = 0.1, level: float = 0.05, power: float = 0.8) -> PairsPlan:
    """Return the fewest scenes with which a mode that has not changed likely passes.

    Args:
        differing: true share of scenes answered differently, half of them each way.
        margin: of non-inferiority.
        level: one-sided.
        power: wished chance, for one mode.

    Raises:
        ValueError: a setting is out of range.
    """
    check_probabilities("differing", [differing])
    check_share("power", power)
    return _fewest(
        lambda n: pass_power(
            n, first_only=differing / 2, second_only=differing / 2, margin=margin, level=level
        ),
        start=1,
        power=power,
    )


def fewest_pairs(level: float = 0.05, *, modes: int = 1) -> int:
    """Return how many pairs a significant change needs at the very least: all differing the same way.

    The two-sided p-value of n such pairs is ``2 / 2^n``: five pairs cannot go below 0.0625, six reach 0.031.

    Raises:
        ValueError: a setting is out of range.
    """
    each = check_share("level", level) / check_count("modes", modes, low=1)
    pairs = 1
    while 2.0 / 2.0**pairs > each:
        pairs += 1
    return pairs


def detectable_rate(
    pairs: int, old_rate: float, *, modes: int = 1, level: float = 0.05, power: float = 0.8
) -> float | None:
    """Return the highest newer failure rate that n scenes would likely show to be lower; None for none.

    Args:
        pairs: scenes a mode.
        old_rate: true failure rate of the older system.
        modes: modes in the family.
        level: of the family.
        power: wished chance, for one mode.

    Raises:
        ValueError: a setting is out of range.
    """
    each = check_share("level", level) / check_count("modes", modes, low=1)

    def is_seen(new_rate: float) -> bool:
        differ = independent_discordance(old_rate, new_rate)
        chance = mcnemar_power(pairs, first_only=differ.old_only, second_only=differ.new_only, level=each)
        return chance >= power

    if not is_seen(0.0):
        return None
    low, high = 0.0, old_rate
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if is_seen(middle) else (low, middle)
    return low


def _fewest(chance: Callable[[int], float], *, start: int, power: float) -> PairsPlan:
    """Return the fewest pairs whose chance reaches the power.

    The chance of an exact test rises in saw teeth, so a slightly smaller number may do as well now and then.
    """
    high = max(1, start)
    while chance(high) < power:
        if high >= MOST_PAIRS:
            return PairsPlan(None, chance(MOST_PAIRS))
        high = min(MOST_PAIRS, 2 * high)
    low = max(1, start) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(middle) >= power else (middle, high)
    return PairsPlan(high, chance(high))
