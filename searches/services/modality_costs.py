"""What a question of a modality search can cost at most, before anything is asked."""

from collections.abc import Sequence

from searches.models import SutRecord
from searches.services.call_costs import Prompted, most_a_call_costs
from searches.services.seed_inputs import words_for
from searches.services.seed_plans import ChosenSeed
from searches.services.suts import asking_of, params_of
from vlmlab.core.most.config import MostConfig
from vlmlab.core.suts.asking import localization_prompt

SEVERAL = 2


def longest_call(sut: SutRecord, seeds: Sequence[ChosenSeed]) -> Prompted:
    """Return a call with the longest clean prompt and the largest picture of a grid; at least one seed.

    Raises:
        ConfigError: the stored settings of the system are not valid any more.
    """
    label = max((seed.label for seed in seeds), key=len)
    largest = max(seeds, key=lambda seed: seed.row.width * seed.row.height).row
    prompt = localization_prompt(asking_of(sut), words_for(label, SEVERAL))
    return Prompted(prompt, (largest.width, largest.height))


def most_a_question_costs(sut: SutRecord, seeds: Sequence[ChosenSeed]) -> float | None:
    """Return the most that one evaluation can cost in US dollars; None when a price is unknown.

    Raises:
        ConfigError: the stored settings of the system are not valid any more.
    """
    return most_a_call_costs(params_of(sut), longest_call(sut, seeds))


def first_batch_size(config: MostConfig) -> int:
    """Return how many calls a full batch sends at most."""
    return min(config.slots, config.inference_budget)
