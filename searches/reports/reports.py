"""The report of a campaign: its head and its sections, by method."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from searches.charts.convergence import Curve, convergence_chart
from searches.enums import CASE_METHOD, CONCEPT_METHOD, FOLLOW_UP_METHOD, LIVE_STATES, MODALITY_METHOD
from searches.models import Campaign, SearchRun
from searches.reports.asked import asked_section, totals, versions_section
from searches.reports.document import Block, Figure, Head, Section, Table, Text
from searches.reports.explained import explained_section
from searches.reports.findings import Showing, campaign_below, findings_of, findings_section
from searches.reports.follow_ups import follow_up_blocks, follow_up_sections, touching_section
from searches.reports.html import report_pieces
from searches.reports.modality import cases_section, profile_sections
from searches.reports.pictures import PictureBox
from searches.services.explain_scopes import find_scope
from searches.services.results import PFM_NOTE
from searches.services.run_pages import cached_metrics, run_curves
from vlmlab.core.errors import ConfigError
from vlmlab.web.numbers import write_decimals, write_many, write_percent

LIMITS: Mapping[str, Sequence[str]] = {
    CONCEPT_METHOD: (
        "It says nothing about scenes outside the domain, and nothing about real pictures: scenes are drawn.",
        "A set that was not asked is unknown, not safe. What was shown at all stands under coverage.",
        "A suspected set is no result yet, and an undetermined one is neither refuted nor confirmed.",
        "Right answers are those of the domain's rules. Whether the rules are right is for people to judge.",
        "Rates are of the scenes that the sampler draws, not of what a road or a kitchen shows how often.",
        "Explanations are associations within what was asked; only paired and four-cell tests compare alike "
        "scenes.",
    ),
    MODALITY_METHOD: (
        "It says how a system answers to these perturbations of these pictures, not how often such pictures "
        "occur.",
        "Attack success counts runs that found a failing input within the budget; a run that found none does "
        "not show that there is none.",
        "A failing case failed once, unless fresh draws confirmed it.",
        "The truth is moved with the picture; where a warp leaves little of a thing, its box says less.",
    ),
}


def find_reported(number: int) -> Campaign:
    """Return the campaign of a number.

    Raises:
        ConfigError: there is none.
    """
    rows = Campaign.objects.select_related("dataset", "follows", "follows__follows")
    campaign = rows.filter(pk=number).first() if 0 < number < 2**63 else None
    if campaign is None:
        raise ConfigError(
            f"There is no campaign {number}.",
            hint="Lists of runs and campaigns show the numbers.",
            field="campaign",
        )
    return campaign


def report_html(campaign: Campaign, *, showing: Showing | None = None) -> Iterator[str]:
    """Return the report of a campaign as one HTML file, piece by piece.

    Args:
        campaign: of any method; with dataset and what it follows.
        showing: what of people it shows: notes without names unless said otherwise.
    """
    runs = list(campaign.runs.select_related("sut", "campaign").order_by("pk"))
    return report_pieces(_head(campaign, runs), _sections(campaign, runs, showing or Showing()))


def _head(campaign: Campaign, runs: Sequence[SearchRun]) -> Head:
    names = list(dict.fromkeys(run.sut.name for run in runs))
    systems = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    live = sum(run.state in LIVE_STATES for run in runs)
    lede = f"What was found in {systems}, with the evidence for it." if runs else "Nothing was asked yet."
    if live:
        lede += f" {write_many(live, 'run')} had not ended when this was written; numbers may still change."
    return Head(title=campaign.name, lede=lede, facts=totals(runs))


def _sections(campaign: Campaign, runs: Sequence[SearchRun], showing: Showing) -> Iterator[Section]:
    box = PictureBox()
    yield asked_section(campaign, runs)
    if runs:
        yield from MAKERS[campaign.method](campaign, runs, box, showing)
    limits = LIMITS[MODALITY_METHOD if campaign.method in (MODALITY_METHOD, CASE_METHOD) else CONCEPT_METHOD]
    yield Section("limits", "What this does not show", [Text(one) for one in limits])
    yield Section("pictures", "Pictures", [Text(box.sentence)])
    yield versions_section(campaign, runs)


def _concept(
    campaign: Campaign, runs: Sequence[SearchRun], box: PictureBox, showing: Showing
) -> Iterator[Section]:
    below = campaign_below(campaign)
    findings = findings_of([campaign.pk, *(one.pk for one in below)])
    yield findings_section(findings, box, showing)
    yield from follow_up_sections(below)
    touching = touching_section(campaign, findings, runs)
    if touching is not None:
        yield touching
    slugs = list(dict.fromkeys(run.sut.slug for run in runs if run.n_observations))
    for slug in slugs:
        scope = find_scope("campaign", campaign.pk, sut=slug)
        if scope is not None:
            yield explained_section(scope, is_only=len(slugs) == 1)
    yield _search(campaign, runs)


def _search(campaign: Campaign, runs: Sequence[SearchRun]) -> Section:
    """Return the course of the search and its published metrics."""
    budget = int(campaign.config.get("inference_budget", 0)) or max(run.n_inferences for run in runs)
    curves = [Curve(f"{run.sut.name}, run {run.pk}", run_curves(run).modes) for run in runs[:6]]
    rows = []
    for run in runs:
        found = cached_metrics(run)
        rows.append(
            (
                run.pk, run.sut.name, write_percent(found.pfm.value),
                f"{found.pfm.numerator} of {found.pfm.denominator}",
                write_percent(found.mfr.value) if found.mfr else "–", write_decimals(found.diversity, 3),
                found.minimal_modes, found.parked,
            )
        )  # fmt: skip
    table = Table(
        "metrics",
        "Metrics as published, before fresh scenes",
        (
            "Run",
            "System",
            "PFM",
            "Failing of decided sets",
            "MFR",
            "Div",
            "Modes without a smaller one",
            "Parked",
        ),
        rows,
        frozenset({0, 6, 7}),
        note="PFM: failing of decided sets; MFR: mean rate of failing sets; Div: their mean distance",
    )
    chart = convergence_chart(curves, budget=budget)
    blocks: list[Block] = [Figure(chart), table, Text(PFM_NOTE, is_muted=True)]
    return Section("search", "The search", blocks)


def _modality(
    campaign: Campaign, runs: Sequence[SearchRun], box: PictureBox, showing: Showing
) -> Iterator[Section]:
    yield from profile_sections(campaign)
    yield cases_section(campaign, box, showing)
    yield from follow_up_sections(campaign_below(campaign))


def _follow_up(
    campaign: Campaign, runs: Sequence[SearchRun], box: PictureBox, showing: Showing
) -> Iterator[Section]:
    yield Section("result", "Result", follow_up_blocks(campaign))
    numbers = [one for one in campaign.items.values_list("finding_id", flat=True) if one is not None]
    if campaign.method == FOLLOW_UP_METHOD and numbers:
        source = campaign.follows_id or campaign.pk
        known = [one for one in findings_of([source, campaign.pk]) if one.pk in set(numbers)]
        yield findings_section(known, box, showing)
    yield from follow_up_sections(campaign_below(campaign))


Maker = Callable[[Campaign, Sequence[SearchRun], PictureBox, Showing], Iterator[Section]]
MAKERS: Mapping[str, Maker] = {
    CONCEPT_METHOD: _concept,
    MODALITY_METHOD: _modality,
    FOLLOW_UP_METHOD: _follow_up,
    CASE_METHOD: _follow_up,
}
"""Method of a campaign -> what makes its sections."""
