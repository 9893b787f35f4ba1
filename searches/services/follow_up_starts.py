"""What a follow-up of findings would look at, and what it would take, before it is started."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from searches.enums import CONCEPT_METHOD, FindingState, Minimality
from searches.models import Campaign, Finding, SearchRun, SutRecord
from searches.services.confirm_plans import SHRINK, expected_scenes
from searches.services.estimates import cost_each, round_duration
from searches.services.follow_up_families import fixed_levels, root_of
from searches.services.set_settings import SetSettings, set_settings
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.web.asked import asked_number
from vlmlab.web.numbers import write_many, write_percent

MOST_CHOSEN = 500
GUESSED_SECONDS = 2.0  # an inference with its picture, before this system has a run


@dataclass(frozen=True)
class StartSource:
    """What a follow-up is started from: findings that were chosen, or the suspects of a campaign or run.

    Attributes:
        findings: all that may be looked at, those that failed most first.
        campaign: the search that they are of; None where several searches are mixed.
        is_chosen: whether a person chose the findings one by one.
    """

    findings: tuple[Finding, ...]
    campaign: Campaign | None
    run: SearchRun | None
    is_chosen: bool

    @property
    def n_suspected(self) -> int:
        """Findings that no fresh scene has settled."""
        return sum(finding.state == FindingState.SUSPECTED for finding in self.findings)

    @property
    def fixed_levels(self) -> dict[str, float]:
        """The error rate that confirmations of the search are held to, once one was started."""
        return fixed_levels(root_of(self.campaign)) if self.campaign is not None else {}


@dataclass(frozen=True)
class StartLine:
    """What one system would be asked: ``expected`` where a plan can tell, time and cost at most."""

    sut: SutRecord
    n_items: int
    most: int
    expected: int | None
    seconds: float
    cost_usd: float | None


@dataclass(frozen=True)
class StartEstimate:
    """What a follow-up takes at most, summed over its systems.

    Attributes:
        unpriced: names of the systems whose price is unknown.
        basis: what the largest number of inferences comes from.
        expected: inferences that the planner counts on, None where it cannot tell.
    """

    lines: tuple[StartLine, ...]
    n_items: int
    most: int
    seconds: float
    cost_usd: float
    unpriced: tuple[str, ...]
    basis: str
    expected: int | None = None

    @property
    def expected_seconds(self) -> float | None:
        """How long that takes."""
        return self.seconds * self.expected / self.most if self.expected and self.most else None

    @property
    def expected_usd(self) -> float | None:
        """What that costs."""
        return self.cost_usd * self.expected / self.most if self.expected and self.most else None


def start_source(*, findings: Sequence[str], campaign: str, run: str, suspects_only: bool) -> StartSource:
    """Return what the address or form names.

    Args:
        findings: numbers of findings, as text.
        campaign: a number as text, or "".
        run: the same.
        suspects_only: of a campaign or run only findings that are not settled yet.

    Raises:
        VlmLabError: something named is unknown, too much is named, or the findings do not go together.
    """
    if findings:
        found = _chosen(findings)
        check_together(found)
        campaigns = {one.run.campaign_id: one.run.campaign for one in found}
        only = next(iter(campaigns.values())) if len(campaigns) == 1 else None
        return StartSource(found, only, None, is_chosen=True)
    rows = _rows()
    one_run, of = None, None
    if run:
        one_run = SearchRun.objects.select_related("campaign").filter(pk=asked_number(run) or 0).first()
        of = one_run.campaign if one_run else None
        rows = rows.filter(run=one_run)
    elif campaign:
        of = Campaign.objects.filter(pk=asked_number(campaign) or 0).first()
        rows = rows.filter(run__campaign=of)
    if of is None or of.method != CONCEPT_METHOD:
        raise VlmLabError(
            "There is nothing to follow up.", hint="Choose findings on their list, or start from a run."
        )
    if suspects_only:
        rows = rows.filter(state=FindingState.SUSPECTED)
    return StartSource(tuple(rows), of, one_run, is_chosen=False)


def narrowed(source: StartSource, *, which: str, top: int | None) -> list[Finding]:
    """Return the findings that the form asks for: all, minimal ones, or those that failed most."""
    if source.is_chosen or which == "all" or not which:
        return list(source.findings)
    if which == "minimal":
        return [one for one in source.findings if _is_minimal(one)]
    return list(source.findings[: top or 0])


def check_together(findings: Sequence[Finding]) -> None:
    """Refuse findings that cannot be asked in one follow-up.

    Raises:
        VlmLabError: they differ in domain, its version, where pictures come from, their size or threshold.
    """
    if not findings:
        raise VlmLabError("No finding is chosen.", hint="Choose at least one on the list.", field="finding")
    if len({one.domain_ref for one in findings}) > 1:
        names = sorted({one.domain for one in findings})
        what = f"domains ({' and '.join(names)})" if len(names) > 1 else "versions of the domain"
        raise VlmLabError(
            f"The chosen findings belong to different {what}.", hint="Choose those of one, and start two.",
            field="finding",
        )  # fmt: skip
    kinds = {_pictures(set_settings(one.run)) for one in findings}
    if len({backend for backend, *_ in kinds}) > 1:
        raise VlmLabError(
            "The chosen findings have pictures from different sources.",
            hint="Fresh scenes must come from where the search had its own: choose those of one source.",
            field="finding",
        )
    if len({size for _, size, _ in kinds}) > 1:
        raise VlmLabError(
            "The chosen findings have pictures of different sizes.", hint="Choose those of one size.",
            field="finding",
        )  # fmt: skip
    if len({threshold for *_, threshold in kinds}) > 1:
        raise VlmLabError(
            "The chosen findings have different failure rate thresholds.",
            hint="One follow-up tests one threshold: choose those of one.",
            field="finding",
        )


def start_estimate(kind: str, findings: Sequence[Finding], values: Mapping[str, Any]) -> StartEstimate:
    """Return what a follow-up takes at most.

    Args:
        kind: a kind that starts from findings.
        findings: what it looks at, with run, campaign and system.
        values: its settings by name.
    """
    findings = _asked(kind, findings, values)
    by_sut: dict[int, list[Finding]] = {}
    for finding in findings:
        by_sut.setdefault(finding.sut_id, []).append(finding)
    lines = tuple(_line(kind, found, values, family=len(findings)) for found in by_sut.values())
    return StartEstimate(
        lines=lines,
        n_items=sum(line.n_items for line in lines),
        most=sum(line.most for line in lines),
        seconds=sum(line.seconds for line in lines),
        cost_usd=sum(line.cost_usd or 0.0 for line in lines),
        unpriced=tuple(line.sut.name for line in lines if line.cost_usd is None),
        basis=_basis(kind, values),
        expected=sum(known) if (known := [one.expected for one in lines if one.expected]) else None,
    )


def _asked(kind: str, findings: Sequence[Finding], values: Mapping[str, Any]) -> Sequence[Finding]:
    if kind == "confirm" and values["protocol"] == "paper":
        return findings[: values["paper_top"]]
    return findings


def _line(kind: str, findings: Sequence[Finding], values: Mapping[str, Any], *, family: int) -> StartLine:
    sut, settings = findings[0].sut, set_settings(findings[0].run)
    most = sum(_most(kind, finding.size, values) for finding in findings)
    if values.get("inference_budget"):
        most = min(most, values["inference_budget"])
    pace = (sut.mean_latency_ms or 0.0) / 1000 + 0.5 if sut.mean_latency_ms else GUESSED_SECONDS
    try:
        each, _ = cost_each(sut, size=(settings.image_width, settings.image_height))
    except ConfigError:
        each = None
    cost = None if each is None or sut.is_price_unknown else each * most
    if cost is not None and values.get("spend_cap_usd"):
        cost = min(cost, values["spend_cap_usd"])
    expected = _expected(kind, findings, values, family=family)
    expected = None if expected is None else min(expected, most)
    return StartLine(sut, len(findings), most, expected, round_duration(most * pace), cost)


def _expected(
    kind: str, findings: Sequence[Finding], values: Mapping[str, Any], *, family: int
) -> int | None:
    """Return how many scenes the planner counts on; None for kinds of a fixed size."""
    if kind != "confirm" or values["protocol"] != "sequential":
        return None
    names = ("max_samples", "fdr_level", "later_share", "coverage", "futility")
    config = ConfirmConfig(
        failure_rate_threshold=set_settings(findings[0].run).failure_rate_threshold,
        family_size=family,
        **{name: values[name] for name in names},
    )
    return round(sum(expected_scenes(finding, config) for finding in findings))


def _most(kind: str, size: int, values: Mapping[str, Any]) -> int:
    """Return the most answers that one finding takes."""
    if kind == "confirm":
        return int(values["paper_samples"] if values["protocol"] == "paper" else values["max_samples"])
    if kind == "ablate":
        smaller = max(2**size - 2 - size, 0) if values["reduces"] else 0
        return int(values["pairs"]) * (1 + size) + int(values["reduce_scenes"]) * smaller
    return 2 * int(values["scenes"])


def _basis(kind: str, values: Mapping[str, Any]) -> str:
    if kind == "confirm" and values["protocol"] == "paper":
        return f"{write_many(values['paper_samples'], 'scene')} for each of the top {values['paper_top']:,}"
    if kind == "confirm":
        return (
            f"About: if each set fails {write_percent(SHRINK)} as often as it was found with. At most: "
            f"{write_many(values['max_samples'], 'scene')} a set; a set without hope is given up"
        )
    if kind == "ablate":
        more = ""
        if values["reduces"]:
            more = f", and up to {write_many(values['reduce_scenes'], 'scene')} for each smaller set"
        return (
            f"{write_many(values['pairs'], 'scene')} for the set and for each set with a concept less{more}"
        )
    return f"{write_many(values['scenes'], 'scene')} a set, each with and without statements"


def _chosen(numbers: Sequence[str]) -> tuple[Finding, ...]:
    wanted = list(dict.fromkeys(numbers))
    if len(wanted) > MOST_CHOSEN:
        raise VlmLabError(
            f"{len(wanted):,} findings are chosen; choose at most {MOST_CHOSEN:,}.", field="finding"
        )
    found = _rows().in_bulk([pk for text in wanted if (pk := asked_number(text)) is not None])
    gone = [text for text in wanted if asked_number(text) not in found]
    if gone:
        raise VlmLabError(
            f"There is no finding {gone[0][:20]}.",
            hint="It may have been deleted: choose again on the list.",
            field="finding",
        )
    return tuple(found[int(text)] for text in wanted)


def _rows() -> QuerySet[Finding]:
    rows = Finding.objects.prefetch_related("sut", "run__campaign", "run__sut")  # few rows stand behind many
    return rows.order_by("-fails", "n", "size", "pk")


def _is_minimal(finding: Finding) -> bool:
    if finding.covered_by_id is not None or finding.minimality == Minimality.REDUCIBLE:
        return False
    return finding.is_minimal_in_run or finding.minimality == Minimality.MINIMAL


def _pictures(settings: SetSettings) -> tuple[str, tuple[int, int], float]:
    size = settings.image_width, settings.image_height
    return settings.backend, size, settings.failure_rate_threshold
