"""What the spending limit of a run means whichever its method is: its settings, and the price of a batch."""

from searches.enums import MODALITY_METHOD
from searches.models import ModalityRun, SearchRun
from searches.services.call_costs import Prompted, batch_cost, most_a_call_costs
from searches.services.domain_store import find_domain
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
    return most_config_of(run) if run.campaign.method == MODALITY_METHOD else config_of(run)


def next_batch_cost(run: SearchRun) -> float | None:
    """Return the most that a full batch of a run can cost in US dollars; None when a price is unknown.

    Raises:
        VlmLabError: its settings, its domain or its system are not known to this version.
    """
    if run.campaign.method != MODALITY_METHOD:
        return batch_cost(run.sut, config_of(run), domain=find_domain(run.campaign.domain_ref))
    place = ModalityRun.objects.select_related("picture").get(run=run)
    prompt = localization_prompt(asking_of(run.sut), words_for(place.label, SEVERAL))
    call = Prompted(prompt, (place.picture.width, place.picture.height))
    cost = most_a_call_costs(params_of(run.sut), call)
    return None if cost is None else cost * first_batch_size(most_config_of(run))
