"""What the page of a follow-up shows: its result in a sentence, its items, one item with every scene."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet, Sum

from searches.enums import CASE_METHOD
from searches.models import Campaign, FollowUpItem, Trial
from searches.services.domain_store import find_domain
from searches.services.follow_up_progress import FollowUpProgress, follow_up_progress
from searches.services.follow_up_results import family_note, result_sentence
from searches.services.scene_flags import AdjustedCounts, adjusted_counts
from vlmlab.core.errors import ConfigError
from vlmlab.core.stats import Interval, clopper_pearson
from vlmlab.core.verdicts.config import FOLLOW_UP_CONFIGS, ConfirmConfig, FollowUpConfig, FollowUpKind
from vlmlab.web.evidence import set_words

ITEMS_A_PAGE = 50
SETTLING = frozenset({"confirmed", "refuted", "undetermined", "suspected"})
REASONS: Mapping[str, str] = {
    "crossed": "the evidence crossed its bar",
    "futile": "given up: more scenes would hardly decide it",
    "cap": "the most scenes were asked",
    "exhausted": "no more scenes could be drawn",
    "complete": "all planned scenes were asked",
    "budget": "the budget was used up",
    "family": "decided with the whole family at the end",
    "time": "the time was used up",
    "ended": "ended early",
    "flagged": "too little is left without the scenes that people flagged",
    "not_failing": "the set itself did not fail often enough",
    "unclear": "what is left fails neither surely less nor surely as often",
    "nothing_comparable": "nothing can be left out without another question or an empty scene",
}


@dataclass(frozen=True)
class ItemLine:
    """One item of a follow-up as a row.

    Attributes:
        interval: of its failure rate: as its follow-up computed it, exact where its size was fixed; None
            before the first answer.
        adjusted: its counts without flagged scenes; None where none is flagged.
        trial: the concept set whose scenes were asked; None before the first one and for test cases.
    """

    item: FollowUpItem
    interval: Interval | None
    adjusted: AdjustedCounts | None
    trial: Trial | None

    @property
    def log_e(self) -> float | None:
        """Natural logarithm of its e-value, where it has one."""
        value = self.item.numbers.get("log_e")
        return float(value) if isinstance(value, int | float) else None

    @property
    def invalid(self) -> int:
        """Answers that named no option."""
        value = self.item.numbers.get("invalid", 0)
        return value if isinstance(value, int) else 0

    @property
    def reason(self) -> str:
        """Why it ended, in words."""
        return REASONS.get(self.item.reason, self.item.reason)

    @property
    def is_settled(self) -> bool:
        """Whether its state is one of a finding."""
        return self.item.state in SETTLING


@dataclass(frozen=True)
class ExpectedSummary:
    """What the items with one expected answer came to."""

    label: str
    items: int
    confirmed: int
    refuted: int
    undetermined: int
    fails: int
    n: int


@dataclass(frozen=True)
class FollowUpPage:
    """Everything the page of a follow-up shows."""

    campaign: Campaign
    config: FollowUpConfig
    progress: FollowUpProgress
    lines: list[ItemLine]
    items: Page[FollowUpItem]
    sentence: str
    family_note: str
    summary: list["ExpectedSummary"]

    @property
    def domain_title(self) -> str:
        """Title of its domain, "" for test cases."""
        return find_domain(self.campaign.domain_ref).title if self.campaign.domain else ""

    @property
    def is_of_cases(self) -> bool:
        """Whether it settles test cases instead of concept sets."""
        return self.campaign.method == CASE_METHOD

    @property
    def sut_id(self) -> int | None:
        """Its only system; None where it asks several."""
        asked = {run.sut_id for run in self.progress.runs}
        return asked.pop() if len(asked) == 1 else None

    @property
    def has_e_values(self) -> bool:
        """Whether its items are settled by e-values."""
        return isinstance(self.config, ConfirmConfig) and self.config.protocol == "sequential"

    @property
    def most_inferences(self) -> int | None:
        """What it takes at most, where that can be told: the budget of its runs, or its plan."""
        budget = self.config.inference_budget
        if budget is not None:
            return budget * len(self.progress.runs)
        if isinstance(self.config, ConfirmConfig):
            is_paper = self.config.protocol == "paper"
            each = self.config.paper_samples if is_paper else self.config.max_samples
            return each * self.progress.n_items
        return None


def follow_up_config(campaign: Campaign) -> FollowUpConfig:
    """Return the settings of a follow-up.

    Raises:
        ConfigError: this version does not understand them.
    """
    config_type = FOLLOW_UP_CONFIGS.get(cast(FollowUpKind, campaign.kind), FollowUpConfig)
    try:
        return config_type.model_validate(campaign.config)
    except ValueError as error:
        raise ConfigError(
            "This version of the lab does not understand the stored settings of this follow-up.",
            hint="Start a new one.",
        ) from error


def follow_up_page(
    campaign: Campaign, *, page: str | None, state: str = "", progress: FollowUpProgress | None = None
) -> FollowUpPage:
    """Return the page of a follow-up.

    Args:
        campaign: with what it follows.
        page: which fifty of its items.
        state: only items of this state; "open" for those without one, "" for all.
        progress: where it stands, if that was read already.

    Raises:
        ConfigError: this version does not understand its settings.
    """
    config, progress = follow_up_config(campaign), progress or follow_up_progress(campaign)
    rows = _items(campaign)
    if state and (state in progress.by_state or state == "open"):
        rows = rows.filter(state="" if state == "open" else state)
    chosen = Paginator(rows, ITEMS_A_PAGE).get_page(page)
    return FollowUpPage(
        campaign=campaign,
        config=config,
        progress=progress,
        lines=item_lines(list(chosen.object_list)),
        items=chosen,
        sentence=result_sentence(campaign, config, progress),
        family_note=family_note(campaign, config),
        summary=_by_expected(campaign) if isinstance(config, ConfirmConfig) else [],
    )


def item_of(campaign: Campaign, pk: int) -> FollowUpItem | None:
    """Return one item of a follow-up with what its page needs."""
    return _items(campaign).filter(pk=pk).first() if pk < 2**63 else None


def item_lines(items: Sequence[FollowUpItem]) -> list[ItemLine]:
    """Return items as rows, in the order given (two queries)."""
    trials = trials_of(items)
    adjusted = adjusted_counts([trial.pk for trial in trials.values()])
    return [_line(item, trials.get(item.pk), adjusted) for item in items]


def trials_of(items: Sequence[FollowUpItem]) -> dict[int, Trial]:
    """Return the trial of each item's own set, by the item's number (one query)."""
    wanted = {(item.run_id, item.block, item.key): item.pk for item in items if item.key or item.concepts}
    if not wanted:
        return {}
    rows = Trial.objects.filter(
        run__in={run_id for run_id, _, _ in wanted}, block__in={block for _, block, _ in wanted}, variant=""
    )
    found = {(trial.run_id, trial.block, trial.key): trial for trial in rows}
    return {pk: found[place] for place, pk in wanted.items() if place in found}


def trials_in_block(item: FollowUpItem) -> list[Trial]:
    """Return every set and variant that was asked on the scenes of an item: its own first."""
    rows = list(Trial.objects.filter(run_id=item.run_id, block=item.block).order_by("order"))
    return sorted(rows, key=lambda trial: (trial.key != item.key, trial.variant != "", trial.order))


def item_words(item: FollowUpItem) -> str:
    """Return what an item is about as plain words."""
    if item.concepts:
        return set_words(item.concepts, item.campaign.domain_ref)
    return f"Case {item.case_id}" if item.case_id else f"Item {item.order + 1}"


def _by_expected(campaign: Campaign) -> list[ExpectedSummary]:
    """Return what items came to by expected answer, in the domain's order (one query)."""
    if not campaign.domain:
        return []
    rows = FollowUpItem.objects.filter(campaign=campaign).order_by().values("expected_action")
    counted = rows.annotate(
        items=Count("pk"),
        confirmed=Count("pk", filter=Q(state="confirmed")),
        refuted=Count("pk", filter=Q(state="refuted")),
        undetermined=Count("pk", filter=Q(state="undetermined")),
        all_fails=Sum("fails"),
        all_n=Sum("n"),
    )
    labels = find_domain(campaign.domain_ref).actions
    order = {action: place for place, action in enumerate(labels)}
    return [
        ExpectedSummary(
            label=labels.get(row["expected_action"], row["expected_action"]),
            items=row["items"],
            confirmed=row["confirmed"],
            refuted=row["refuted"],
            undetermined=row["undetermined"],
            fails=row["all_fails"],
            n=row["all_n"],
        )
        for row in sorted(counted, key=lambda row: order.get(row["expected_action"], len(order)))
    ]


def _items(campaign: Campaign) -> QuerySet[FollowUpItem]:
    rows = FollowUpItem.objects.filter(campaign=campaign)
    return rows.select_related("run__sut", "run__campaign", "finding", "case", "member").order_by(
        "run_id", "order"
    )


def _line(item: FollowUpItem, trial: Trial | None, adjusted: Mapping[int, AdjustedCounts]) -> ItemLine:
    return ItemLine(
        item=item,
        interval=_interval(item.numbers, item.fails, n=item.n),
        adjusted=adjusted.get(trial.pk) if trial else None,
        trial=trial,
    )


def _interval(numbers: Mapping[str, Any], fails: int, *, n: int) -> Interval | None:
    """Return the interval that the follow-up computed; the exact one where the size was fixed."""
    if not n:
        return None
    stored = numbers.get("interval")
    if isinstance(stored, Mapping) and {"low", "high", "level"} <= set(stored):
        return Interval(float(stored["low"]), float(stored["high"]), float(stored["level"]))
    return clopper_pearson(fails, n, 0.95)
