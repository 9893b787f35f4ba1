"""What a transfer asks: the top sets of some systems and random ones, all of them of every target."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from searches.enums import FindingState
from searches.models import Campaign, Finding, SearchRun, SutRecord
from searches.services.concept_runs import concept_runs
from searches.services.domain_store import find_domain
from searches.services.finding_lists import stops_early
from searches.services.follow_up_wishes import follow_up_config
from searches.services.follow_ups import FollowUpWish, ItemWish
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.seeding import rng_for
from vlmlab.core.verdicts.config import TransferConfig

DEFAULT_TOP = 10
MOST_TOP = 100
LARGEST_RANDOM_SIZE = 4  # as the random search draws
TRUST = {FindingState.CONFIRMED: 0, FindingState.SUSPECTED: 1, FindingState.UNDETERMINED: 2}
"""Which findings go first; refuted ones are left out."""


def source_runs(runs: Sequence[int]) -> list[SearchRun]:
    """Return searches by their numbers, in a fixed order; unknown numbers are left out."""
    rows = concept_runs().filter(pk__in=runs).select_related("campaign", "sut")
    return list(rows.order_by("sut__name", "pk"))


def top_findings(runs: Sequence[SearchRun], *, top: int, only: str = "") -> dict[int, list[Finding]]:
    """Return the best findings of each system of some runs: confirmed first, then by rate, each set once.

    Of equals the smaller set and then the older finding goes first. Rates of fresh scenes count where there
    are any; a set that was stopped early has none and stands behind those with one.

    Args:
        runs: searches; several of one system are taken together.
        top: how many sets a system at most.
        only: a state of findings, "" for all but refuted ones.
    """
    rows = Finding.objects.filter(run__in=runs).exclude(state=FindingState.REFUTED)
    if only:
        rows = rows.filter(state=only)
    chosen: dict[int, dict[str, Finding]] = {run.sut_id: {} for run in runs}
    for finding in sorted(rows.select_related("sut", "run__campaign"), key=_rank):
        of_system = chosen[finding.sut_id]
        if len(of_system) < top:
            of_system.setdefault(finding.key, finding)
    return {sut_id: list(found.values()) for sut_id, found in chosen.items()}


def transfer_wish(
    runs: Sequence[SearchRun],
    targets: Sequence[SutRecord],
    *,
    top: int = DEFAULT_TOP,
    only: str = "",
    values: Mapping[str, Any] | None = None,
    name: str = "",
) -> FollowUpWish:
    """Return the wish to ask every target the top sets of the systems of some runs, and random sets.

    Args:
        runs: searches whose findings are taken; all on one version of one domain.
        targets: who is asked; sources among them are measured again.
        top: how many sets of a source at most.
        only: a state of findings, "" for all but refuted ones.
        values: settings of ``TransferConfig`` that differ from their defaults.
        name: of the follow-up.

    Raises:
        VlmLabError: no run, target or set is chosen, or the runs are on several domains.
    """
    campaign = _one_domain(runs)
    if not targets:
        raise VlmLabError("No system is chosen.", hint="Choose whom to ask.", field="targets")
    found = top_findings(runs, top=top, only=only)
    if not any(found.values()):
        raise VlmLabError(
            "These runs have no failure mode to carry over.",
            hint="Choose other runs, or other states of findings.",
            field="runs",
        )
    config = follow_up_config("transfer", campaign, values)
    assert isinstance(config, TransferConfig)
    domain = find_domain(campaign.domain_ref)
    slugs = {run.sut_id: run.sut.slug for run in runs}
    items = _top_items(found, slugs)
    taken = {item.key for item in items}
    items += [
        ItemWish(key=key, settings={"sources": [], "ranks": {}})
        for key in random_sets(
            domain, config.random_sets, seed=campaign.pk, taken=taken, config=campaign.config
        )
    ]
    return FollowUpWish(
        kind="transfer",
        config=config,
        domain_ref=campaign.domain_ref,
        items=[(sut, items) for sut in targets],
        name=name or _name(runs, targets),
        follows=campaign,
        spec={
            "runs": [run.pk for run in runs],
            "sources": list(dict.fromkeys(slugs.values())),
            "targets": [sut.slug for sut in targets],
            "top": top,
        },
    )


def random_sets(
    domain: Domain, count: int, *, seed: int, taken: set[Key], config: Mapping[str, Any]
) -> list[Key]:
    """Return valid sets drawn as the random search draws: a size of one to four, then a set of that size.

    Args:
        domain: the catalogue.
        count: how many; fewer where there are no more.
        seed: of the draws.
        taken: sets that are asked anyway.
        config: stored settings of the search, whose concepts left out are left out here too.
    """
    masks = domain.universe(
        LARGEST_RANDOM_SIZE,
        excluded=config.get("excluded_concepts", ()),
        required=config.get("required_concepts", ()),
    )
    sizes = np.array([int(mask).bit_count() for mask in masks])
    rng = rng_for(seed, "transfer", "random sets")
    left = {
        size: list(rng.permutation(np.flatnonzero(sizes == size))) for size in sorted(set(sizes.tolist()))
    }
    drawn: list[Key] = []
    while len(drawn) < count and any(left.values()):
        open_sizes = [size for size, places in left.items() if places]
        place = left[open_sizes[int(rng.integers(len(open_sizes)))]].pop()
        key = domain.key_of(int(masks[int(place)]))
        if key not in taken:
            drawn.append(key)
    return drawn


def _one_domain(runs: Sequence[SearchRun]) -> Campaign:
    if not runs:
        raise VlmLabError("No run is chosen.", hint="Choose at least one with findings.", field="runs")
    refs = {run.campaign.domain_ref for run in runs}
    if len(refs) > 1:
        raise VlmLabError(
            "These runs search different domains, or versions of one.",
            hint="Choose runs on one version of one domain: only there a set means the same.",
            field="runs",
        )
    return runs[0].campaign


def _top_items(found: Mapping[int, Sequence[Finding]], slugs: Mapping[int, str]) -> list[ItemWish]:
    """Return an item a set; one that several sources share is asked once and counts for each of them."""
    ranks: dict[Key, dict[str, int]] = {}
    findings: dict[Key, Finding] = {}
    for sut_id, rows in found.items():
        for rank, finding in enumerate(rows, start=1):
            key = tuple(finding.concepts)
            ranks.setdefault(key, {})[slugs[sut_id]] = rank
            findings.setdefault(key, finding)
    return [
        ItemWish(
            key=key,
            finding=findings[key],
            settings={"sources": list(of_key), "ranks": of_key},
            expected_action=findings[key].expected_action,
        )
        for key, of_key in ranks.items()
    ]


def _rank(finding: Finding) -> tuple[int, int, float, int, int]:
    if finding.fresh_n:
        has_rate, rate = 0, (finding.fresh_fails or 0) / finding.fresh_n
    elif finding.n and not finding.is_curtailed and not stops_early(finding.run.campaign.config):
        has_rate, rate = 1, finding.fails / finding.n
    else:
        has_rate, rate = 2, 0.0
    return TRUST.get(FindingState(finding.state), 3), has_rate, -rate, finding.size, finding.pk


def _name(runs: Sequence[SearchRun], targets: Sequence[SutRecord]) -> str:
    names = list(dict.fromkeys(run.sut.name for run in runs))
    first = names[0] if len(names) == 1 else f"{len(names)} systems"
    others = targets[0].name if len(targets) == 1 else f"{len(targets)} systems"
    return f"Transfer from {first} to {others}"[:120]
