"""What a transfer will take before it is started: questions, time, money."""

from dataclasses import dataclass

from searches.models import SutRecord
from searches.services.estimates import Estimate, estimate, round_duration
from searches.services.follow_ups import FollowUpWish
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.verdicts.config import TransferConfig


@dataclass(frozen=True)
class TransferPlan:
    """Everything a person should know before a transfer starts.

    Attributes:
        n_sets, n_random: sets asked of every target, and how many of them are random.
        lines: each target with its estimate.
        cost_usd: over systems whose price is known.
        unpriced: names of the systems whose price is unknown.
    """

    n_sets: int
    n_random: int
    scenes: int
    n_inferences: int
    seconds: float
    cost_usd: float
    unpriced: tuple[str, ...]
    lines: tuple[tuple[SutRecord, Estimate], ...]


def plan_transfer(wish: FollowUpWish) -> TransferPlan:
    """Return what a transfer will take, were every scene answered at once.

    Raises:
        VlmLabError: the domain is unknown.
    """
    config = wish.config
    assert isinstance(config, TransferConfig)
    items = wish.items[0][1]
    each = len(items) * config.scenes
    as_search = RevelioConfig.model_construct(
        **RevelioConfig().model_dump()
        | {
            "inference_budget": each,
            "image_width": config.image_width,
            "image_height": config.image_height,
            "backend": config.backend,
            "ask_reason": config.ask_reason,
            "spend_cap_usd": config.spend_cap_usd,
        }
    )
    lines = tuple(
        (sut, estimate(sut, as_search, domain_slug=wish.domain_ref.partition("@")[0]))
        for sut, _ in wish.items
    )
    return TransferPlan(
        n_sets=len(items),
        n_random=sum(not one.settings.get("sources") for one in items),
        scenes=config.scenes,
        n_inferences=each * len(lines),
        seconds=round_duration(sum(one.seconds for _, one in lines)),
        cost_usd=sum(one.cost_usd or 0.0 for _, one in lines),
        unpriced=tuple(sut.name for sut, one in lines if one.cost_usd is None),
        lines=lines,
    )
