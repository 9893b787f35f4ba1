"""Evidence as HTML: chips of a concept set, a rate with its interval, samples one by one, states."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.concepts import Chip, Concept
from vlmlab.core.stats import Interval, clopper_pearson
from vlmlab.web.domains import known_domain
from vlmlab.web.icons import BADGES, FINDING_SIGNS, GLYPHS, ICONS
from vlmlab.web.numbers import write_count, write_level, write_percent

MARK_STEP = 13
RATE_WIDTH = 92
RATE_WIDTH_LONG = 150

# Letter of a mark -> (inner SVG with its left edge at 0, word in the sentence).
MARKS: dict[str, tuple[str, str]] = {
    "F": ('<rect class="m-fail" x="1" y="1" width="10" height="10" rx="1.5"/>', "failed"),
    "P": ('<circle class="m-pass" cx="6" cy="6" r="4.4"/>', "passed"),
    "?": ('<circle class="m-wait" cx="6" cy="6" r="4.4"/>', "open"),
    "-": ('<path class="m-skip" d="M3 6h6"/>', "not needed"),
    "E": ('<path class="m-error" d="M3 3l6 6M9 3l-6 6"/>', "call error"),
}
VERDICT_MARKS = {"fail": "F", "pass": "P", "call_error": "E", "incompatible": "E"}


def icon(name: str, title: str = "") -> SafeString:
    """Return an icon of the table; with a title it speaks, without one it is decoration."""
    path = ICONS[name]
    if title:
        return format_html(
            '<svg class="icon" viewBox="0 0 16 16" role="img" aria-label="{0}">'
            '<title>{0}</title><path d="{1}"/></svg>',
            title, path,
        )  # fmt: skip
    return format_html('<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="{}"/></svg>', path)


def glyph(kind: str) -> SafeString:
    """Return the sign of a concept's kind, with its words as the title."""
    path, words = GLYPHS.get(kind, GLYPHS["prop"])
    return format_html(
        '<span class="kind" title="{}"><svg viewBox="0 0 12 12" aria-hidden="true">'
        '<path d="{}"/></svg></span>',
        words, path,
    )  # fmt: skip


def chip_html(chip: Chip, *, is_off: bool = False) -> SafeString:
    """Return one chip: glyph, label, and the modifiers joined to it; the ids stand in the tooltip."""
    ids = " + ".join([chip.concept.id, *(modifier.id for modifier in chip.modifiers)])
    modifiers = format_html_join("", '<span class="mod">{}</span>', ((one.label,) for one in chip.modifiers))
    return format_html(
        '<span class="chip{}" title="{}">{}<span>{}</span>{}</span>',
        " off" if is_off else "", ids, glyph(chip.concept.glyph), chip.concept.label, modifiers,
    )  # fmt: skip


def one_chip(concept_id: str, domain_slug: str) -> SafeString:
    """Return one concept as a chip; an id that the domain does not know stands as it is."""
    try:
        return chip_html(Chip(known_domain(domain_slug).concept(concept_id)))
    except ConceptError:
        return plain_chip(concept_id)


def plain_chip(text: str) -> SafeString:
    """Return a chip for an id that the domain no longer knows."""
    return format_html('<span class="chip"><span>{}</span></span>', text)


def chips_html(concepts: Sequence[str], domain_slug: str, *, is_off: bool = False) -> SafeString:
    """Return the chips of a concept set; ids that the domain no longer knows stand as they are."""
    try:
        chips = _joined(concepts, domain_slug)
    except (ConceptError, ValueError):
        return _set(plain_chip(name) for name in concepts)
    if is_off:
        return _set(chip_html(Chip(concept), is_off=True) for concept in _concepts(concepts, domain_slug))
    return _set(chip_html(chip) for chip in chips)


def set_words(concepts: Sequence[str], domain_slug: str) -> str:
    """Return a concept set as plain words for titles and alternative texts: ``Cone, far + Wet road``."""
    try:
        chips = _joined(concepts, domain_slug)
    except (ConceptError, ValueError):
        return " + ".join(concepts)
    return " + ".join(
        ", ".join([chip.concept.label, *(modifier.label for modifier in chip.modifiers)]) for chip in chips
    )


def _joined(concepts: Sequence[str], domain_slug: str) -> tuple[Chip, ...]:
    """Return the chips of a set given in any order; what a modifier changes hangs on the catalogue's."""
    domain = known_domain(domain_slug)
    return domain.groups_for_display(domain.canonical(concepts))


def rate_html(
    fails: int,
    n: int,
    *,
    threshold: float | None = None,
    is_long: bool = False,
    interval_of: Callable[[int, int], Interval] | None = None,
    interval: Interval | None = None,
) -> SafeString:
    """Return bar, interval, percentage and k/n of a rate; the upright line is the threshold.

    The colour says where the whole interval lies: above the threshold, holding it, or below. The interval is
    the exact one at 95 % unless ``interval_of`` gives another, or ``interval`` is one that was stored.
    """
    if n <= 0:
        return mark_safe('<span class="muted">not measured</span>')
    interval = interval or (interval_of or _interval)(fails, n)
    low, high = interval.low, interval.high
    width = RATE_WIDTH_LONG if is_long else RATE_WIDTH
    share = fails / n
    sentence = (
        f"{write_count(fails)} of {write_count(n)}, {write_percent(share)}, "
        f"{write_level(interval.level)} interval {write_percent(low)} to {write_percent(high)}"
    )
    line = (
        format_html('<line class="r-tau" x1="{0}" x2="{0}" y1="1" y2="17"/>', _x(threshold, width))
        if threshold is not None
        else ""
    )
    return format_html(
        '<span class="rate{}{}"><svg viewBox="0 0 {width} 18" role="img" aria-label="{sentence}">'
        '<title>{sentence}</title><line class="r-track" x1="0" x2="{width}" y1="9" y2="9"/>'
        '<line class="r-ci" x1="{}" x2="{}" y1="9" y2="9"/>{}'
        '<circle class="r-dot" cx="{}" cy="9" r="4"/></svg>'
        '<span class="v">{}<small>{}/{}</small></span></span>',
        _rate_class(low, high, threshold), " long" if is_long else "",
        _x(low, width), _x(high, width), line, _x(share, width),
        write_percent(share), write_count(fails), write_count(n), width=width, sentence=sentence,
    )  # fmt: skip


def marks_html(marks: str) -> SafeString:
    """Return samples one by one.

    Args:
        marks: ``F`` failed, ``P`` passed, ``?`` open, ``-`` not needed, ``E`` call error.
    """
    counts = [(marks.count(letter), MARKS[letter][1]) for letter in MARKS]
    sentence = ", ".join(f"{count} {word}" for count, word in counts if count) or "no samples yet"
    width = max(MARK_STEP * len(marks), MARK_STEP)
    # Constant drawings and an integer offset: nothing here comes from outside.
    drawings = "".join(
        f'<g transform="translate({MARK_STEP * place} 0)">{MARKS[letter][0]}</g>'
        for place, letter in enumerate(marks)
    )
    return format_html(
        '<span class="marks"><svg viewBox="0 0 {0} 12" width="{0}" height="12" role="img" aria-label="{1}">'
        "<title>{1}</title>{2}</svg></span>",
        width, sentence, mark_safe(drawings),  # noqa: S308 - see above
    )  # fmt: skip


def counted_marks(fails: int, passes: int, *, total: int, is_final: bool) -> str:
    """Return the letters of a set known by its counts: failures first, then passes, then what is missing."""
    rest = max(total - fails - passes, 0)
    return "F" * fails + "P" * passes + ("-" if is_final else "?") * rest


def badge_html(state: str, label: str) -> SafeString:
    """Return the badge of a run, job or worker."""
    css, is_moving = BADGES.get(state, ("queued", False))
    return format_html('<span class="badge {}{}">{}</span>', css, " is-live" if is_moving else "", label)


def finding_state_html(state: str, label: str, *, is_large: bool = False) -> SafeString:
    """Return the sign and word of a finding's state."""
    return format_html(
        '<span class="state {}{}"><svg viewBox="0 0 16 16" aria-hidden="true">{}</svg>{}</span>',
        state, " large" if is_large else "",
        mark_safe(FINDING_SIGNS.get(state, "")), label,  # noqa: S308 - constant drawings
    )  # fmt: skip


def _set(chips: Iterable[SafeString]) -> SafeString:
    return format_html('<span class="set">{}</span>', format_html_join("", "{}", ((chip,) for chip in chips)))


def _concepts(ids: Sequence[str], domain_slug: str) -> list[Concept]:
    domain = known_domain(domain_slug)
    return [domain.concept(name) for name in ids]


@lru_cache(maxsize=4096)
def _interval(fails: int, n: int) -> Interval:
    return clopper_pearson(fails, n, 0.95)


def _rate_class(low: float, high: float, threshold: float | None) -> str:
    if threshold is None:
        return ""
    return " over" if low > threshold else " under" if high < threshold else " open"


def _x(share: float, width: int) -> str:
    """Return where a share stands on the bar; the dot keeps its radius inside."""
    return f"{4 + share * (width - 8):.1f}"
