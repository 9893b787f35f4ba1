"""Findings in a report: a table of all, and a card with evidence and scenes for each, confirmed first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Case, IntegerField, Value, When

from searches.enums import FindingState, Verdict
from searches.models import Blob, Campaign, Finding, Note, Sample
from searches.reports.document import Block, Card, Picture, Section, Table, Text
from searches.reports.pictures import PictureBox
from searches.services.finding_lists import stops_early
from searches.services.finding_trails import Drop, FindingTrail, finding_trail
from searches.services.follow_up_families import campaigns_below
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.web.domains import known_domain
from vlmlab.web.evidence import set_words
from vlmlab.web.numbers import write_interval, write_level, write_many, write_p_value, write_percent

MOST_CARDS = 30
PICTURES_A_CARD = 4
LOOKED_AT = 40
ROWS_SHOWN = 60
STATE_ORDER = (
    FindingState.CONFIRMED,
    FindingState.UNDETERMINED,
    FindingState.SUSPECTED,
    FindingState.REFUTED,
)
TONES: Mapping[str, str] = {"confirmed": "bad", "refuted": "ok", "undetermined": "warn", "suspected": ""}


@dataclass(frozen=True)
class Showing:
    """What of people a report shows."""

    notes: bool = True
    names: bool = False


def findings_of(campaigns: Sequence[int]) -> list[Finding]:
    """Return the findings of searches and their follow-ups: confirmed ones first, then by evidence."""
    order = Case(
        *(When(state=state, then=Value(place)) for place, state in enumerate(STATE_ORDER)),
        default=Value(len(STATE_ORDER)),
        output_field=IntegerField(),
    )
    rows = Finding.objects.filter(run__campaign__in=campaigns).select_related("sut", "run__campaign", "trial")
    return list(rows.order_by(order, "covered_by_id", "-fresh_low", "-fails", "n", "pk"))


def findings_section(findings: Sequence[Finding], box: PictureBox, showing: Showing) -> Section:
    """Return all findings as a table, and the first ones in full."""
    if not findings:
        return Section("findings", "Findings", [Text("The search suspects no failure mode.")])
    states = [one.state for one in findings]
    counted = ", ".join(
        f"{states.count(state):,} {state.label.lower()}" for state in STATE_ORDER if state in states
    )
    blocks: list[Block] = [
        Text(f"{write_many(len(findings), 'finding')}: {counted}."),
        Text(
            "Confirmed, refuted and undetermined ones were asked on fresh scenes. The counts that a finding "
            "was found with are biased upwards, because the search keeps what failed; once there are fresh "
            "ones, only those are a rate.",
            is_muted=True,
        ),
        findings_table(findings),
    ]
    blocks += [finding_card(one, box, showing) for one in findings[:MOST_CARDS]]
    if len(findings) > MOST_CARDS:
        blocks.append(
            Text(
                f"{write_many(len(findings) - MOST_CARDS, 'finding')} more stand in the table only.",
                is_muted=True,
            )
        )
    return Section("findings", "Findings", blocks)


def findings_table(findings: Sequence[Finding]) -> Table:
    """Return a row a finding."""
    rows = [
        (
            one.pk, words_of(one), one.get_state_display(), one.sut.name,
            action_label(one.domain_ref, one.expected_action), fresh_words(one), interval_words(one),
            found_words(one), one.get_minimality_display() or "not tested",
        )
        for one in findings
    ]  # fmt: skip
    return Table(
        "findings",
        "All findings",
        ("Finding", "Concepts", "State", "System", "Expected", "Wrong on fresh scenes", "Interval",
         "Found with", "Smallest set"),
        rows[:ROWS_SHOWN],
        frozenset({0}),
        note="intervals hold however long was sampled, and are widened because these sets were chosen",
        all_rows=rows,
    )  # fmt: skip


def finding_card(finding: Finding, box: PictureBox, showing: Showing) -> Card:
    """Return one finding with its evidence and some of its scenes, fresh ones first."""
    trail = finding_trail(finding)
    domain_ref = finding.domain_ref
    facts = [
        ("System", finding.sut.name),
        ("Expected answer", action_label(domain_ref, finding.expected_action)),
        ("Mostly answered", action_label(domain_ref, finding.answered_action) or "–"),
        ("Direction of the error", finding.get_direction_display() or "–"),
        ("Found with", f"{found_words(finding)}, after {finding.found_at_inference:,} inferences"),
        ("Rule", finding.rule_id or "–"),
        ("Concepts", ", ".join(finding.concepts)),
    ]
    if finding.minimality:
        facts.append(("Smallest set", finding.get_minimality_display()))
    if finding.covered_by_id:
        facts.append(("Explained by", f"finding {finding.covered_by_id}"))
    if trail.adjusted is not None:
        facts.append(("Without flagged scenes", f"{trail.adjusted.fails:,} of {trail.adjusted.n:,} wrong"))
    if trail.pinned:
        facts.append(("Pinned in", ", ".join(one.family.name for one in trail.pinned)))
    facts += _triage(finding)
    return Card(
        title=f"Finding {finding.pk}: {words_of(finding)}",
        state=finding.get_state_display(),
        tone=TONES.get(finding.state, ""),
        sentence=evidence_sentence(finding, is_later=_is_later(trail)),
        facts=facts,
        tables=[*_drops(finding, trail), *_recognition(finding, trail)],
        pictures=_pictures(trail, box),
        texts=[*_texts(trail), *_notes(finding, showing)],
    )


def evidence_sentence(finding: Finding, *, is_later: bool = False) -> str:
    """Return what fresh scenes say of a finding, or that none were asked.

    Args:
        finding: any.
        is_later: whether it came after the family was fixed, and stood in the line of later suspects.
    """
    if not finding.fresh_n:
        return "No fresh scene was asked yet: this is a suspicion."
    invalid = f", {finding.fresh_invalid:,} of them invalid" if finding.fresh_invalid else ""
    size = finding.family_size
    family = f", one of K = {size:,} suspects tested together" if size else ""
    if is_later:
        family = (
            f", found after the family of K = {size or 0:,} was fixed and held in the line of later suspects"
        )
    share = write_percent((finding.fresh_fails or 0) / finding.fresh_n)
    return (
        f"On {write_many(finding.fresh_n, 'fresh scene')} {finding.fresh_fails or 0:,} answers were wrong"
        f"{invalid} ({share}); {interval_words(finding)}{family}."
    )


def _is_later(trail: FindingTrail) -> bool:
    return trail.fresh is not None and trail.fresh.item.campaign.config.get("later_index") is not None


def words_of(finding: Finding) -> str:
    """Return its concepts in words."""
    return set_words(finding.concepts, finding.domain_ref)


def action_label(domain_ref: str, action: str) -> str:
    """Return an answer in words; the id where the domain no longer knows it."""
    try:
        domain: Domain = known_domain(domain_ref)
    except (ConceptError, KeyError):
        return action
    return domain.actions.get(action, action)


def fresh_words(finding: Finding) -> str:
    """Return wrong of asked with the share."""
    if not finding.fresh_n:
        return "not asked"
    fails = finding.fresh_fails or 0
    return f"{fails:,} of {finding.fresh_n:,} ({write_percent(fails / finding.fresh_n)})"


def interval_words(finding: Finding) -> str:
    """Return its interval with the level."""
    if finding.fresh_low is None or finding.fresh_high is None:
        return "no interval"
    level = f"{write_level(finding.fresh_level)} interval " if finding.fresh_level else ""
    return f"{level}{write_interval(finding.fresh_low, finding.fresh_high)}"


def found_words(finding: Finding) -> str:
    """Return the counts of the search; a set that was stopped early has no rate, and the words say so."""
    counts = f"{finding.fails:,} of {finding.n:,} wrong"
    early = finding.is_curtailed or stops_early(finding.run.campaign.config)
    return f"{counts}, stopped early" if early else counts


def campaign_below(root: Campaign) -> list[Campaign]:
    """Return the follow-ups of a campaign and theirs, oldest first."""
    numbers = [pk for pk in campaigns_below(root) if pk != root.pk]
    return list(Campaign.objects.filter(pk__in=numbers).select_related("follows").order_by("pk"))


def _triage(finding: Finding) -> list[tuple[str, str]]:
    rows = [("Status", finding.get_triage_display())]
    return [*rows, ("Tags", ", ".join(finding.tags))] if finding.tags else rows


def _drops(finding: Finding, trail: FindingTrail) -> list[Table]:
    if not trail.drops:
        return []
    rows = [
        (
            set_words(drop.left_out, finding.domain_ref), drop.why or drop.words, drop.n,
            drop.fails_with if drop.has_counts else None, drop.fails_without if drop.has_counts else None,
            _difference(drop), write_p_value(drop.adjusted),
        )
        for drop in trail.drops
    ]  # fmt: skip
    return [
        Table(
            f"finding-{finding.pk}-drops",
            "Is every concept needed?",
            ("Left out", "Verdict", "Scenes", "Wrong with it", "Wrong without", "Difference", "Adjusted p"),
            rows,
            frozenset({2, 3, 4}),
            note="the same scenes with and without it; exact McNemar test, Holm over the drops of this set",
        )
    ]


def _difference(drop: Drop) -> str:
    if drop.low is None or drop.high is None:
        return "–"
    return f"{round(100 * drop.low):+d} to {round(100 * drop.high):+d} points"


def _recognition(finding: Finding, trail: FindingTrail) -> list[Table]:
    if trail.probe is None or not trail.probe.concepts:
        return []
    rows = [
        (
            set_words([one.concept], finding.domain_ref),
            None if one.recognition.value is None else round(one.recognition.value, 3),
            write_interval(one.interval.low, one.interval.high) if one.interval else "–",
            one.recognition.replies,
        )
        for one in trail.probe.concepts
    ]
    return [
        Table(
            f"finding-{finding.pk}-recognition",
            "Does it see what the scene shows?",
            ("Concept", "R", "Interval", "Replies"),
            rows,
            frozenset({1, 3}),
            note="R: mean of true statements called true and false ones called false, in the same reply",
        )
    ]


def _pictures(trail: FindingTrail, box: PictureBox) -> list[Picture]:
    found = []
    for sample, label in _shown(trail):
        is_wrong = sample.verdict == Verdict.FAIL
        said = sample.answered_action or sample.letter or sample.answer_status or "no answer"
        domain_ref = sample.trial.run.campaign.domain_ref
        caption = (
            f"{label}, scene {sample.number + 1}: expected "
            f"{action_label(domain_ref, sample.expected_action)}, said {action_label(domain_ref, said)}"
        )
        words = f"Scene of {set_words(sample.trial.concepts, domain_ref)}"
        found.append(
            box.take(sample.image_sha256, words=words, caption=caption, tone="bad" if is_wrong else "ok")
        )
    return found


def _shown(trail: FindingTrail) -> list[tuple[Sample, str]]:
    """Return scenes whose picture is kept, fresh ones first, wrong before right ones; any where none is."""
    found: list[tuple[Sample, str]] = []
    for source in trail.sources:
        rows = source.trial.samples.exclude(image_sha256="").filter(verdict__in=(Verdict.FAIL, Verdict.PASS))
        for sample in rows.order_by("verdict", "number")[:LOOKED_AT]:
            sample.trial = source.trial
            found.append((sample, source.label))
    digests = {sample.image_sha256 for sample, _ in found}
    kept = set(Blob.objects.filter(pk__in=digests).values_list("pk", flat=True))
    with_picture = [one for one in found if one[0].image_sha256 in kept]
    return (with_picture or found)[:PICTURES_A_CARD]


def _texts(trail: FindingTrail) -> list[tuple[str, str]]:
    wrong = next((sample for sample, _ in _shown(trail) if sample.verdict == Verdict.FAIL), None)
    if wrong is None:
        return []
    return [("Prompt of the first scene", wrong.prompt), ("Its answer", wrong.raw_text)]


def _notes(finding: Finding, showing: Showing) -> list[tuple[str, str]]:
    if not showing.notes:
        return []
    rows = Note.objects.filter(finding=finding).select_related("author").order_by("pk")
    return [
        (f"Note of {note.author}" if showing.names and note.author else "Note", note.text) for note in rows
    ]
