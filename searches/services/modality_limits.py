"""What the spending limit of a run means whichever its method is: its settings, and the price of a batch."""

from searches.enums import CASE_METHOD, FOLLOW_UP_METHOD, MODALITY_METHOD
from searches.models import ModalityRun, SearchRun
from searches.services.call_costs import (
    Prompted,
    batch_cost,
    most_a_call_costs,
    most_an_inference_costs,
)
from searches.services.domain_store import find_domain
from searches.services.follow_up_live import follow_up_config
from searches.services.live import config_of
from searches.services.modality_costs import SEVERAL, first_batch_size
from searches.services.modality_live import most_config_of
from searches.services.search_limits import SearchLimits
from searches.services.seed_inputs import words_for
from searches.services.suts import asking_of, params_of
from vlmlab.core.suts.asking import localization_prompt


def limits_in_settings(run: SearchRun) -> SearchLimits:
    """Return the settings that bound a run.

    Raises:
        ConfigError: this version does not understand them.
    """
    if run.campaign.method in (FOLLOW_UP_METHOD, CASE_METHOD):
        return follow_up_config(run)
    return most_config_of(run) if run.campaign.method == MODALITY_METHOD else config_of(run)


def next_batch_cost(run: SearchRun) -> float | None:
    """Return the most that a full batch of a run can cost in US dollars; None when a price is unknown.

    Raises:
        VlmLabError: its settings, its domain or its system are not known to this version.
    """
    if run.campaign.method in (FOLLOW_UP_METHOD, CASE_METHOD):
        return _follow_up_batch(run)
    if run.campaign.method != MODALITY_METHOD:
        return batch_cost(run.sut, config_of(run), domain=find_domain(run.campaign.domain_ref))
    place = ModalityRun.objects.select_related("picture").get(run=run)
    prompt = localization_prompt(asking_of(run.sut), words_for(place.label, SEVERAL))
    call = Prompted(prompt, (place.picture.width, place.picture.height))
    cost = most_a_call_costs(params_of(run.sut), call)
    return None if cost is None else cost * first_batch_size(most_config_of(run))


def _follow_up_batch(run: SearchRun) -> float | None:
    """Return the most that a batch of a follow-up can cost; of cases, that of the longest prompt."""
    config = follow_up_config(run)
    if run.campaign.method == FOLLOW_UP_METHOD:
        domain = find_domain(run.campaign.domain_ref)
        cost = most_an_inference_costs(run.sut, config, domain=domain)
        return None if cost is None else cost * config.slots
    prompts = run.items.exclude(case=None).values_list("case__prompt", flat=True)
    longest = max(prompts, key=len, default="")
    pictures = run.items.exclude(case=None).values_list(
        "case__modality_run__picture__width", "case__modality_run__picture__height"
    )
    largest = max(pictures, key=lambda size: size[0] * size[1], default=(0, 0))
    cost = most_a_call_costs(params_of(run.sut), Prompted(longest, largest))
    return None if cost is None else cost * config.slots
