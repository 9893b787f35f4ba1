"""The concept sets of an explanation that have a rate, those that were only shown, and who failed them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.db.models import Q, QuerySet

from searches.enums import KEY_SEPARATOR, FindingState, TrialStatus, Verdict
from searches.models import Finding, Sample, SearchRun, Trial
from searches.services.explain_scopes import Scope
from searches.services.finding_lists import stops_early
from searches.services.scene_flags import flagged_samples
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.verdicts.concept_rates import MeasuredSet

Source = Literal["all", "search", "fresh"]
DECIDED = (TrialStatus.DECIDED_FAIL, TrialStatus.DECIDED_PASS)
ANSWERED = (Verdict.PASS, Verdict.FAIL)
STATEMENTS = "statements"  # the variant of a trial that stands behind true and false statements


@dataclass(frozen=True)
class Counted:
    """Answers of one set in one run, without flagged scenes."""

    key: Key
    run_id: int
    fails: int
    passes: int
    invalid: int
    expected_action: str

    @property
    def samples(self) -> int:
        """Answers."""
        return self.fails + self.passes


@dataclass(frozen=True)
class Modes:
    """Failure modes of an explanation as sets."""

    suspected: tuple[Key, ...]
    confirmed: tuple[Key, ...]


def rated_trials(runs: Sequence[SearchRun], follow_ups: Sequence[SearchRun]) -> QuerySet[Trial]:
    """Return the trials whose k/n is a rate.

    Those of searches that take all samples of every set, decided; and the fresh ones of follow-ups, asked
    without statements. Sets of a search that stops sets early are never among them.
    """
    whole = [run.pk for run in runs if not stops_early(run.campaign.config)]
    searched = Q(run__in=whole, status__in=DECIDED, is_curtailed=False)
    fresh = Q(run__in=[run.pk for run in follow_ups]) & ~Q(variant=STATEMENTS)
    return Trial.objects.filter(searched | fresh)


def measured_sets(scope: Scope, source: Source = "all") -> list[MeasuredSet]:
    """Return the sets of an explanation that have a rate (two queries).

    A set that was asked on fresh scenes has only these: the counts that it was found with are biased
    upwards. Scenes that people flagged are left out.
    """
    searches = scope.searches if source != "fresh" else ()
    follow_ups = scope.follow_ups if source != "search" else ()
    fresh_runs = {run.pk for run in follow_ups}
    return merged(counted(rated_trials(searches, follow_ups)), fresh_runs=fresh_runs)


def counted(trials: QuerySet[Trial]) -> list[Counted]:
    """Return the answers of trials without flagged scenes (two queries)."""
    rows = list(
        trials.order_by("pk").values_list(
            "pk", "key", "run_id", "fails", "passes", "invalid", "expected_action"
        )
    )
    flagged = _flagged({row[2] for row in rows})
    found = []
    for pk, key, run_id, fails, passes, invalid, action in rows:
        out = flagged.get(pk, Counter())
        found.append(
            Counted(
                tuple(key.split(KEY_SEPARATOR)),
                run_id,
                max(0, fails - out[Verdict.FAIL]),
                max(0, passes - out[Verdict.PASS]),
                max(0, invalid - out["invalid"]),
                action,
            )
        )
    return found


def merged(rows: Iterable[Counted], *, fresh_runs: Iterable[int]) -> list[MeasuredSet]:
    """Return one set for each key, its fresh answers where it has any, in the order of keys."""
    fresh_ids = frozenset(fresh_runs)
    by_key: dict[Key, dict[bool, list[Counted]]] = defaultdict(lambda: {True: [], False: []})
    for row in rows:
        if row.samples:
            by_key[row.key][row.run_id in fresh_ids].append(row)
    found = []
    for key in sorted(by_key):
        is_fresh = bool(by_key[key][True])
        own = by_key[key][is_fresh]
        found.append(
            MeasuredSet(
                key,
                sum(one.fails for one in own),
                sum(one.samples for one in own),
                sum(one.invalid for one in own),
                own[0].expected_action,
                is_fresh,
            )
        )
    return found


def shown_sets(scope: Scope, source: Source = "all") -> list[Counted]:
    """Return every set with an answer, however often it was asked, one entry a run (two queries)."""
    rows = Trial.objects.filter(run__in=run_ids_of(scope, source)).exclude(variant=STATEMENTS)
    return [one for one in counted(rows) if one.samples]


def run_ids_of(scope: Scope, source: Source) -> list[int]:
    """Return the runs whose answers are counted."""
    rows = {"search": scope.searches, "fresh": scope.follow_ups}.get(source, scope.runs)
    return [run.pk for run in rows]


def failure_modes(scope: Scope) -> Modes:
    """Return the sets of findings that hold or are suspected (one query)."""
    rows = Finding.objects.filter(run__in=[run.pk for run in scope.runs]).order_by("pk")
    by_state: dict[str, list[Key]] = defaultdict(list)
    for key, state in rows.values_list("key", "state"):
        by_state[state].append(tuple(key.split(KEY_SEPARATOR)))
    return Modes(tuple(by_state[FindingState.SUSPECTED]), tuple(by_state[FindingState.CONFIRMED]))


def _flagged(run_ids: Iterable[int]) -> Mapping[int, Counter[str]]:
    """Return, for each trial with flagged scenes, how many of its answers they take."""
    rows = flagged_samples(Sample.objects.filter(run__in=sorted(run_ids), verdict__in=ANSWERED))
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for trial_id, verdict, status in rows.values_list("trial_id", "verdict", "answer_status"):
        found[trial_id][verdict] += 1
        if verdict == Verdict.FAIL and status != "answered":
            found[trial_id]["invalid"] += 1
    return found
