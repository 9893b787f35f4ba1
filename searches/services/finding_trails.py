"""What follow-ups found out about one finding: fresh scenes, drops, recognition, where else it was tried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from searches.enums import KEY_SEPARATOR, FollowUpName
from searches.models import FamilyMember, Finding, FollowUpItem, Trial
from searches.services.follow_up_pages import ItemLine, item_lines
from searches.services.follow_up_traces import Trace, trace_of
from searches.services.scene_flags import AdjustedCounts, adjusted_counts
from vlmlab.core.stats import Interval
from vlmlab.core.verdicts.necessity import NECESSITY_WORDS
from vlmlab.core.verdicts.probe import recognition_from
from vlmlab.core.verdicts.regimes import Recognition

MOST_ITEMS = 60


@dataclass(frozen=True)
class Drop:
    """What leaving something out of a set did, on the same scenes.

    Attributes:
        left_out: concepts that were taken out.
        verdict: the core's word, and ``words`` for people.
        n: scenes asked in both ways; ``fails_with`` and ``fails_without`` of them.
        p_value, adjusted: exact McNemar, and after Holm over the drops of the set.
        low, high: interval of the paired difference of rates.
        why: why it is no comparison; "" where it is one.
    """

    left_out: tuple[str, ...]
    verdict: str
    words: str
    n: int
    fails_with: int
    fails_without: int
    p_value: float | None
    adjusted: float | None
    low: float | None
    high: float | None
    level: float
    why: str

    @property
    def has_counts(self) -> bool:
        """Whether it was asked at all."""
        return self.n > 0


@dataclass(frozen=True)
class Recognised:
    """How well statements about one concept were answered; ``interval`` is one of R, None without any."""

    concept: str
    recognition: Recognition
    interval: Interval | None


@dataclass(frozen=True)
class Probe:
    """A recognition probe: recognition by concept, and the same scenes with and without statements.

    Attributes:
        priming: paired counts of wrong answers without and with statements, with the exact McNemar test, as
            the core stored them.
    """

    line: ItemLine
    concepts: tuple[Recognised, ...]
    priming: Mapping[str, Any]
    plain: Trial | None
    stated: Trial | None


@dataclass(frozen=True)
class Source:
    """One set of scenes that the page can show."""

    trial: Trial
    label: str
    is_fresh: bool


@dataclass(frozen=True)
class FindingTrail:
    """The evidence about a finding, newest follow-up of each kind first.

    Attributes:
        confirms: items of confirmations; the first one is shown in full: the one that settled it.
        trace: how the evidence of the first grew; None where it has no course.
        adjusted: fresh counts without flagged scenes; None where none is flagged.
        search_adjusted: the same for the scenes of the search.
        drops: of the newest ablation that has any.
        elsewhere: items of transfers, regressions and other follow-ups that ask this finding.
        sources: what the page can show scene by scene: fresh ones first, those of the search last.
        covers: larger findings that an ablation explained by this one.
    """

    confirms: tuple[ItemLine, ...]
    trace: Trace | None
    adjusted: AdjustedCounts | None
    search_adjusted: AdjustedCounts | None
    ablation: ItemLine | None
    drops: tuple[Drop, ...]
    probe: Probe | None
    elsewhere: tuple[ItemLine, ...]
    pinned: tuple[FamilyMember, ...]
    sources: tuple[Source, ...]
    covers: tuple[Finding, ...]

    @property
    def fresh(self) -> ItemLine | None:
        """The newest confirmation, running or done."""
        return self.confirms[0] if self.confirms else None


def finding_trail(finding: Finding) -> FindingTrail:
    """Return what follow-ups found out about a finding; a fixed number of queries."""
    rows = FollowUpItem.objects.filter(finding=finding).order_by("-id")
    items = list(rows.select_related("run__sut", "run__campaign", "campaign")[:MOST_ITEMS])
    lines = item_lines(items)
    of_kind = {
        kind: [line for line in lines if line.item.campaign.kind == kind] for kind in FollowUpName.values
    }
    confirms = _telling_first(finding, of_kind[FollowUpName.CONFIRM])
    ablations = of_kind[FollowUpName.ABLATE]
    ablation = next((line for line in ablations if line.item.numbers.get("drops")), None)
    shown = {FollowUpName.CONFIRM, FollowUpName.ABLATE, FollowUpName.PROBE}
    probe = _probe(of_kind[FollowUpName.PROBE])
    return FindingTrail(
        confirms=tuple(confirms),
        trace=trace_of(confirms[0].item) if confirms else None,
        adjusted=confirms[0].adjusted if confirms else None,
        search_adjusted=adjusted_counts([finding.trial_id]).get(finding.trial_id),
        ablation=ablation or (ablations[0] if ablations else None),
        drops=tuple(drops_of(ablation.item.numbers)) if ablation else (),
        probe=probe,
        elsewhere=tuple(line for line in lines if line.item.campaign.kind not in shown),
        pinned=tuple(FamilyMember.objects.filter(finding=finding).select_related("family")),
        sources=tuple(_sources(finding, confirms + [x for x in lines if x not in confirms], probe)),
        covers=tuple(finding.covers.order_by("size", "pk")),
    )


def _telling_first(finding: Finding, lines: Sequence[ItemLine]) -> list[ItemLine]:
    """Return confirmations: the one that the finding has its counts of, then running ones, newest first."""

    def rank(line: ItemLine) -> tuple[bool, bool, int]:
        item = line.item
        tells = line.is_settled and (item.fails, item.n) == (finding.fresh_fails, finding.fresh_n)
        return not tells, item.state != "", -item.pk

    return sorted(lines, key=rank)


def drops_of(numbers: Mapping[str, Any]) -> list[Drop]:
    """Return the drops of an ablation's item as its follow-up stored them."""
    rows = numbers.get("drops")
    return [_drop(row) for row in rows] if isinstance(rows, list) else []


def recognised(numbers: Mapping[str, Any]) -> list[Recognised]:
    """Return recognition by concept from what a probe stored with an item."""
    rows = numbers.get("recognition")
    if not isinstance(rows, Mapping):
        return []
    found = [(concept, recognition_from(row)) for concept, row in rows.items()]
    return [Recognised(concept, one, None if one.value is None else one.interval()) for concept, one in found]


def _drop(row: Mapping[str, Any]) -> Drop:
    verdict = str(row.get("necessity", "undetermined"))
    return Drop(
        left_out=tuple(row.get("concepts", ())),
        verdict=verdict,
        words=str(dict(NECESSITY_WORDS).get(verdict, verdict)),  # type: ignore[call-overload]  # stored text
        n=int(row.get("n", 0)),
        fails_with=int(row.get("fails_with", 0)),
        fails_without=int(row.get("fails_without", 0)),
        p_value=row.get("p_value"),
        adjusted=row.get("adjusted"),
        low=row.get("low"),
        high=row.get("high"),
        level=float(row.get("level", 0.95)),
        why=str(row.get("why", "")),
    )


def _probe(lines: Sequence[ItemLine]) -> Probe | None:
    """Return the newest probe (one query)."""
    if not lines:
        return None
    item = lines[0].item
    trials = Trial.objects.filter(run_id=item.run_id, block=item.block, key=item.key)
    by_variant = {trial.variant: trial for trial in trials}
    priming = item.numbers.get("priming")
    return Probe(
        line=lines[0],
        concepts=tuple(recognised(item.numbers)),
        priming=priming if isinstance(priming, Mapping) else {},
        plain=by_variant.get(""),
        stated=by_variant.get("statements"),
    )


def _sources(finding: Finding, lines: Sequence[ItemLine], probe: Probe | None) -> list[Source]:
    names = {
        FollowUpName.CONFIRM: "Fresh scenes", FollowUpName.ABLATE: "Paired scenes",
        FollowUpName.PROBE: "Without statements",
    }  # fmt: skip
    found = []
    for line in lines:
        item = line.item
        if line.trial is None:
            continue
        line.trial.run = item.run
        label = names.get(FollowUpName(item.campaign.kind), item.campaign.get_kind_display())
        if item.campaign.config.get("protocol") == "paper":
            label = "Re-test as published"
        other = f", {item.run.sut.name}" if item.run.sut_id != finding.sut_id else ""
        found.append(Source(line.trial, f"{label}{other}", is_fresh=True))
    if probe is not None and probe.stated is not None:
        probe.stated.run = probe.line.item.run
        found.append(Source(probe.stated, "With statements", is_fresh=True))
    kinds = list(FollowUpName.values)
    order = {trial.pk: place for place, trial in enumerate(source.trial for source in found)}
    by_kind = {source.trial.pk: kinds.index(source.trial.run.campaign.kind) for source in found}
    found.sort(key=lambda one: (by_kind[one.trial.pk], order[one.trial.pk]))
    return [*found, Source(finding.trial, "Scenes of the search", is_fresh=False)]


def with_smaller(
    lines: Sequence[ItemLine],
) -> list[tuple[ItemLine, list[tuple[dict[str, Any], Finding | None]]]]:
    """Return items of an ablation, each with the smaller sets that still fail and what became of them.

    The findings are those of the ablation's own runs, else what the same system is known to fail on, the
    newest first (one query).
    """
    sets = [(line, line.item.numbers.get("smaller") or ()) for line in lines]
    keys = {KEY_SEPARATOR.join(one["key"]) for _, smaller in sets for one in smaller}
    suts, refs = {line.item.run.sut_id for line in lines}, {line.item.campaign.domain_ref for line in lines}
    rows = Finding.objects.filter(sut__in=suts, key__in=keys).select_related("run__campaign").order_by("pk")
    known = {(one.sut_id, one.key): one for one in rows if one.domain_ref in refs}
    own = {(one.run_id, one.key): one for one in rows}

    def became(line: ItemLine, key: Sequence[str]) -> Finding | None:
        run, text = line.item.run, KEY_SEPARATOR.join(key)
        return own.get((run.pk, text)) or known.get((run.sut_id, text))

    return [(line, [(one, became(line, one["key"])) for one in smaller]) for line, smaller in sets]
