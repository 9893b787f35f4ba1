"""Template tags of experiments: a measure over run seeds, and a difference between arms."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from searches.services.experiment_pages import cell_interval, cell_text, write_range
from vlmlab.core.revelio.arm_summaries import Measure, MeasureSummary
from vlmlab.core.revelio.experiments import Arm
from vlmlab.core.stats.seeds import PairedMean
from vlmlab.core.verdicts.regimes import MeanRate
from vlmlab.web.numbers import MINUS, write_decimals, write_interval, write_many, write_percent

register = template.Library()
RATES = frozenset({"mfr", "mfr_valid"})


@register.simple_tag
def measure_cell(cell: MeasureSummary, arm: Arm) -> SafeString:
    """Draw the mean over run seeds, its interval, and the counts of all runs together."""
    if cell.seeds is None and cell.measure.name in RATES and arm.config.is_curtailed:
        return format_html(
            '<span class="muted">no rate<span class="sub">{}</span></span>', "stops sets early"
        )
    notes = [cell_interval(cell)]
    if cell.pooled is not None:
        notes.append(f"{cell.pooled.numerator:,} / {cell.pooled.denominator:,}")
    notes = [note for note in notes if note]
    subs = format_html("".join('<span class="sub">{}</span>' for _ in notes), *notes) if notes else ""
    return format_html("{}{}", cell_text(cell), subs)


@register.simple_tag
def mean_rate(rate: MeanRate) -> SafeString:
    """Draw a mean failure rate over sets: percentage, interval over sets, counts."""
    if rate.value is None:
        return format_html("–")
    interval = rate.interval()
    return format_html(
        '{} <span class="muted small">{}</span><span class="sub">{} / {} in {}</span>',
        write_percent(rate.value),
        write_interval(interval.low, interval.high),
        f"{rate.fails:,}",
        f"{rate.samples:,}",
        write_many(rate.sets, "set"),
    )


@register.simple_tag
def measure_difference(measure: Measure, paired: PairedMean) -> str:
    """Write a difference with its sign; differences of shares in percentage points."""
    value = 100.0 * paired.mean if measure.is_share else paired.mean
    text = write_decimals(abs(value), 2 if measure.name == "diversity" else 1)
    sign = "+" if value > 0 else MINUS if value < 0 else ""
    return f"{sign}{text}{' points' if measure.is_share else ''}"


@register.simple_tag
def measure_difference_interval(measure: Measure, paired: PairedMean) -> str:
    """Write the interval of a difference, an en dash where there is none."""
    if paired.low is None or paired.high is None:
        return "–"
    return write_range(measure, paired.low, paired.high).replace(" %", "")
