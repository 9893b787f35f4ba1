"""What people wish to know of suspects, as follow-ups to be stored: confirm, ablate, probe, interact."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from searches.enums import CONCEPT_METHOD, FindingState
from searches.models import Campaign, Finding, SearchRun, SutRecord
from searches.services.domain_store import find_domain
from searches.services.follow_up_families import root_of
from searches.services.follow_ups import FollowUpWish, ItemWish
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import VlmLabError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.verdicts.cells import find_bases, plan_cells
from vlmlab.core.verdicts.config import FOLLOW_UP_CONFIGS, FollowUpConfig, FollowUpKind
from vlmlab.core.verdicts.drops import plan_drops
from vlmlab.core.verdicts.paper_protocol import top_by_rate
from vlmlab.core.verdicts.probe import probe_settings
from vlmlab.core.verdicts.queries import block_of

COPIED = (
    "failure_rate_threshold", "ask_reason", "image_width", "image_height", "backend", "slots",
)  # fmt: skip
"""Settings of the search that its follow-ups share: pictures and questions must be the same."""

ItemPlan = tuple[tuple[Key, ...], Mapping[str, Any]]
"""Arms and settings of an item."""


def follow_up_config(
    kind: FollowUpKind, followed: Campaign, values: Mapping[str, Any] | None = None
) -> FollowUpConfig:
    """Return the settings of a follow-up: those of the search for pictures and questions, and a person's.

    Raises:
        ConfigError: an unknown name or a value out of range; ``field`` names it.
    """
    root = root_of(followed)
    copied = {name: root.config[name] for name in COPIED if name in root.config}
    if root.method == CONCEPT_METHOD:
        defaults = RevelioConfig.model_construct()
        copied = {name: getattr(defaults, name) for name in COPIED} | copied
    if copied.get("failure_rate_threshold", 0.0) >= 1.0 and "failure_rate_threshold" not in (values or {}):
        raise VlmLabError(
            "The search calls a set a failure mode only if every answer is wrong; no test can confirm that.",
            hint="Enter a failure rate threshold below 1.",
            field="failure_rate_threshold",
        )
    return checked_settings(FOLLOW_UP_CONFIGS[kind], {**copied, **(values or {})})


def confirm_wish(
    findings: Sequence[Finding] | None = None,
    *,
    campaign: Campaign | None = None,
    values: Mapping[str, Any] | None = None,
    name: str = "",
    accepts_changed_system: bool = False,
) -> FollowUpWish:
    """Return the wish to confirm findings of one campaign, or all that it suspects.

    Each finding is tested on the system that it was found on. The paper's protocol takes the sets with the
    highest rates among them, by system; a curtailed set has no rate.

    Args:
        findings: what to test; None for every suspect of the campaign.
        campaign: the search, where no findings are given.
        values: settings of ``ConfirmConfig`` that differ from their defaults.
        name: of the follow-up.
        accepts_changed_system: also test a system that has changed since.

    Raises:
        VlmLabError: nothing is left to test, or the findings are of several campaigns.
    """
    chosen = (
        list(suspects_of(campaign)) if findings is None and campaign is not None else list(findings or ())
    )
    root = _one_root(chosen, "confirm")
    config = follow_up_config("confirm", root, values)
    if getattr(config, "protocol", "") == "paper":
        chosen = _top(chosen, top=getattr(config, "paper_top", 10))
    return _wish("confirm", config, root, chosen, name=name, accepts_changed_system=accepts_changed_system)


def ablate_wish(
    findings: Sequence[Finding],
    *,
    values: Mapping[str, Any] | None = None,
    name: str = "",
    accepts_changed_system: bool = False,
) -> FollowUpWish:
    """Return the wish to find out which concepts of findings their failures need.

    Raises:
        VlmLabError: no set has a concept that can be left out, or the findings are of several campaigns.
    """
    root = _one_root(findings, "ablate")
    domain = find_domain(root.domain_ref)
    drops = {one.pk: plan_drops(domain, tuple(one.concepts)) for one in findings}
    chosen = [one for one in findings if drops[one.pk].smaller]
    plans = {pk: (plan.arms, plan.settings) for pk, plan in drops.items()}
    if not chosen:
        raise VlmLabError(
            "Nothing can be left out of these sets: what is left could not be drawn, or would be another "
            "question.",
            hint="Choose sets of two or more concepts.",
            field="items",
        )
    config = follow_up_config("ablate", root, values)
    return _wish(
        "ablate", config, root, chosen, plans=plans, name=name, accepts_changed_system=accepts_changed_system
    )


def probe_wish(
    findings: Sequence[Finding],
    *,
    values: Mapping[str, Any] | None = None,
    name: str = "",
    accepts_changed_system: bool = False,
) -> FollowUpWish:
    """Return the wish to ask what a system says that it sees, in the reply in which it decides.

    Raises:
        VlmLabError: nothing is chosen, or the findings are of several campaigns.
    """
    root = _one_root(findings, "probe")
    config = follow_up_config("probe", root, values)
    domain = find_domain(root.domain_ref)
    settings = {one.pk: probe_settings(domain, tuple(one.concepts)) for one in findings}
    plans = {pk: ((), values) for pk, values in settings.items()}
    return _wish(
        "probe", config, root, findings, plans=plans, name=name, accepts_changed_system=accepts_changed_system
    )


def interact_wish(
    run: SearchRun,
    pairs: Iterable[tuple[str, str]],
    *,
    base: Key | None = None,
    values: Mapping[str, Any] | None = None,
    name: str = "",
) -> FollowUpWish:
    """Return the wish to test pairs of concepts in four cells: neither, one, the other, both.

    Args:
        run: whose system is asked.
        pairs: ids of concepts.
        base: concepts that all four cells show; None for the smallest base on which the four ask the same.
        values: settings of ``InteractConfig`` that differ from their defaults.
        name: of the follow-up.

    Raises:
        VlmLabError: no pair is chosen, or the four cells of one cannot be compared.
    """
    root = root_of(run.campaign)
    domain = find_domain(root.domain_ref)
    items = [_four_cells(domain, first, second, base) for first, second in pairs]
    if not items:
        raise VlmLabError("No pair is chosen.", hint="Choose two concepts.", field="items")
    return FollowUpWish(
        kind="interact",
        config=follow_up_config("interact", root, values),
        domain_ref=root.domain_ref,
        items=[(run.sut, items)],
        name=name,
        follows=root,
    )


def suspects_of(campaign: Campaign) -> list[Finding]:
    """Return what a campaign suspects and nothing has settled yet, by run, the surest first."""
    rows = Finding.objects.filter(run__campaign=campaign, state=FindingState.SUSPECTED)
    return list(rows.select_related("run__campaign", "sut").order_by("run_id", "-fails", "n", "pk"))


def _four_cells(domain: Domain, first: str, second: str, base: Key | None) -> ItemWish:
    if first == second:
        raise VlmLabError("Two different concepts are needed.", hint="Choose another one.", field="items")
    bases = find_bases(domain, first, second, most=1) if base is None else [base]
    labels = f"“{domain.concept(first).label}” and “{domain.concept(second).label}”"
    if not bases:
        raise VlmLabError(
            f"No base makes all four cells of {labels} the same question.",
            hint="Choose another pair.",
            field="items",
        )
    try:
        plan = plan_cells(domain, first, second, base=bases[0])
    except ValueError:
        raise VlmLabError(
            f"The base holds one of {labels}.", hint="Choose another base.", field="items"
        ) from None
    if plan.kind != "comparable":
        raise VlmLabError(plan.why, hint="Choose another pair, or another base.", field="items")
    return ItemWish(
        key=plan.keys[0],
        arms=plan.keys[1:],
        block=block_of("cells", *plan.keys[0], plan.first, plan.second),
        settings=plan.settings,
    )


def _one_root(findings: Sequence[Finding], verb: str) -> Campaign:
    if not findings:
        raise VlmLabError(f"Nothing is left to {verb}.", hint="Choose at least one finding.", field="items")
    roots = {root.pk: root for root in (root_of(one.run.campaign) for one in findings)}
    if len(roots) > 1:
        raise VlmLabError(
            "These findings are of several campaigns.",
            hint="Errors are held for one campaign at a time: choose the findings of one.",
            field="items",
        )
    return next(iter(roots.values()))


def _top(findings: Sequence[Finding], *, top: int) -> list[Finding]:
    kept: list[Finding] = []
    for _, group in _by_system(findings):
        rated = [one for one in group if not one.is_curtailed and one.n]
        places = (
            top_by_rate([one.fails / one.n for one in rated], top, run_seed=rated[0].run_id) if rated else []
        )
        kept += [rated[place] for place in places]
    if not kept:
        raise VlmLabError(
            "None of these sets has a failure rate: they were stopped early.",
            hint="Use the sequential protocol, or search without stopping sets early.",
            field="protocol",
        )
    return kept


def _by_system(findings: Iterable[Finding]) -> list[tuple[SutRecord, list[Finding]]]:
    groups: dict[int, tuple[SutRecord, list[Finding]]] = {}
    for finding in findings:
        groups.setdefault(finding.sut_id, (finding.sut, []))[1].append(finding)
    return list(groups.values())


def _wish(
    kind: FollowUpKind,
    config: FollowUpConfig,
    root: Campaign,
    findings: Sequence[Finding],
    *,
    plans: Mapping[int, ItemPlan] | None = None,
    name: str = "",
    accepts_changed_system: bool = False,
) -> FollowUpWish:
    """Return the wish with one item for each set of a system, however often it was found."""
    items: list[tuple[SutRecord, list[ItemWish]]] = []
    for sut, group in _by_system(findings):
        known = {tuple(one.concepts): one for one in reversed(group)}
        chosen = [one for one in group if known[tuple(one.concepts)] is one]
        items.append((sut, [_item(one, (plans or {}).get(one.pk)) for one in chosen]))
    return FollowUpWish(
        kind=kind,
        config=config,
        domain_ref=root.domain_ref,
        items=items,
        name=name,
        follows=root,
        accepts_changed_system=accepts_changed_system,
    )


def _item(finding: Finding, plan: ItemPlan | None) -> ItemWish:
    arms, settings = plan or ((), {})
    return ItemWish(
        key=tuple(finding.concepts),
        finding=finding,
        arms=arms,
        settings=settings,
        expected_action=finding.expected_action,
    )
