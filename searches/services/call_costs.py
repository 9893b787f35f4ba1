"""What calls can cost at most before they are sent: one call, a batch, a question of a search."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from searches.models import SutRecord
from searches.services.search_limits import SceneSettings
from searches.services.suts import params_of
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.questions import asked_by_rule
from vlmlab.core.suts import prices
from vlmlab.core.suts.asking import AskingParams, choice_prompt
from vlmlab.core.suts.remote_params import RemoteParams
from vlmlab.core.suts.scripted import ScriptedParams


@dataclass(frozen=True)
class Prompted:
    """One call that is about to be sent.

    Attributes:
        prompt: the complete user text.
        size: width and height of the picture in pixels.
    """

    prompt: str
    size: tuple[int, int]


def most_a_call_costs(params: BaseModel, call: Prompted) -> float | None:
    """Return the most that one call can cost in US dollars; None when a price is unknown."""
    if isinstance(params, ScriptedParams):
        return params.price_usd
    if isinstance(params, RemoteParams):
        return prices.most_a_call_costs(params, call.prompt, picture_size=call.size)
    return 0.0


def most_calls_cost(params: BaseModel, calls: Sequence[Prompted]) -> float | None:
    """Return the most that calls can cost together; None when a price is unknown."""
    total = 0.0
    for call in calls:
        cost = most_a_call_costs(params, call)
        if cost is None:
            return None
        total += cost
    return total


def batch_cost(sut: SutRecord, config: RevelioConfig, *, domain: Domain) -> float | None:
    """Return the most that a full batch of a search can cost; None when a price is unknown."""
    cost = most_an_inference_costs(sut, config, domain=domain)
    return None if cost is None else cost * batch_size(config)


def most_an_inference_costs(sut: SutRecord, config: SceneSettings, *, domain: Domain) -> float | None:
    """Return the most that one question of a search can cost; None when a price is unknown."""
    params = params_of(sut)
    asking = getattr(params, "asking", AskingParams())
    longest = max(domain.rules, key=lambda rule: len(rule.question))
    question = asked_by_rule(domain, longest, seed=0, ask_reason=config.ask_reason)
    prompt = choice_prompt(asking, question.prompt)
    return most_a_call_costs(params, Prompted(prompt, (config.image_width, config.image_height)))


def batch_size(config: RevelioConfig) -> int:
    """Return how many calls a full batch of a search sends at most."""
    return min(config.slots, config.inference_budget)
