"""Follow-ups of a campaign as sections: their result, their items and how the evidence grew."""

from collections.abc import Sequence
from dataclasses import replace

from searches.charts.evidence import race_chart
from searches.charts.gate_card import bounds_chart
from searches.charts.gate_regression import difference_chart
from searches.enums import FollowUpName
from searches.models import Campaign, FamilyMember, Finding, FollowUpItem, SearchRun
from searches.reports.asked import cost_words
from searches.reports.document import Block, Figure, Section, Table, Text
from searches.services.card_exports import COLUMNS, cell_values
from searches.services.cards import card_page
from searches.services.follow_up_lists import kind_title
from searches.services.follow_up_pages import (
    ITEMS_A_PAGE,
    FollowUpPage,
    ItemLine,
    follow_up_page,
    item_lines,
    item_words,
)
from searches.services.follow_up_traces import race_of
from searches.services.regression_exports import mode_values
from searches.services.regressions import regression_page
from vlmlab.core.errors import VlmLabError
from vlmlab.web.numbers import write_interval, write_level, write_many

ITEM_COLUMNS = (
    "Item", "System", "State", "Because", "Wrong", "Scenes", "Invalid", "Interval", "ln e",
)  # fmt: skip
CARDS_SHOWN = 3


def follow_up_sections(campaigns: Sequence[Campaign]) -> list[Section]:
    """Return one section a follow-up, oldest first."""
    return [_section(one) for one in campaigns]


def follow_up_blocks(campaign: Campaign) -> list[Block]:
    """Return what a follow-up came to."""
    try:
        page = follow_up_page(campaign, page=None)
    except VlmLabError as error:
        return [Text(str(error))]
    blocks: list[Block] = [Text(page.sentence)]
    if page.family_note:
        blocks.append(Text(page.family_note, is_muted=True))
    blocks.append(Text(_spent(page), is_muted=True))
    race = race_of(page)
    if race is not None and campaign.kind == FollowUpName.CONFIRM:
        chart = race_chart(race)
        blocks.append(Figure(replace(chart, slug=f"race-{campaign.pk}")))
    blocks += _gate(campaign)
    blocks.append(_items(campaign))
    return blocks


def touching_section(
    campaign: Campaign, findings: Sequence[Finding], runs: Sequence[SearchRun]
) -> Section | None:
    """Return the regression families that pin findings, and decision cards of the same systems and domain."""
    blocks: list[Block] = []
    members = FamilyMember.objects.filter(finding__in=[one.pk for one in findings]).select_related("family")
    rows = [
        (one.family.name, f"finding {one.finding_id}", one.key, one.pinned_rate)
        for one in members.order_by("family__name", "order")
    ]
    if rows:
        columns = ("Family", "Finding", "Concepts", "Rate when pinned")
        blocks.append(Table("families", "Pinned in regression families", columns, rows, frozenset({3})))
    cards = SearchRun.objects.filter(
        campaign__kind=FollowUpName.ENVELOPE,
        campaign__domain=campaign.domain,
        campaign__domain_version=campaign.domain_version,
        sut__in={run.sut_id for run in runs},
    ).select_related("campaign", "sut")
    for run in cards.order_by("-pk")[:CARDS_SHOWN] if campaign.domain else ():
        page = card_page(run)
        if page is not None:
            blocks.append(Text(f"Decision card “{page.stored.name}” of {run.sut.name}: {page.sentence}"))
    return Section("gates", "Regressions and decision cards that touch this", blocks) if blocks else None


def _section(campaign: Campaign) -> Section:
    title = f"{kind_title(campaign)}: {campaign.name}"
    return Section(f"follow-up-{campaign.pk}", title, follow_up_blocks(campaign))


def _spent(page: FollowUpPage) -> str:
    parts = [
        f"{run.sut.name}: {write_many(run.n_observations, 'answer')}, run seed {run.run_seed}, "
        f"cost {cost_words(run)}"
        for run in page.progress.runs
    ]
    return "; ".join(parts) + "."


def _items(campaign: Campaign) -> Table:
    items = FollowUpItem.objects.filter(campaign=campaign).select_related(
        "run__sut", "run__campaign", "campaign"
    )
    lines = item_lines(list(items.order_by("run_id", "order")))
    rows = [_item_row(line) for line in lines]
    return Table(
        f"follow-up-{campaign.pk}-items",
        "What was settled",
        ITEM_COLUMNS,
        rows[:ITEMS_A_PAGE],
        frozenset({4, 5, 6, 8}),
        note="fresh scenes only; e-values as natural logarithms",
        all_rows=rows,
    )


def _item_row(line: ItemLine) -> tuple[str | int | float | None, ...]:
    item, interval = line.item, line.interval
    told = (
        f"{write_interval(interval.low, interval.high)} ({write_level(interval.level)})" if interval else "–"
    )
    log_e = None if line.log_e is None else round(line.log_e, 2)
    return (
        item_words(item), item.run.sut.name, item.state.replace("_", " ") or "open", line.reason, item.fails,
        item.n, line.invalid, told, log_e,
    )  # fmt: skip


def _gate(campaign: Campaign) -> list[Block]:
    if campaign.kind == FollowUpName.REGRESS:
        page = regression_page(campaign)
        values = [mode_values(page, line) for line in page.modes]
        columns = list(values[0]) if values else []
        rows = [tuple(_plain(one[name]) for name in columns) for one in values]
        table = Table(f"regression-{campaign.pk}", f"Verdict: {page.verdict or 'open'}", columns, rows)
        return (
            [Figure(replace(difference_chart(page), slug=f"regression-{campaign.pk}")), table] if rows else []
        )
    if campaign.kind != FollowUpName.ENVELOPE:
        return []
    blocks: list[Block] = []
    for run in campaign.runs.select_related("sut", "campaign").order_by("pk"):
        card = card_page(run)
        if card is None:
            continue
        rows = [tuple(_plain(cell_values(cell)[name]) for name in COLUMNS) for cell in card.cells]
        blocks.append(Text(f"{run.sut.name}: {card.sentence}"))
        if card.reading is not None:
            blocks.append(Figure(replace(bounds_chart(card), slug=f"card-{run.pk}")))
        blocks.append(Table(f"card-{run.pk}-cells", f"Cells, {run.sut.name}", COLUMNS, rows))
    return blocks


def _plain(value: object) -> str | int | float | None:
    if isinstance(value, float):
        return round(value, 4)
    return value if value is None or isinstance(value, str | int) else str(value)
