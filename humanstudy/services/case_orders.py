"""The order in which a participant sees their cases, and how far they are."""

from dataclasses import dataclass

from humanstudy.enums import CHECK_ROLES, CaseRole
from humanstudy.models import Assessment, Participant, StudyCase
from vlmlab.core.studies.design import case_order


@dataclass(frozen=True)
class Progress:
    """Where a participant stands.

    Attributes:
        case_ids: in the order in which they see them.
        answered: ids of cases with an answer.
    """

    case_ids: tuple[int, ...]
    answered: frozenset[int]

    @property
    def n(self) -> int:
        """How many cases there are."""
        return len(self.case_ids)

    @property
    def n_done(self) -> int:
        """How many of them are answered."""
        return len(self.answered)

    @property
    def next_number(self) -> int | None:
        """Number, counted from 1, of the first case without an answer; None when all have one."""
        return next((number for number, one in enumerate(self.case_ids, 1) if one not in self.answered), None)

    def number_of(self, case_id: int) -> int | None:
        """Return the number of a case, counted from 1; None if it is not one of theirs."""
        return self.case_ids.index(case_id) + 1 if case_id in self.case_ids else None


def ordered_case_ids(participant: Participant) -> tuple[int, ...]:
    """Return the ids of a participant's cases in their order (one query); the same in every call."""
    rows = StudyCase.objects.filter(subset=participant.subset_id).exclude(role=CaseRole.TRAINING)
    cases: list[int] = []
    checks: list[int] = []
    for pk, role in rows.order_by("order").values_list("pk", "role"):
        (checks if role in CHECK_ROLES else cases).append(pk)
    return tuple(case_order(cases, checks, seed=participant.order_seed))


def progress_of(participant: Participant) -> Progress:
    """Return where a participant stands (two queries)."""
    answered = Assessment.objects.filter(participant=participant, is_current=True)
    return Progress(ordered_case_ids(participant), frozenset(answered.values_list("case_id", flat=True)))
