"""What a decision card asks: fresh draws from every cell of an envelope, the same for every system."""

from collections.abc import Sequence

from django.db.models import Max
from django.utils import timezone

from searches.models import Campaign, Envelope, SutRecord
from searches.services.envelopes import domain_of, stored_of
from searches.services.follow_ups import MAX_NAME, FollowUpWish, ItemWish
from vlmlab.core.errors import VlmLabError
from vlmlab.core.seeding import derive_seed
from vlmlab.core.verdicts.envelope import check_envelope
from vlmlab.core.verdicts.envelope_search import cell_items


def card_wish(
    envelope: Envelope,
    suts: Sequence[SutRecord],
    *,
    spend_cap_usd: float | None = None,
    run_seed: int | None = None,
) -> FollowUpWish:
    """Return what a card of an envelope asks of systems: all of them the same sets on the same scenes.

    Args:
        envelope: the declaration as it stands now; the card keeps it.
        suts: systems; each gets a card of its own.
        spend_cap_usd: US dollars that each run may cost; None for no limit.
        run_seed: where draws and scenes come from; None for ones that nothing was asked on before.

    Raises:
        VlmLabError: the envelope is archived, nothing fits a cell any more, or no system is chosen.
    """
    if envelope.is_archived:
        raise VlmLabError(f"“{envelope.name}” is archived.", hint="Bring it back first.")
    if not suts:
        raise VlmLabError("No system is chosen.", hint="Choose at least one.", field="suts")
    stored, domain = stored_of(envelope), domain_of(envelope)
    members = check_envelope(domain, stored.spec)
    seed = _fresh_seed(envelope) if run_seed is None else run_seed
    cells = cell_items(domain, stored.spec, members, level=stored.level, run_seed=seed)
    items = [ItemWish(block=one.block, arms=one.arms, settings=one.settings) for one in cells]
    return FollowUpWish(
        kind="envelope",
        config=stored.config(spend_cap_usd=spend_cap_usd),
        domain_ref=domain.ref,
        items=[(sut, items) for sut in suts],
        name=f"Decision card: {envelope.name}"[:MAX_NAME],
        envelope=envelope,
        spec={"envelope": envelope.spec},
        run_seed=seed,
    )


def _fresh_seed(envelope: Envelope) -> int:
    """Return a seed that no card had: draws must be new, or a system could have been made to pass them."""
    last = Campaign.objects.aggregate(last=Max("pk"))["last"] or 0
    moment = int(timezone.now().timestamp() * 1_000_000)
    return derive_seed(moment, "decision card", f"{envelope.pk}", last)
