"""What a page of a concept set must know of the settings behind it, whether a search or a follow-up asked."""

from dataclasses import dataclass

from searches.enums import FOLLOW_UP_METHOD
from searches.models import SearchRun
from searches.services.live import config_of
from vlmlab.core.errors import ConfigError
from vlmlab.core.verdicts.config import FollowUpConfig


@dataclass(frozen=True)
class SetSettings:
    """Settings of the run that asked a concept set.

    Attributes:
        samples_per_set: what a full set takes; 0 where a follow-up decides that as it goes.
        is_curtailed: whether k/n of its sets is no rate, because when to stop depended on the answers.
    """

    failure_rate_threshold: float
    samples_per_set: int
    is_curtailed: bool
    image_width: int
    image_height: int
    backend: str


def set_settings(run: SearchRun) -> SetSettings:
    """Return the settings of a run of a search or of a follow-up, with its campaign fetched.

    Raises:
        ConfigError: this version does not understand them.
    """
    if run.campaign.method == FOLLOW_UP_METHOD:
        return _of_follow_up(run)
    config = config_of(run)
    return SetSettings(
        failure_rate_threshold=config.failure_rate_threshold,
        samples_per_set=config.samples_per_set,
        is_curtailed=config.is_curtailed,
        image_width=config.image_width,
        image_height=config.image_height,
        backend=config.backend,
    )


def _of_follow_up(run: SearchRun) -> SetSettings:
    names = FollowUpConfig.model_fields
    shared = {name: value for name, value in run.campaign.config.items() if name in names}
    try:
        config = FollowUpConfig.model_validate(shared)
    except ValueError as error:
        raise ConfigError(
            "This version of the lab does not understand the stored settings of this follow-up.",
            hint="Start a new one.",
        ) from error
    return SetSettings(
        failure_rate_threshold=config.failure_rate_threshold,
        samples_per_set=0,
        is_curtailed=True,
        image_width=config.image_width,
        image_height=config.image_height,
        backend=config.backend,
    )
