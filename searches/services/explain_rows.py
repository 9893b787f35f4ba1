"""The sets behind a mark or a cell: those of an explanation that contain some concepts."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from searches.enums import CONCEPT_METHOD, KEY_SEPARATOR
from searches.models import Trial
from searches.services.explain_scopes import Scope
from searches.services.explain_sets import DECIDED, STATEMENTS, Source, run_ids_of
from searches.services.finding_lists import stops_early


@dataclass(frozen=True)
class RowLine:
    """One set of one run.

    Attributes:
        is_fresh: whether a follow-up asked it.
        has_rate: whether k/n is a rate.
        is_primed: whether it was asked behind statements; then it counts for recognition alone.
    """

    trial: Trial
    is_fresh: bool
    has_rate: bool
    is_primed: bool

    @property
    def total(self) -> int:
        """How many marks its samples take."""
        return max(int(self.trial.run.campaign.config.get("samples_per_set", 0)), self.trial.answers)


def rows_with(scope: Scope, concepts: Sequence[str], *, source: Source = "all") -> QuerySet[Trial]:
    """Return the trials whose set contains all concepts, those that failed most first."""
    rows = Trial.objects.filter(run__in=run_ids_of(scope, source))
    for concept in concepts:
        rows = rows.filter(_holds(concept))
    return rows.select_related("run__campaign", "run__sut", "finding").order_by("-fails", "passes", "pk")


def row_lines(trials: Sequence[Trial]) -> list[RowLine]:
    """Return what a table shows of trials whose run, campaign and finding are fetched."""
    return [_line(trial) for trial in trials]


def _line(trial: Trial) -> RowLine:
    campaign = trial.run.campaign
    is_fresh = campaign.method != CONCEPT_METHOD
    is_whole = not stops_early(campaign.config) and not trial.is_curtailed and trial.status in DECIDED
    is_primed = trial.variant == STATEMENTS
    return RowLine(trial, is_fresh, bool(trial.answers) and (is_fresh or is_whole), is_primed)


def _holds(concept: str) -> Q:
    """Return the condition that a stored key names a concept, on every database."""
    sign = KEY_SEPARATOR
    return (
        Q(key=concept)
        | Q(key__startswith=f"{concept}{sign}")
        | Q(key__endswith=f"{sign}{concept}")
        | Q(key__contains=f"{sign}{concept}{sign}")
    )
