"""Which findings a smaller one explains: confirmed, part of their concepts, and the same question."""

from collections import defaultdict

from searches.enums import FindingState
from searches.models import Campaign, Finding
from searches.services.domain_store import find_domain
from searches.services.follow_up_families import campaigns_below
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.verdicts.drops import AskedMode, collapse


def collapse_findings(root: Campaign) -> None:
    """Bring the links from findings of a campaign to the smaller ones that explain them up to date.

    Only what is confirmed explains anything: links are made when the smaller finding is confirmed, whichever
    of both was settled first, and taken back when it is not any more. Findings of follow-ups of the campaign
    take part; systems are apart.
    """
    rows = Finding.objects.filter(run__campaign__in=campaigns_below(root)).order_by("pk")
    by_system: dict[int, list[Finding]] = defaultdict(list)
    for finding in rows:
        by_system[finding.sut_id].append(finding)
    if not by_system:
        return
    try:
        domain = find_domain(root.domain_ref)
        for findings in by_system.values():
            _collapse(findings, domain)
    except VlmLabError:  # a domain that is gone explains nothing anew; what was linked stays
        return


def _collapse(findings: list[Finding], domain: Domain) -> None:
    modes = {one.pk: _mode_of(one, domain) for one in findings}
    confirmed = {modes[one.pk]: one for one in reversed(findings) if one.state == FindingState.CONFIRMED}
    for finding in findings:
        mode = modes[finding.pk]
        parts = [other for other in confirmed if set(other.key) < set(mode.key)]
        smaller = collapse([mode, *parts]).get(mode.key)
        covering = next((one for other, one in confirmed.items() if other.key == smaller), None)
        wanted = covering.pk if covering is not None else None
        if finding.covered_by_id != wanted:
            Finding.objects.filter(pk=finding.pk).update(covered_by=wanted)


def _mode_of(finding: Finding, domain: Domain) -> AskedMode:
    key = tuple(finding.concepts)
    return AskedMode(key, finding.expected_action, domain.decide(key).question)
