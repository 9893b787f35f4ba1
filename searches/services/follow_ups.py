"""Storing a follow-up: a campaign, its runs and all that they settle, before the first question."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from searches.enums import CASE_METHOD, KEY_SEPARATOR
from searches.models import CachedReply, Campaign, FollowUpItem, FollowUpSource, SearchRun, User
from searches.services.audit import record
from searches.services.domain_store import keep_domain
from searches.services.follow_up_checks import checked_domain_of
from searches.services.follow_up_families import (
    LEVELS,
    SET_WHEN_STORED,
    FamilyPlace,
    family_place,
    hold_family,
    placed,
)
from searches.services.follow_up_wished import (
    ACCEPTS_CHANGED,
    MAX_NAME,
    MOST_ITEMS,
    SENT_TWICE_WITHIN,
    FollowUpWish,
    ItemWish,
)
from searches.services.run_log import log_event
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.seeding import derive_seed
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.web.numbers import write_many

__all__ = [
    "ACCEPTS_CHANGED",
    "MAX_NAME",
    "MOST_ITEMS",
    "FollowUpWish",
    "ItemWish",
    "create_follow_up",
    "just_started",
]


@transaction.atomic
def create_follow_up(wish: FollowUpWish, *, by: User | None) -> Campaign:
    """Store a follow-up: one queued run for each system, and its items.

    Raises:
        VlmLabError: nothing is to be asked, a system is switched off, a set cannot be drawn or stands twice,
            or the first questions do not fit into a spending limit.
    """
    domain = checked_domain_of(wish)
    if wish.kind == "confirm":
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
    fixed = {*SET_WHEN_STORED, *LEVELS}  # a later confirmation has those of the first
    return {name: value for name, value in config.items() if name not in fixed}


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
    place = FamilyPlace(n_items)
    if wish.follows is not None:
        is_later = wish.method == CASE_METHOD and config.later_index is not None  # cases chosen one by one
        place = family_place(wish.follows, n_items, method=wish.method, is_later=is_later)
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
