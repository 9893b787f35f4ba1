"""Do two concepts fail together more than each alone: the published lift, and where no effect puts it.

The paper's base is ``F(a) + F(b) - F(a) F(b)``, the rate of two independent causes of which each alone
suffices (its Table 15: 24.4 % and 18.6 % give 38.5 %). Where two concepts have no effect whatever, all
three rates are the overall rate f and the lift is ``f - (2f - f^2) = f^2 - f``: -0.16 at f = 0.2. A lift
below zero is therefore no sign of interference; it is compared with that line.
"""

from vlmlab.core.checks import check_probabilities


def published_base(first_rate: float, second_rate: float) -> float:
    """Return ``F(a) + F(b) - F(a) F(b)``, in [0, 1].

    Raises:
        ValueError: a rate is outside [0, 1].
    """
    check_probabilities("rates", [first_rate, second_rate])
    return first_rate + second_rate - first_rate * second_rate


def published_lift(pair_rate: float, first_rate: float, second_rate: float) -> float:
    """Return the lift of a pair as the paper defines it, in [-1, 1].

    Args:
        pair_rate: mean failure rate of the sets that hold both concepts.
        first_rate: of all sets that hold the first, with or without the second.
        second_rate: of all sets that hold the second.

    Raises:
        ValueError: a rate is outside [0, 1].
    """
    check_probabilities("rates", [pair_rate])
    return pair_rate - published_base(first_rate, second_rate)


def no_effect_lift(rate: float) -> float:
    """Return the published lift of two concepts without any effect: ``f^2 - f``, in [-0.25, 0].

    Args:
        rate: mean failure rate of all evaluated sets.

    Raises:
        ValueError: the rate is outside [0, 1].
    """
    check_probabilities("rate", [rate])
    return rate * rate - rate
