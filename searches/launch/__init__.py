"""Saves a wish and wakes a worker once it is committed; a dead queue delays work, it never loses any."""

from searches.launch.campaigns import (
    raise_limit,
    resume_modality_campaign,
    resume_run,
    retry_call_errors,
    start_campaign,
    start_modality_campaign,
)
from searches.launch.follow_ups import (
    resume_experiment,
    start_canary,
    start_experiment,
    start_follow_up,
    start_retests,
)
from searches.launch.jobs import (
    go_on_with_dataset,
    go_on_with_word_table,
    minimize_case,
    redraw_sample,
    start_calibration,
    start_comparison,
    start_dataset,
    start_job,
    start_seed_import,
    start_telling,
    start_word_table,
)
from searches.launch.waking import wake_up

__all__ = [
    "go_on_with_dataset",
    "go_on_with_word_table",
    "minimize_case",
    "raise_limit",
    "redraw_sample",
    "resume_experiment",
    "resume_modality_campaign",
    "resume_run",
    "retry_call_errors",
    "start_calibration",
    "start_campaign",
    "start_canary",
    "start_comparison",
    "start_dataset",
    "start_experiment",
    "start_follow_up",
    "start_job",
    "start_modality_campaign",
    "start_retests",
    "start_seed_import",
    "start_telling",
    "start_word_table",
    "wake_up",
]
