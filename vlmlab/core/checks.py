"""Checks of numbers and arrays where they enter the core."""

import numpy as np
import numpy.typing as npt


def check_count(name: str, value: int, *, low: int = 0, high: int | None = None) -> int:
    """Return a whole number in ``low..high``.

    Raises:
        TypeError: it is not a whole number.
        ValueError: it is outside the range.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < low or (high is not None and value > high):
        limit = f"at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{name} must be {limit}, got {value}")
    return int(value)


def check_share(name: str, value: float) -> float:
    """Return a number strictly between 0 and 1.

    Raises:
        ValueError: it is not.
    """
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} must be between 0 and 1, got {value}")
    return float(value)


def check_probabilities(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return a one-dimensional float array with every value in [0, 1].

    Raises:
        ValueError: the shape or a value is wrong.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {array.shape}")
    if not bool(((array >= 0.0) & (array <= 1.0)).all()):
        raise ValueError(f"{name} must lie in [0, 1] and have no missing values")
    return array
