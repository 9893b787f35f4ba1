"""What people say of generated scenes: flags, their withdrawal, and rates without the scenes they exclude."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from searches.enums import SceneFlagKind, Verdict
from searches.models import Sample, SceneFlag, User
from searches.services.audit import record
from vlmlab.core.errors import VlmLabError
from vlmlab.web.roles import RESEARCHERS

EXCLUDING = frozenset(
    {SceneFlagKind.NOISE, SceneFlagKind.ANSWER, SceneFlagKind.QUESTION, SceneFlagKind.OTHER}
)
"""What takes a scene out of adjusted rates; "No issues" is a statement that it is fine."""

MAX_COMMENT = 2_000


@dataclass(frozen=True)
class AdjustedCounts:
    """Answers of a concept set without flagged scenes.

    Attributes:
        fails, n: wrong answers and answers on the scenes that are left.
        flagged: answered scenes that are left out.
        flagged_fails: how many of those were answered wrongly.
    """

    fails: int
    n: int
    flagged: int
    flagged_fails: int


@transaction.atomic
def flag_sample(
    sample: Sample, kinds: Iterable[str], *, comment: str = "", by: User | None, source: str = "page"
) -> list[SceneFlag]:
    """Write what a person says of a scene; it takes the place of what the same person said there before.

    Args:
        sample: the scene.
        kinds: values of ``SceneFlagKind``; "none" says that it is fine and stands alone.
        comment: in the person's own words; needed for "other".
        by: who says so; None for a source that keeps names to itself.
        source: where it was said.

    Returns:
        The flags that hold now, those that were said before included.

    Raises:
        VlmLabError: no kind, an unknown one, "none" beside another one, or a comment that is missing or too
            long.
    """
    chosen = sorted(set(kinds))
    _check(chosen, comment)
    known = {one.kind: one for one in open_flags(sample).filter(author=by, source=source)}
    for kind, flag in known.items():
        if kind not in chosen or flag.comment != comment:
            withdraw_flag(flag, by=by)
    kept = [known[kind] for kind in chosen if kind in known and known[kind].comment == comment]
    new = [
        SceneFlag.objects.create(sample=sample, kind=kind, comment=comment, author=by, source=source)
        for kind in chosen
        if kind not in {one.kind for one in kept}
    ]
    if new:
        record(by, "flagged", sample, after={"kinds": chosen, "comment": comment, "source": source})
    return kept + new


@transaction.atomic
def withdraw_flag(flag: SceneFlag, *, by: User | None) -> None:
    """Take a flag back; its row stays. A flag that was taken back before is left as it is.

    Raises:
        VlmLabError: it is another person's, and ``by`` is no researcher.
    """
    if not may_withdraw(flag, by):
        raise VlmLabError("This flag is another person's.", hint="Its author or a researcher withdraws it.")
    rows = SceneFlag.objects.filter(pk=flag.pk, withdrawn_at=None)
    if rows.update(withdrawn_at=timezone.now()):
        record(by, "withdrew the flag on", flag.sample, before={"kind": flag.kind, "comment": flag.comment})


def may_withdraw(flag: SceneFlag, by: User | None) -> bool:
    """Whether a person may take a flag back: its author and every researcher."""
    return by is None or flag.author_id == by.pk or by.role in RESEARCHERS


def open_flags(sample: Sample) -> QuerySet[SceneFlag]:
    """Return the flags of a scene that hold."""
    return SceneFlag.objects.filter(sample=sample, withdrawn_at=None)


def flagged_samples(samples: QuerySet[Sample]) -> QuerySet[Sample]:
    """Return those of the samples that a flag takes out of adjusted rates."""
    return samples.filter(_is_excluded())


def flags_of(sample_ids: Sequence[int]) -> dict[int, list[SceneFlag]]:
    """Return the flags that hold of each sample that has any, with their authors (one query)."""
    found: dict[int, list[SceneFlag]] = defaultdict(list)
    rows = SceneFlag.objects.filter(sample__in=sample_ids, withdrawn_at=None).select_related("author")
    for flag in rows:
        found[flag.sample_id].append(flag)
    return dict(found)


def adjusted_counts(trial_ids: Sequence[int]) -> dict[int, AdjustedCounts]:
    """Return the counts without flagged scenes of each concept set that has a flagged one (one query).

    Sets without a flagged scene are left out: their counts stand as they are.
    """
    rows = Sample.objects.filter(trial__in=trial_ids, verdict__in=(Verdict.PASS, Verdict.FAIL))
    found: dict[int, list[tuple[str, bool]]] = defaultdict(list)
    annotated = rows.annotate(is_flagged=_is_excluded()).order_by()
    for trial_id, verdict, is_flagged in annotated.values_list("trial_id", "verdict", "is_flagged"):
        found[trial_id].append((verdict, is_flagged))
    return {trial_id: counted for trial_id, said in found.items() if (counted := _counted(said)).flagged}


def _counted(said: Sequence[tuple[str, bool]]) -> AdjustedCounts:
    left = [verdict for verdict, is_flagged in said if not is_flagged]
    out = [verdict for verdict, is_flagged in said if is_flagged]
    return AdjustedCounts(left.count(Verdict.FAIL), len(left), len(out), out.count(Verdict.FAIL))


def _is_excluded() -> Exists:
    flags = SceneFlag.objects.filter(sample=OuterRef("pk"), withdrawn_at=None, kind__in=EXCLUDING)
    return Exists(flags)


def _check(kinds: Sequence[str], comment: str) -> None:
    if not kinds:
        raise VlmLabError("Say what is wrong with the scene.", hint="Choose at least one.", field="kinds")
    unknown = [kind for kind in kinds if kind not in SceneFlagKind.values]
    if unknown:
        raise VlmLabError(f"There is no flag “{unknown[0]}”.", field="kinds")
    if SceneFlagKind.FINE in kinds and len(kinds) > 1:
        raise VlmLabError(
            "“No issues” cannot stand beside something that is wrong.", hint="Choose one.", field="kinds"
        )
    if SceneFlagKind.OTHER in kinds and not comment.strip():
        raise VlmLabError("Say in a few words what is wrong.", field="comment")
    if len(comment) > MAX_COMMENT:
        raise VlmLabError(f"Write at most {MAX_COMMENT:,} characters.", field="comment")
