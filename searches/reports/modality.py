"""A modality campaign as sections of a report: profile, tables, failing cases with their pictures."""

from collections.abc import Sequence
from dataclasses import replace

from searches.charts.modality_operators import budget_chart, ranking_chart
from searches.charts.modality_profile import asr_chart, outcome_chart
from searches.charts.modality_shape import shape_bars, shape_chart
from searches.enums import CaseKind
from searches.models import Campaign, ModalityCase, Note
from searches.reports.document import Block, Card, Figure, Section, Table, Text, json_words
from searches.reports.findings import TONES, Showing
from searches.reports.pictures import PictureBox
from searches.services.modality_exports import EXPORTS
from searches.services.modality_profiles import (
    PICTURED_OPERATORS,
    CampaignOffer,
    ProfilePage,
    campaign_offer,
    left_out_sentence,
    profile_page,
)
from searches.services.modality_tables import Choice, PairCell, TableRow
from searches.services.strategy_bars import strategy_bars
from vlmlab.web.figures import Chart
from vlmlab.web.numbers import write_many, write_p_value, write_percent

MOST_CARDS = 12
FILES = ("effectiveness", "efficiency", "outcomes", "comparisons", "budget", "operators")


def profile_sections(campaign: Campaign) -> list[Section]:
    """Return the profile of each system, and the tables of all of them."""
    offer = campaign_offer(campaign)
    return [*(_profile(campaign, offer, slug) for slug, _ in offer.suts), _tables(campaign)]


def cases_section(campaign: Campaign, box: PictureBox, showing: Showing) -> Section:
    """Return failing cases: confirmed ones first, then those that lose most."""
    rows = ModalityCase.objects.filter(modality_run__campaign=campaign, is_failure=True)
    rows = rows.filter(kind=CaseKind.RETURNED).select_related(
        "modality_run__sut", "modality_run__picture", "modality_run__clean_answer", "modality_run__run"
    )
    states = ["confirmed", "undetermined", "suspected", "refuted"]
    found = sorted(rows, key=lambda one: (states.index(one.state), -one.swtd, one.pk))
    if not found:
        return Section(
            "cases", "Failing test cases", [Text("No run of this campaign returned a failing case.")]
        )
    blocks: list[Block] = [
        Text(
            f"{write_many(len(found), 'failing case')}. A case is one input that failed once; only one that "
            "fresh draws of its operators confirmed is known to fail again."
        ),
        _case_table(found),
        *(_card(one, box, showing) for one in found[:MOST_CARDS]),
    ]
    if len(found) > MOST_CARDS:
        rest = write_many(len(found) - MOST_CARDS, "case")
        blocks.append(Text(f"{rest} more stand in the table only.", is_muted=True))
    return Section("cases", "Failing test cases", blocks)


def _profile(campaign: Campaign, offer: CampaignOffer, slug: str) -> Section:
    choice = Choice(sut=slug, has_replicates=offer.replicates > 1)
    page = profile_page(campaign, choice)
    blocks: list[Block] = [Text(page.sentence)]
    left_out = left_out_sentence(campaign, offer, choice)
    blocks += [Text(left_out, is_muted=True)] if left_out else []
    blocks.append(Text(_seeds(page), is_muted=True))
    blocks += [Figure(replace(chart, slug=f"{slug}-{chart.slug}")) for chart in _charts(page)]
    blocks += [
        _rows(f"{slug}-rates", "Attack success", page, page.rates),
        _rows(f"{slug}-likeness", "Likeness of failing inputs", page, page.likeness),
        _rows(f"{slug}-costs", "Cost of a run", page, page.costs),
    ]
    return Section(f"profile-{slug}", f"Sensitivity of {page.sut_name}", blocks)


def _seeds(page: ProfilePage) -> str:
    facts = page.facts
    if not facts.ended:
        return "No run has ended."
    share = write_percent(facts.with_boxes / facts.ended)
    return (
        f"{facts.eligible:,} of {write_many(facts.total, 'seed image')} are eligible; on the others the "
        "clean answer is wrong already, and they are in no rate. "
        f"{share} of {write_many(facts.ended, 'run')} end with boxes."
    )


def _charts(page: ProfilePage) -> list[Chart]:
    source, criterion, budget = page.source, page.choice.criterion, page.config.perturbation_budget
    return [
        asr_chart(source, criterion),
        shape_chart(source, criterion, budget=budget),
        outcome_chart(source),
        shape_bars(source, criterion, budget=budget),
        budget_chart(page.budget, page.regimes, address=_nowhere),
        ranking_chart(page.operators, regime=None, address=_nowhere, most=PICTURED_OPERATORS),
    ]


def _rows(slug: str, title: str, page: ProfilePage, rows: Sequence[TableRow]) -> Table:
    columns = [
        "Measure",
        *(one.title for one in page.source.numbers),
        *(PairCell(pair, None).title for pair in page.source.pairs),
    ]
    found = [
        (
            row.title,
            *(
                " ".join(filter(None, [cell.text, f"({cell.note})" if cell.note else ""]))
                for cell in row.numbers
            ),
            *(_pair(cell) for cell in row.pairs),
        )
        for row in rows
    ]
    return Table(slug, title, columns, found, note="pairs: p after Holm; * < 0.05, ** < 0.01, *** < 0.001")


def _pair(cell: PairCell) -> str:
    if cell.comparison is None or cell.comparison.p_adjusted is None:
        return "–"
    return f"{write_p_value(cell.comparison.p_adjusted)} {cell.marks}".strip()


def _tables(campaign: Campaign) -> Section:
    blocks: list[Block] = []
    for name in FILES:
        export = EXPORTS[name]
        table = export.table(campaign, Choice())
        rows = [tuple(row) for row in table.rows]
        shown = [tuple(round(one, 3) if isinstance(one, float) else one for one in row) for row in rows[:3]]
        blocks.append(
            Table(f"file-{name}", export.title, table.columns, shown, note="in full precision", all_rows=rows)
        )
    return Section("files", "Tables in full precision", blocks)


def _case_table(cases: Sequence[ModalityCase]) -> Table:
    rows = [
        (
            case.pk, case.get_state_display(), case.modality_run.sut.name, case.modality_run.label,
            case.modality_run.regime, case.get_status_display(), round(case.iou, 3), round(case.swtd, 3),
            round(case.image_budget, 3), round(case.text_budget, 3),
            f"{case.fresh_fails or 0:,} of {case.fresh_n:,}" if case.fresh_n else "not asked",
        )
        for case in cases
    ]  # fmt: skip
    columns = (
        "Case", "State", "System", "Asked for", "Regime", "Answer", "IoU", "SWTD", "Image budget",
        "Text budget", "Wrong on fresh draws",
    )  # fmt: skip
    return Table("cases", "All failing cases", columns, rows[:40], frozenset({0, 6, 7, 8, 9}), all_rows=rows)


def _card(case: ModalityCase, box: PictureBox, showing: Showing) -> Card:
    run, clean = case.modality_run, case.modality_run.clean_answer
    label = f"{run.label}, {run.get_regime_display().lower()}"
    operators = [(bar.title, round(bar.severity, 3)) for bar in strategy_bars(case.severities)]
    pictures = [
        box.take(
            run.picture.image_sha256, words=f"Seed image with {run.label}", caption="as it was", tone="ok"
        ),
        box.take(
            case.image_sha256, words=f"Perturbed image with {run.label}", caption="perturbed", tone="bad"
        ),
    ]
    texts = [
        ("Prompt before", clean.prompt if clean else ""), ("Prompt", case.prompt),
        ("Answer before", clean.raw_text if clean else ""), ("Answer", case.raw_text),
        ("Boxes", json_words({"truth": case.truth, "answered": case.boxes})),
    ]  # fmt: skip
    if showing.notes:
        rows = Note.objects.filter(case=case).select_related("author").order_by("pk")
        texts += [
            (f"Note of {one.author}" if showing.names and one.author else "Note", one.text) for one in rows
        ]
    return Card(
        title=f"Case {case.pk}: {label}",
        state=case.get_state_display(),
        tone=TONES.get(case.state, ""),
        sentence=f"{case.get_status_display()}, IoU {case.iou:.3f} (moved truth), SWTD {case.swtd:.3f}.",
        facts=[
            ("System", run.sut.name), ("Scene type", run.stratum or "–"), ("Run", str(run.run_id)),
            ("Run seed", str(run.run.run_seed)), ("Status", case.get_triage_display()),
            ("MS-SSIM, NED", f"{case.ms_ssim:.3f}, {case.ned:.3f}"),
        ],
        tables=[Table(f"case-{case.pk}", "Operators", ("Operator", "Severity"), operators, frozenset({1}))],
        pictures=pictures,
        texts=[(title, text) for title, text in texts if text],
    )  # fmt: skip


def _nowhere(regime: str, operator: str) -> str:
    return ""
