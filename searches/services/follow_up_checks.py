"""Whether a follow-up that somebody wishes can be stored; what is wrong is said before anything is."""

from collections import Counter
from collections.abc import Sequence

from searches.enums import FOLLOW_UP_METHOD, KEY_SEPARATOR
from searches.models import SutRecord
from searches.services.call_costs import most_an_inference_costs
from searches.services.domain_store import find_domain
from searches.services.follow_up_wished import MAX_NAME, MOST_ITEMS, FollowUpWish, ItemWish
from searches.services.spending import check_first_calls
from vlmlab.core.errors import ConceptError, ConfigError, VlmLabError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.verdicts.follow_ups import FOLLOW_UPS


def checked_domain_of(wish: FollowUpWish) -> Domain | None:
    """Return the domain of a wish that can be stored.

    Raises:
        VlmLabError: nothing is to be asked, a system is switched off, a set cannot be drawn or stands twice,
            or the first questions do not fit into a spending limit.
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
