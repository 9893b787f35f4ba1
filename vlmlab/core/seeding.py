"""One run seed becomes an independent generator for each purpose."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Choice = TypeVar("Choice")


def derive_seed(run_seed: int, *purpose: str | int) -> int:
    """Return a seed in [0, 2**63) that depends on the run seed and a purpose.

    Args:
        run_seed: the number all randomness of a run comes from.
        purpose: words and numbers that name the use, such as ``"layout", 3``.

    Returns:
        The first 63 bits of SHA-256 over the parts; stable across processes and versions.
    """
    text = "\x1f".join([str(run_seed), *(f"{type(part).__name__}:{part}" for part in purpose)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def rng_for(run_seed: int, *purpose: str | int) -> np.random.Generator:
    """Return a fresh generator for one purpose of a run (same arguments, same numbers)."""
    return np.random.Generator(np.random.PCG64(derive_seed(run_seed, *purpose)))


def pick(rng: np.random.Generator, choices: Sequence[Choice]) -> Choice:
    """Return one of at least one choices, each as likely as any other."""
    return choices[int(rng.integers(len(choices)))]
