"""Campaigns, runs, concept sets, samples and logs as they are sent and received."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from django.db.models import Count, QuerySet
from ninja import Schema
from pydantic import Field, WithJsonSchema

from searches.api.shapes.common import Input
from searches.enums import RunState, TrialStatus, Verdict
from searches.models import Campaign, RunEvent, Sample, SearchRun, Trial
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.scenes.render.backends import EMBEDDED

_CONFIG_SCHEMA = RevelioConfig.model_json_schema() | {
    "title": "Configuration",
    "examples": [{"algorithm": "sits", "inference_budget": 300}],
}
Config = Annotated[dict[str, Any], WithJsonSchema(_CONFIG_SCHEMA)]


class NewCampaign(Input):
    """A search to start: one run for each system."""

    suts: list[str] = Field(min_length=1, max_length=100, description="Short names.", examples=[["pocket"]])
    domain: str = Field("driving", max_length=64, description="Short name of a domain.")
    method: str = Field("revelio", max_length=16, description="The only one so far.")
    preset: str = Field("", max_length=40, description="Settings to start from, such as `quick_look`.")
    config: Config = Field(default_factory=dict, description="Settings; what is left out has its default.")
    seed: int = Field(0, ge=0, le=2**53 - 1, description="Same seed and settings, same search.")
    name: str = Field("", max_length=120, description="Empty: it says what is searched.")
    confirm: str = Field(
        "",
        max_length=40,
        description="Confirm what is found once the search has ended: `extra`, with inferences beyond the "
        "budget, or `share=0.3`, with a part of it. Empty: not by itself.",
        examples=["share=0.3"],
    )


class SpendingLimit(Input):
    """How much a run may cost from now on."""

    spend_cap_usd: float | None = Field(
        gt=0, le=1_000_000, description="US dollars in all; null takes the limit away.", examples=[25.0]
    )


class Progress(Schema):
    """How far a run is. Call errors count nowhere else and can be asked again alone."""

    inferences: int = Field(description="Answers charged to the budget.")
    inference_budget: int
    answers: int = Field(description="Answers that were judged.")
    wrong: int
    invalid: int = Field(description="Answers that named no single option; they count as wrong too.")
    call_errors: int
    scenes_not_drawn: int
    from_cache: int
    sets: int
    sets_decided: int
    sets_parked: int
    failure_modes: int


class Spending(Schema):
    """What a run cost; 0 where no price is known."""

    usd: float
    cap_usd: float | None = Field(description="The run pauses when it is reached; null: no limit.")
    is_halted: bool = Field(description="Whether it waits because a limit is reached.")
    input_tokens: int
    output_tokens: int


class Seconds(Schema):
    """Where the time went."""

    active: float
    drawing: float
    asking: float
    searching: float


class CampaignShape(Schema):
    """One configuration, searched on one or more systems."""

    id: int
    name: str
    method: str
    domain: str
    domain_version: str
    config: dict[str, Any]
    created_by: str | None
    created_at: datetime
    n_runs: int = Field(description="How many systems it searches on.")


class RunShape(Schema):
    """One search on one system."""

    id: int
    campaign: int
    campaign_name: str
    sut: str = Field(description="Short name of the system.", examples=["pocket"])
    domain: str
    backend: str = Field(
        description="Where its pictures come from: `embedded`, or the short name of a picture source."
    )
    algorithm: str
    seed: int
    state: RunState
    is_final: bool = Field(description="Whether nothing more will happen by itself.")
    ending: str = Field(description="Why it ended, in words.")
    error: str = Field(description="Why it failed or waits, one sentence.")
    hint: str = Field(description="What to do about it.")
    stage: str
    progress: Progress
    spending: Spending
    seconds: Seconds
    created_by: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    page: str = Field(description="Path of its page on the site.", examples=["/runs/12/"])


class CampaignWithRuns(CampaignShape):
    """A campaign with its runs."""

    runs: list[RunShape]


class SetShape(Schema):
    """One concept set of a run. With `is_curtailed`, fails of answers is no failure rate."""

    id: int
    order: int
    key: str
    concepts: list[str]
    size: int
    stage: str
    status: TrialStatus
    fails: int
    passes: int
    invalid: int
    call_errors: int
    is_curtailed: bool
    expected: str
    rule: str


class SampleShape(Schema):
    """One scene of a concept set with the answer to it."""

    id: int
    set: int
    number: int
    scene_seed: int
    picture: str | None = Field(description="Path of the picture; null when it was never drawn.")
    prompt: str
    raw_text: str = Field(description="The reply, untouched.")
    finish_reason: str
    answer_status: str
    letter: str
    answered: str
    expected_letter: str
    expected: str
    rule: str
    direction: str
    verdict: Verdict
    is_cached: bool
    latency_ms: float
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float
    n_attempts: int
    served_model: str
    reason: str
    error: str


class LogLine(Schema):
    """One line of the log of a run."""

    id: int
    at: datetime
    level: str
    text: str

    @classmethod
    def of(cls, event: RunEvent) -> "LogLine":
        """Return what is sent of a line."""
        return cls(id=event.pk, at=event.at, level=event.level, text=event.text)


def counted(rows: QuerySet[Campaign]) -> QuerySet[Campaign]:
    """Return campaigns with what is sent of them."""
    return rows.select_related("created_by").annotate(n_runs=Count("runs"))


def campaign_values(campaign: Campaign, *, n_runs: int) -> dict[str, Any]:
    """Return what is sent of a campaign."""
    names = ("name", "method", "domain", "domain_version", "config", "created_at")
    by = campaign.created_by.username if campaign.created_by else None
    own = {name: getattr(campaign, name) for name in names}
    return own | {"id": campaign.pk, "created_by": by, "n_runs": n_runs}


def campaign_shapes(campaigns: Sequence[Campaign]) -> list[CampaignShape]:
    """Return what is sent of campaigns that ``counted`` gave."""
    return [CampaignShape(**campaign_values(one, n_runs=one.n_runs)) for one in campaigns]  # type: ignore[attr-defined]  # annotated


def run_shapes(runs: Sequence[SearchRun]) -> list[RunShape]:
    """Return what is sent of runs whose campaign, system and creator are fetched."""
    return [run_shape(run) for run in runs]


def run_shape(run: SearchRun) -> RunShape:
    """Return what is sent of a run; every number stands in its row."""
    config = run.campaign.config
    cap = run.spend_cap_usd if run.spend_cap_usd is not None else config.get("spend_cap_usd")
    return RunShape(
        id=run.pk,
        campaign=run.campaign_id,
        campaign_name=run.campaign.name,
        sut=run.sut.slug,
        domain=run.campaign.domain,
        backend=config.get("backend", EMBEDDED),
        algorithm=config.get("algorithm", ""),
        seed=run.run_seed,
        state=RunState(run.state),
        is_final=run.is_final,
        ending=run.ending,
        error=run.error,
        hint=run.hint,
        stage=run.stage,
        progress=_progress(run),
        spending=Spending(
            usd=run.spend_usd,
            cap_usd=cap or None,
            is_halted=run.is_halted_by_spending,
            input_tokens=run.input_tokens,
            output_tokens=run.output_tokens,
        ),
        seconds=Seconds(
            active=run.active_seconds,
            drawing=run.render_seconds,
            asking=run.sut_seconds,
            searching=run.search_seconds,
        ),
        created_by=run.created_by.username if run.created_by else None,
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        page=run.get_absolute_url(),
    )


def set_shapes(trials: Sequence[Trial]) -> list[SetShape]:
    """Return what is sent of concept sets."""
    renamed = {"expected": "expected_action", "rule": "rule_id"}
    names = {name: renamed.get(name, name) for name in SetShape.model_fields}
    return [SetShape(**{name: getattr(one, column) for name, column in names.items()}) for one in trials]


def sample_shapes(samples: Sequence[Sample]) -> list[SampleShape]:
    """Return what is sent of samples."""
    renamed = {
        "set": "trial_id",
        "answered": "answered_action",
        "expected": "expected_action",
        "rule": "rule_id",
        "reason": "reason_text",
    }
    names = {name: renamed.get(name, name) for name in SampleShape.model_fields if name != "picture"}
    return [
        SampleShape(
            **{name: getattr(one, column) for name, column in names.items()},
            picture=picture_path(one.image_sha256),
        )
        for one in samples
    ]


def picture_path(sha256: str) -> str | None:
    """Return where a picture is sent from."""
    return f"/api/v1/pictures/{sha256}.png" if sha256 else None


def _progress(run: SearchRun) -> Progress:
    return Progress(
        inferences=run.n_inferences,
        inference_budget=int(run.campaign.config.get("inference_budget", 0)),
        answers=run.n_observations,
        wrong=run.n_failed,
        invalid=run.n_invalid,
        call_errors=run.n_call_errors,
        scenes_not_drawn=run.n_generation_errors,
        from_cache=run.n_cached,
        sets=run.n_trials,
        sets_decided=run.n_decided,
        sets_parked=run.n_parked,
        failure_modes=run.n_modes,
    )
