"""The smallest sets that still fail: greedy removal within one question, in the manner of delta debugging.

Zeller and Hildebrandt (2002) take away parts of a failing input as long as the rest still fails, until no
single part can go. Here the parts are concepts, the rests are the sets that pose the same question, and
whether a rest still fails is a matter of chance: each is judged on fresh scenes by ``StillFails``.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from vlmlab.core.revelio.racing import StoppingRule, fails_needed
from vlmlab.core.revelio.types import TrialStatus, Verdict
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.stats import lower_bound
from vlmlab.core.verdicts.drops import neighbours


@dataclass(frozen=True)
class Judgement:
    """Whether a set still fails.

    Attributes:
        fails, samples: counts it rests on; a set that was decided early has no rate.
        still_fails: what was decided; None where it could not be asked often enough.
        is_sure: the exact one-sided 95 % lower bound of its failure rate is above the threshold; otherwise
            a set that still fails does so only likely.
    """

    fails: int
    samples: int
    still_fails: bool | None
    is_sure: bool = False


class StillFails:
    """The rule by which a smaller set is judged: n scenes, ended as soon as they can only end one way.

    It still fails when at least ``ceil(n * threshold)`` of n scenes fail; a judgement that further scenes
    cannot change ends the asking. The error is the binomial tail: with n = 20 and a threshold of 0.6 a set
    with a true rate of 0.4 is taken for failing with a chance of 5.7 %, one with 0.8 is missed with 1.0 %.
    What is found is a suspect and is confirmed on further scenes.

    Args:
        n: scenes.
        threshold: failure rate from which a set fails.
    """

    def __init__(self, n: int, threshold: float) -> None:
        self._rule = StoppingRule(n, fails_needed(n, threshold), curtail=True)
        self._threshold = threshold
        self.fails = 0
        self.passes = 0

    def take(self, verdict: Verdict) -> None:
        """Count a scene; one without an answer counts for nothing."""
        self.fails += verdict is Verdict.FAIL
        self.passes += verdict is Verdict.PASS

    @property
    def room(self) -> int:
        """How many scenes may be asked at once without one too many; 0 once decided."""
        return self._rule.certain_samples(self.fails, self.passes)

    @property
    def judgement(self) -> Judgement:
        """What is known so far."""
        status = self._rule.decide(self.fails, self.passes)
        still_fails = status is TrialStatus.DECIDED_FAIL if status.is_decided else None
        return judgement_of(
            self.fails, self.fails + self.passes, still_fails=still_fails, threshold=self._threshold
        )


def judgement_of(fails: int, samples: int, *, still_fails: bool | None, threshold: float) -> Judgement:
    """Return a judgement, with whether the counts alone are proof (exact one-sided bound, 95 %)."""
    is_sure = bool(still_fails) and samples > 0 and lower_bound(fails, samples) > threshold
    return Judgement(fails, samples, still_fails, is_sure)


def smallest_failing(
    key: Key, smaller: Sequence[Key], known: Mapping[Key, Judgement]
) -> Generator[Key, Judgement, list[Key]]:
    """Walk down from a failing set; yields each set to be judged, is sent its judgement, returns the ends.

    From the failing set at hand it goes on to the failing neighbour (``neighbours``) with the highest rate,
    the first of several, until no neighbour fails. Then it starts again from any set known to fail that
    contains none of the ends so far. Each set is judged once. An end has no neighbour that still fails, as
    ddmin's result is 1-minimal: smaller ones below passing neighbours were not tried.

    Args:
        key: the set that fails.
        smaller: the comparable sets inside it.
        known: judgements from before.
    """
    seen = dict(known)
    failing = [key, *(one for one in seen if seen[one].still_fails and one != key)]
    ends: list[Key] = []
    while failing:
        at = failing.pop(0)
        if any(set(end) <= set(at) for end in ends):
            continue
        while True:
            nearest = neighbours(at, smaller)
            for one in nearest:
                if one not in seen:
                    seen[one] = yield one
            still = [one for one in nearest if seen[one].still_fails]
            failing += [one for one in still if one not in failing]
            if not still:
                break
            at = max(still, key=lambda one: (seen[one].fails / seen[one].samples, -nearest.index(one)))
        ends.append(at)
    return [end for end in ends if end != key and not any(set(other) < set(end) for other in ends)]
