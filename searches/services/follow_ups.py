"""Storing a follow-up: a campaign, its runs and all that they settle, before the first question."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from searches.enums import FOLLOW_UP_METHOD, KEY_SEPARATOR, FollowUpName
from searches.models import (
    CachedReply,
    Campaign,
    Envelope,
    FamilyMember,
    Finding,
    FollowUpItem,
    FollowUpSource,
    ModalityCase,
    RegressionFamily,
    SearchRun,
    SutRecord,
    User,
)
from searches.services.audit import record
from searches.services.call_costs import most_an_inference_costs
from searches.services.domain_store import find_domain, keep_domain
from searches.services.follow_up_families import (
    SET_WHEN_STORED,
    FamilyPlace,
    family_place,
    hold_family,
    placed,
)
from searches.services.run_log import log_event
from searches.services.spending import check_first_calls
from vlmlab.core.errors import ConceptError, ConfigError, VlmLabError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.seeding import derive_seed
from vlmlab.core.verdicts.config import ConfirmConfig, FollowUpConfig, FollowUpKind
from vlmlab.core.verdicts.follow_ups import FOLLOW_UPS
from vlmlab.core.verdicts.queries import block_of
from vlmlab.web.numbers import write_many

MOST_ITEMS = 5_000
MAX_NAME = 120
SENT_TWICE_WITHIN = timedelta(minutes=1)
ACCEPTS_CHANGED = "accepts_changed_system"  # in Campaign.plan


@dataclass(frozen=True)
class ItemWish:
    """One thing to settle, as ``ItemSpec`` of the core describes it, with the rows that it is about.

    Attributes:
        key: the concept set; () for a test case.
        finding, case, member: what it is about, where that is stored.
        block: what seeds its scenes; "" for that of the concept set.
        arms: other sets that are asked on the same scenes.
        settings: what only this item has.
        expected_action: "" for what the rules of the domain say.
    """

    key: Key = ()
    finding: Finding | None = None
    case: ModalityCase | None = None
    member: FamilyMember | None = None
    block: str = ""
    arms: tuple[Key, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    expected_action: str = ""

    @property
    def stored_block(self) -> str:
        """The block that is stored."""
        return self.block or block_of("set", *self.key)


@dataclass(frozen=True)
class FollowUpWish:
    """What somebody wants settled.

    Attributes:
        kind: what is done.
        config: the settings of that kind.
        domain_ref: ``slug@version`` of the domain; "" for test cases.
        items: each system with what is asked of it.
        name: "" for one that says what is done.
        follows: the campaign whose suspects these are.
        family, envelope, spec: what it is started from, where that is no campaign.
        run_seed: where the scenes come from; None for scenes that nothing was asked on before.
        accepts_changed_system: also ask a system that is not the one any more in which the suspects were
            found.
    """

    kind: FollowUpKind
    config: FollowUpConfig
    domain_ref: str
    items: Sequence[tuple[SutRecord, Sequence[ItemWish]]]
    name: str = ""
    follows: Campaign | None = None
    family: RegressionFamily | None = None
    envelope: Envelope | None = None
    spec: Mapping[str, Any] = field(default_factory=dict)
    run_seed: int | None = None
    method: str = FOLLOW_UP_METHOD
    accepts_changed_system: bool = False

    @property
    def keys(self) -> set[Key]:
        """Every set that it names."""
        wishes = [one for _, wishes in self.items for one in wishes]
        return {key for one in wishes for key in (one.key, *one.arms) if key}

    @property
    def title(self) -> str:
        """The name, or what is done."""
        entry = FOLLOW_UPS.get(self.kind)
        what = entry.title if entry is not None else self.kind.capitalize()
        return self.name or (f"{what} of {self.follows.name}" if self.follows else what)[:MAX_NAME]


@transaction.atomic
def create_follow_up(wish: FollowUpWish, *, by: User | None) -> Campaign:
    """Store a follow-up: one queued run for each system, and its items.

    Raises:
        VlmLabError: nothing is to be asked, a system is switched off, a set cannot be drawn or stands twice,
            or the first questions do not fit into a spending limit.
    """
    domain = _checked(wish)
    if wish.kind == FollowUpName.CONFIRM and wish.method == FOLLOW_UP_METHOD:
        wish = _in_family(wish)
    campaign = Campaign.objects.create(
        name=wish.title,
        method=wish.method,
        kind=wish.kind,
        domain=domain.slug if domain else "",
        domain_version=domain.version if domain else "",
        dataset=wish.follows.dataset if wish.follows and not domain else None,
        follows=wish.follows,
        plan={ACCEPTS_CHANGED: True} if wish.accepts_changed_system else {},
        config=wish.config.model_dump(mode="json"),
        created_by=by,
    )
    if domain is not None:
        keep_domain(domain, by_id=by.pk if by else None)
    if wish.family or wish.envelope or wish.spec:
        FollowUpSource.objects.create(
            campaign=campaign, family=wish.family, envelope=wish.envelope, spec=dict(wish.spec)
        )
    run_seed = _run_seed(wish, campaign)
    watermark = CachedReply.objects.aggregate(last=Max("id"))["last"] or 0
    for sut, wishes in wish.items:
        run = SearchRun.objects.create(
            campaign=campaign,
            sut=sut,
            queue=sut.queue,
            run_seed=run_seed,
            cache_watermark=watermark,
            created_by=by,
        )
        rows = [_item_row(run, order, one, domain) for order, one in enumerate(wishes)]
        FollowUpItem.objects.bulk_create(rows, batch_size=500)
        log_event(run.pk, f"Queued for {sut.name}: {write_many(len(rows), 'thing')} to settle.")
    after = {"suts": [sut.slug for sut, _ in wish.items], "kind": wish.kind, "run_seed": run_seed}
    record(by, "started", campaign, after=after | {"config": campaign.config})
    return campaign


def just_started(wish: FollowUpWish, *, by: User | None) -> Campaign | None:
    """Return the very same follow-up if this person started it a moment ago: a form that was sent twice.

    Two requests at once take turns at the row of the person.
    """
    if by is None:
        return None
    User.objects.select_for_update().get(pk=by.pk)
    recent = Campaign.objects.filter(
        created_by=by,
        method=wish.method,
        kind=wish.kind,
        follows=wish.follows,
        name=wish.title,
        created_at__gt=timezone.now() - SENT_TWICE_WITHIN,
    )
    wanted = Counter((sut.pk, one.stored_block) for sut, wishes in wish.items for one in wishes)
    for campaign in recent.order_by("-pk")[:5]:
        is_same = _comparable(campaign.config) == _comparable(wish.config.model_dump(mode="json"))
        if is_same and Counter(campaign.items.values_list("run__sut_id", "block")) == wanted:
            return campaign
    return None


def _comparable(config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in config.items() if name not in SET_WHEN_STORED}


def _in_family(wish: FollowUpWish) -> FollowUpWish:
    """Return a confirmation with its place: how many suspects are tested together is fixed here.

    Raises:
        VlmLabError: the settings leave nothing for later suspects, and these are some.
    """
    config = wish.config
    if not isinstance(config, ConfirmConfig) or config.protocol != "sequential":
        return wish
    if wish.follows is not None:
        hold_family(wish.follows)
    n_items = sum(len(wishes) for _, wishes in wish.items)
    place = family_place(wish.follows, n_items) if wish.follows is not None else FamilyPlace(n_items)
    items, next_place = [], place.later_index
    for sut, wishes in wish.items:
        if next_place is None:
            items.append((sut, wishes))
            continue
        first = next_place
        items.append((sut, [_at_place(one, first + number) for number, one in enumerate(wishes)]))
        next_place += len(wishes)
    return replace(wish, config=placed(config, place), items=items)


def _at_place(wish: ItemWish, place: int) -> ItemWish:
    return replace(wish, settings={**wish.settings, "place": place})


def _run_seed(wish: FollowUpWish, campaign: Campaign) -> int:
    """Return the seed of all runs: that of the wish, or one that no other campaign of this lab has."""
    if wish.run_seed is not None:
        return wish.run_seed
    followed = wish.follows.runs.order_by("pk").values_list("run_seed", flat=True) if wish.follows else []
    return derive_seed(next(iter(followed), 0), "follow-up", campaign.pk)


def _item_row(run: SearchRun, order: int, wish: ItemWish, domain: Domain | None) -> FollowUpItem:
    decided = domain.decide(wish.key).action if domain is not None and wish.key else ""
    return FollowUpItem(
        campaign_id=run.campaign_id,
        run=run,
        order=order,
        finding=wish.finding,
        case=wish.case,
        member=wish.member,
        block=wish.stored_block,
        key=KEY_SEPARATOR.join(wish.key),
        concepts=list(wish.key),
        expected_action=wish.expected_action or decided,
        spec={"arms": [list(arm) for arm in wish.arms], "settings": dict(wish.settings)},
    )


def _checked(wish: FollowUpWish) -> Domain | None:
    """Return the domain of a wish that can be stored.

    Raises:
        VlmLabError: see ``create_follow_up``.
    """
    if wish.method == FOLLOW_UP_METHOD and wish.kind not in FOLLOW_UPS:
        known = ", ".join(FOLLOW_UPS)
        raise ConfigError(f"There is no follow-up “{wish.kind}”.", hint=f"Known: {known}.", field="kind")
    n_items = sum(len(wishes) for _, wishes in wish.items)
    if not n_items or not all(wishes for _, wishes in wish.items):
        raise VlmLabError(
            "Nothing is chosen that could be asked.", hint="Choose at least one.", field="items"
        )
    if n_items > MOST_ITEMS:
        raise VlmLabError(
            f"{n_items:,} are chosen; one follow-up settles at most {MOST_ITEMS:,}.",
            hint="Split them over several.",
            field="items",
        )
    if len(wish.name) > MAX_NAME or "\x00" in wish.name:
        raise VlmLabError(f"The name must have at most {MAX_NAME} printable characters.", field="name")
    domain = _domain_of(wish)
    for sut, wishes in wish.items:
        _check_system(sut, wish, domain)
        _check_blocks(wishes)
    if domain is not None:
        for key in sorted(wish.keys):
            _check_drawable(domain, key)
    return domain


def _domain_of(wish: FollowUpWish) -> Domain | None:
    """Return the very version of the domain in which the sets were found.

    Raises:
        ConceptError: it was not kept.
    """
    if not wish.domain_ref:
        return None
    domain = find_domain(wish.domain_ref)
    if "@" in wish.domain_ref and domain.ref != wish.domain_ref:
        raise ConceptError(
            f"The domain {domain.title} has changed since these sets were found.",
            hint="Their version was not kept; search the domain as it is now.",
            field="items",
        )
    return domain


def _check_system(sut: SutRecord, wish: FollowUpWish, domain: Domain | None) -> None:
    if not sut.is_enabled:
        raise VlmLabError(
            f"{sut.name} is switched off.", hint="Switch it on again on its page first.", field="suts"
        )
    if domain is None:
        return
    cost = most_an_inference_costs(sut, wish.config, domain=domain)
    n_calls = wish.config.slots
    check_first_calls(
        sut,
        None if cost is None else cost * n_calls,
        n_calls=n_calls,
        spend_cap_usd=wish.config.spend_cap_usd,
    )


def _check_blocks(wishes: Sequence[ItemWish]) -> None:
    blocks = Counter(one.stored_block for one in wishes)
    twice = next((one for one in wishes if blocks[one.stored_block] > 1), None)
    if twice is not None:
        named = KEY_SEPARATOR.join(twice.key) or "A test case"
        raise VlmLabError(f"{named} is chosen twice.", hint="Leave one of them out.", field="items")


def _check_drawable(domain: Domain, key: Key) -> None:
    reason = domain.why_invalid(domain.canonical(key))
    if reason is not None:
        raise ConceptError(reason, field="items")
    if domain.canonical(key) != key:
        raise ConceptError(
            f"{KEY_SEPARATOR.join(key)} is not written as {domain.title} writes it.",
            hint=f"Write {KEY_SEPARATOR.join(domain.canonical(key))}.",
            field="items",
        )
