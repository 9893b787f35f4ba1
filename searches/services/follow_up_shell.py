"""Follow-ups from a shell: what is chosen by number becomes a wish, and what came of it a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from searches.enums import CASE_METHOD, CONCEPT_METHOD, FOLLOW_UP_METHOD, FindingState, RunState
from searches.models import Campaign, Finding, FollowUpItem, SearchRun
from searches.services.case_shell import confirm_cases, is_about_cases, transfer_cases, whole_number
from searches.services.domain_store import find_domain
from searches.services.follow_up_wishes import (
    ablate_wish,
    confirm_wish,
    interact_wish,
    probe_wish,
)
from searches.services.follow_ups import FollowUpWish
from searches.services.runs import RESUMABLE, resume_run
from searches.services.shell_suts import find_sut
from searches.services.shell_work import free_the_dead
from searches.services.transfer_wishes import DEFAULT_TOP, source_runs, transfer_wish
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.web.asked import LARGEST
from vlmlab.web.evidence import set_words

WIDEST = 60  # characters of a set in the table


@dataclass(frozen=True)
class ShellFollowUp:
    """What somebody at a shell wants to know.

    Attributes:
        kind: a name of ``MAKERS``.
        runs, campaigns, findings: numbers of what it is about; all of a run's or a campaign's suspects.
        cases: numbers of test cases of modality searches; a modality campaign stands for its failing ones.
        suts: short names of the systems asked, for a transfer.
        pairs: two concepts with a comma between, for a four-cell test.
        base: concepts that all four cells show, with commas.
        params: settings by name.
        accepts_changed_system: also ask a system that has changed since.
    """

    kind: str
    runs: Sequence[int] = ()
    campaigns: Sequence[int] = ()
    findings: Sequence[int] = ()
    cases: Sequence[int] = ()
    suts: Sequence[str] = ()
    pairs: Sequence[str] = ()
    base: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    accepts_changed_system: bool = False

    @property
    def common(self) -> dict[str, Any]:
        """What every kind takes."""
        return {"values": self.params, "name": self.name}


def wish_from_shell(wish: ShellFollowUp) -> FollowUpWish:
    """Return the wish to be stored.

    Raises:
        VlmLabError: something of it is unknown, missing or out of range.
    """
    maker = (CASE_MAKERS if is_about_cases(wish) else MAKERS).get(wish.kind)
    if maker is None:
        raise ConfigError(
            f"There is no follow-up “{wish.kind}”.", hint=f"Known: {', '.join(MAKERS)}.", field="kind"
        )
    return maker(wish)


def find_follow_up(number: int) -> Campaign:
    """Return a follow-up whose halted runs are queued again, if there are any.

    Raises:
        ConfigError: there is no follow-up with this number.
    """
    free_the_dead()
    known = number if 0 <= number <= LARGEST else 0
    campaign = Campaign.objects.filter(pk=known, method__in=(FOLLOW_UP_METHOD, CASE_METHOD)).first()
    if campaign is None:
        raise ConfigError(
            f"There is no follow-up {number}.", hint="Look at the list of follow-ups.", field="resume"
        )
    for run in campaign.runs.filter(state__in=RESUMABLE):
        resume_run(run, by=None)
    return campaign


def result_table(campaign: Campaign) -> list[str]:
    """Return what a follow-up knows of each item, as lines of a table."""
    rows: list[tuple[str, ...]] = [("system", "set", "state", "wrong", "of", "because")]
    items = campaign.items.select_related("run__sut").order_by("run_id", "order")
    rows += [_row(item, campaign.domain_ref) for item in items]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def result_summary(campaign: Campaign) -> dict[str, Any]:
    """Return what a follow-up knows, for programs."""
    runs = {run.pk: run for run in campaign.runs.select_related("sut").order_by("pk")}
    return {
        "follow_up": campaign.pk,
        "kind": campaign.kind,
        "follows": campaign.follows_id,
        "domain": campaign.domain,
        "domain_version": campaign.domain_version,
        "config": campaign.config,
        "runs": [
            {
                "run": run.pk,
                "sut": run.sut.slug,
                "state": run.state,
                "ending": run.ending,
                "error": run.error,
                "hint": run.hint,
                "inferences": run.n_inferences,
                "invalid": run.n_invalid,
                "call_errors": run.n_call_errors,
                "spend_usd": run.spend_usd,
                "run_seed": run.run_seed,
            }
            for run in runs.values()
        ],
        "items": [
            {
                "sut": runs[item.run_id].sut.slug,
                "concepts": item.concepts,
                "finding": item.finding_id,
                "case": item.case_id,
                "expected": item.expected_action,
                "state": item.state,
                "reason": item.reason,
                "fails": item.fails,
                "samples": item.n,
                "numbers": item.numbers,
            }
            for item in campaign.items.order_by("run_id", "order")
        ],
    }


def check_ended(campaign: Campaign) -> None:
    """Make sure that every run of a follow-up has ended by itself.

    Raises:
        VlmLabError: one has not; the message says why.
    """
    left = campaign.runs.exclude(state=RunState.SUCCEEDED).select_related("sut").order_by("pk").first()
    if left is None:
        return
    reason = f"{left.error} {left.hint}".strip() or f"It is {left.get_state_display().lower()}."
    raise VlmLabError(f"The run on {left.sut.name} has not ended. {reason}")


def item_name(item: FollowUpItem) -> str:
    """Return what an item without concepts is called: its case, or its place."""
    return f"case {item.case_id}" if item.case_id else str(item)


def _row(item: FollowUpItem, domain_ref: str) -> tuple[str, ...]:
    words = set_words(item.concepts, domain_ref) if item.concepts else item_name(item)
    shown = words if len(words) <= WIDEST else f"{words[: WIDEST - 1]}…"
    return item.run.sut.name, shown, item.state or "open", str(item.fails), str(item.n), item.reason


def _findings(wish: ShellFollowUp) -> list[Finding]:
    """Return the findings that are named, and the suspects of named runs and campaigns.

    Raises:
        VlmLabError: nothing is named, or a number is unknown.
    """
    if not (wish.findings or wish.runs or wish.campaigns):
        raise VlmLabError(
            "Say what it is about.", hint="Give --run N, --campaign N, or --finding N (more than once)."
        )
    _check_known("finding", wish.findings, Finding.objects.values_list("pk", flat=True))
    _check_runs(wish)
    _check_known("campaign", wish.campaigns, Campaign.objects.values_list("pk", flat=True))
    rows = Finding.objects.select_related("run__campaign", "sut").order_by("run_id", "-fails", "n", "pk")
    suspects = rows.filter(state=FindingState.SUSPECTED)
    found = {one.pk: one for one in rows.filter(pk__in=wish.findings)}
    found |= {one.pk: one for one in suspects.filter(run__in=wish.runs)}
    found |= {one.pk: one for one in suspects.filter(run__campaign__in=wish.campaigns)}
    return list(found.values())


def _check_known(what: str, numbers: Sequence[int], known: Any) -> None:
    held = [number for number in numbers if 0 <= number <= LARGEST]
    missing = set(numbers) - set(known.filter(pk__in=held))
    if missing:
        raise ConfigError(
            f"There is no {what} {min(missing)}.", hint=f"Look at the list of {what}s.", field=what
        )


def _confirm(wish: ShellFollowUp) -> FollowUpWish:
    return confirm_wish(_findings(wish), accepts_changed_system=wish.accepts_changed_system, **wish.common)


def _ablate(wish: ShellFollowUp) -> FollowUpWish:
    return ablate_wish(_findings(wish), accepts_changed_system=wish.accepts_changed_system, **wish.common)


def _probe(wish: ShellFollowUp) -> FollowUpWish:
    return probe_wish(_findings(wish), accepts_changed_system=wish.accepts_changed_system, **wish.common)


def _interact(wish: ShellFollowUp) -> FollowUpWish:
    run = _one_run(wish)
    domain = find_domain(run.campaign.domain_ref)
    pairs = [domain.canonical(text.split(",")) for text in wish.pairs]
    wrong = next((text for text, pair in zip(wish.pairs, pairs, strict=True) if len(pair) != 2), None)
    if wrong is not None:
        raise ConfigError(
            f"“{wrong}” is no pair.", hint="Write two concepts: --pair near,cone.", field="pair"
        )
    base = domain.canonical(wish.base.split(",")) if wish.base else None
    return interact_wish(run, [(one, other) for one, other in pairs], base=base, **wish.common)


def _transfer(wish: ShellFollowUp) -> FollowUpWish:
    _check_runs(wish)
    params = dict(wish.params)
    top, only = whole_number(params, "top", DEFAULT_TOP), params.pop("only", "")
    targets = [find_sut(slug) for slug in wish.suts]
    return transfer_wish(source_runs(wish.runs), targets, top=top, only=only, values=params, name=wish.name)


def _check_runs(wish: ShellFollowUp) -> None:
    _check_known("run", wish.runs, SearchRun.objects.values_list("pk", flat=True))


def _one_run(wish: ShellFollowUp) -> SearchRun:
    _check_runs(wish)
    runs = SearchRun.objects.filter(pk__in=wish.runs, campaign__method=CONCEPT_METHOD)
    found = list(runs.select_related("campaign", "sut"))
    if len(found) != 1:
        raise ConfigError("Give the number of one search.", hint="Such as --run 3.", field="run")
    return found[0]


MAKERS: dict[str, Callable[[ShellFollowUp], FollowUpWish]] = {
    "confirm": _confirm,
    "ablate": _ablate,
    "probe": _probe,
    "interact": _interact,
    "transfer": _transfer,
}
"""Kind -> what makes its wish; kinds that start from a family or an envelope have commands of their own."""

CASE_MAKERS: dict[str, Callable[[ShellFollowUp], FollowUpWish]] = {
    "confirm": confirm_cases,
    "transfer": transfer_cases,
}
"""The same for test cases of modality searches."""
