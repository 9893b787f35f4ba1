"""What is sent and received about regressions."""

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field

from searches.api.shapes.common import Input
from searches.models import Campaign
from searches.services.regressions import ModeLine, RegressionPage, regression_page


class NewRegression(Input):
    """A regression to start."""

    family: str = Field(max_length=64, description="Short name of a regression family.", examples=["cones"])
    sut: str = Field(max_length=64, description="Short name of the system that is tried.")
    baseline: str = Field("", max_length=64, description="Another baseline than the family's.")
    scenes: int | None = Field(None, ge=1, le=2_000, description="Fresh scenes a mode; empty: the family's.")
    seed: int | None = Field(
        None, ge=0, le=2**63 - 1, description="Where scenes come from; empty: scenes that nobody was asked."
    )


class ModeShape(Schema):
    """One pinned mode, or test case, on both systems; no rate of a mode that has no pairs."""

    words: str = Field(examples=["Cone, far + Fog"])
    concepts: list[str]
    verdict: str = Field(
        description="worse, fixed, flaky, still_failing, pass, not_enough or not_drawn; empty before the end."
    )
    is_new: bool = Field(description="Surely below the threshold before, surely at or above it now.")
    n: int = Field(description="Scenes that both answered.")
    old_fails: int
    new_fails: int
    old_only: int = Field(description="Scenes that only the baseline failed.")
    new_only: int = Field(description="Scenes that only the candidate failed.")
    p_holm: float | None = Field(description="Exact McNemar test after Holm.")
    difference_high: float | None = Field(
        description="The candidate surely fails at most this much more often."
    )

    @classmethod
    def of(cls, line: ModeLine) -> "ModeShape":
        """Return what is sent of a mode."""
        counts, reading = line.counts, line.reading
        return cls(
            words=line.words,
            concepts=list(line.old_item.concepts),
            verdict=line.verdict,
            is_new=bool(reading and reading.is_new),
            n=counts.n,
            old_fails=counts.first,
            new_fails=counts.second,
            old_only=counts.first_only,
            new_only=counts.second_only,
            p_holm=reading.adjusted if reading else None,
            difference_high=reading.difference_high if reading else None,
        )


class RegressionShape(Schema):
    """A regression with its verdict, once both systems have answered everything."""

    id: int
    family: str | None = Field(description="Short name; null where the family was deleted.")
    baseline: str | None
    candidate: str | None
    is_ended: bool = Field(description="Nothing more will be asked by itself.")
    verdict: Literal["pass", "fail", "not_enough", ""] = Field(
        description="Empty before the end, and for ever where a run was ended early or broke."
    )
    sentence: str = Field(description="The verdict in words.")
    runs: list[int] = Field(description="Ids of its runs, the baseline's first.")
    created_at: datetime
    modes: list[ModeShape]

    @classmethod
    def of(cls, campaign: Campaign) -> "RegressionShape":
        """Return what is sent of a regression."""
        page: RegressionPage = regression_page(campaign)
        return cls(
            id=campaign.pk,
            family=page.family.slug if page.family else None,
            baseline=page.baseline.slug if page.baseline else None,
            candidate=page.candidate.slug if page.candidate else None,
            is_ended=page.is_final,
            verdict=page.verdict,  # type: ignore[arg-type]  # one of the words
            sentence=page.sentence,
            runs=[run.pk for run in page.runs],
            created_at=campaign.created_at,
            modes=[ModeShape.of(line) for line in page.modes],
        )
