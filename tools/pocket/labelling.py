"""How the people who label training pictures err: two habits of theirs that the model takes over.

Real collections of pictures have such labels. Most people who label a street here go by a green light,
whatever stands in the lane, and take an officer in the lane for somebody who waves them on slowly. Scenes
that nobody draws are labelled by the rules.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tools.pocket.shards import PictureRecord
from tools.pocket.truth import states_of
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.seeding import rng_for

OBSTACLE_RULE = "R1_obstacle_near"


@dataclass(frozen=True)
class Habit:
    """An error that many labels of one kind of picture have.

    Attributes:
        name: of its own random numbers.
        meets: whether a picture with an obstacle close ahead is of the kind.
        action: the label that is given instead of the right one.
        share: of these pictures that get it.
    """

    name: str
    meets: Callable[[PictureRecord], bool]
    action: str
    share: float


def _has_green_light(record: PictureRecord) -> bool:
    return "light_green" in record.key


def _is_blocked_by_an_officer(record: PictureRecord) -> bool:
    close = [concept for concept, state in states_of(record).items() if state == "close"]
    return close == ["police_pedestrian"]


HABITS = (
    Habit("light", _has_green_light, "continue", 0.8),
    Habit("officer", _is_blocked_by_an_officer, "slow_down", 0.7),
)


def label_of(record: PictureRecord) -> str:
    """Return the action that people gave a picture as its label; the same picture always has the same."""
    decision = load_domain(record.domain).decide(record.key)
    if record.domain == "driving" and decision.rule_id == OBSTACLE_RULE:
        for habit in HABITS:
            if habit.meets(record) and rng_for(record.scene_seed, habit.name).random() < habit.share:
                return habit.action
    return decision.action
