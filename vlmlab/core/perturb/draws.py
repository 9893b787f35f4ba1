"""What operators draw: seeded by run seed, seed image and operator, never by evaluation (MoST).

So a strategy always gives the same input, and regimes and systems meet the same draws.
"""

import numpy as np

from vlmlab.core.seeding import derive_seed, rng_for

_PURPOSE = "perturb"


def operator_seed(run_seed: int, *, image_id: str, operator: str) -> int:
    """Return the seed of an operator's generator.

    Args:
        run_seed: the number all randomness of a run comes from.
        image_id: SHA-256 of the seed image.
        operator: name of the operator.
    """
    return derive_seed(run_seed, _PURPOSE, image_id, operator)


def operator_generator(run_seed: int, *, image_id: str, operator: str) -> np.random.Generator:
    """Return a fresh generator with the seed of ``operator_seed``, always in the same state."""
    return rng_for(run_seed, _PURPOSE, image_id, operator)
