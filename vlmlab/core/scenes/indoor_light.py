"""The light of a kitchen: its lamps, the window, and what a flame adds."""

from collections.abc import Collection

from vlmlab.core.scenes.kitchen_frame import COUNTER_DEPTH, COUNTER_HEIGHT, STOVE_X
from vlmlab.core.scenes.scene import Parameter
from vlmlab.core.seeding import rng_for

AMBIENT = (0.42, 0.42, 0.43)
EXPOSURE = 0.72
WARM = (2.1, 2.0, 1.85)
CEILING_LAMPS = ((-0.9, -1.3, 2.45), (0.9, -1.5, 2.45))
FILL = (-2.3, -2.6, 1.8, 1.3, 1.4, 1.6, 0.5)  # daylight from the open side of the room
FLAMES = {
    "stove_on": (STOVE_X - 0.14, -0.32, COUNTER_HEIGHT + 0.12, 0.02, 0.05, 0.14, 0.05),
    "towel_burning": (STOVE_X, -COUNTER_DEPTH - 0.12, COUNTER_HEIGHT + 0.05, 0.5, 0.2, 0.04, 0.12),
}


def kitchen_light(kinds: Collection[str], *, seed: int) -> dict[str, Parameter | tuple[float, ...]]:
    """Return the environment: how bright the room is follows from the seed, its flames from the set.

    ``lamps`` holds seven numbers a lamp: x, y, z, red, green, blue, radius.
    """
    power = float(rng_for(seed, "light").uniform(0.85, 1.1))
    lamps: list[float] = []
    for x, y, z in CEILING_LAMPS:
        lamps += [x, y, z, *(round(power * one, 4) for one in WARM), 0.35]
    lamps += FILL
    for kind in sorted(FLAMES):
        if kind in kinds:
            lamps += FLAMES[kind]
    return {"indoor": True, "ambient": AMBIENT, "exposure": EXPOSURE, "lamps": tuple(lamps)}
