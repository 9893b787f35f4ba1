"""Runs of a modality search as the core's tables need them: read once, in as many queries for any number."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from django.db.models import Count, Max, Sum
from django.urls import reverse
from django.utils.http import urlencode

from searches.enums import CaseKind, ModalityStatus
from searches.models import Campaign, DatasetPicture, ModalityCase, ModalityRun
from searches.services.stored_shapes import reading_stored
from vlmlab.core.complaints import checked_settings
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.metrics import swtd, swtd_mean
from vlmlab.core.most.outcomes import FailureCriterion, RunStatus, is_eligible
from vlmlab.core.most.run_results import CaseNumbers, RunResult, on_common_seeds, retained_suts
from vlmlab.core.most.types import REGIMES, AnswerStatus, Regime

Reading = Literal["strict", "lenient"]
KEPT_CAMPAIGNS = 8

_RUN_COLUMNS = (
    "pk", "run_id", "sut__slug", "stratum", "picture_id", "label", "regime", "status", "evaluations",
    "first_hit", "run__active_seconds", "run__render_seconds", "run__sut_seconds", "clean_answer__status",
    "clean_answer__iou", "clean_answer__lenient_status", "clean_answer__lenient_iou",
)  # fmt: skip
_CASE_COLUMNS = (
    "modality_run_id", "status", "iou", "lenient_status", "lenient_iou", "is_faithful", "ms_ssim", "ned",
    "swtd", "swtd_mean", "image_budget", "text_budget",
)  # fmt: skip


@dataclass(frozen=True)
class ResultRow:
    """One run: what the core's tables read, and where it stands on the site.

    Attributes:
        run_id: key of its ``SearchRun``, by which pages name it.
        modality_run_id: key of its ``ModalityRun``, by which cases name it.
        picture_id: key of the seed image.
        label: what was asked for.
        first_hit: evaluations until the first failure; None without one.
        result: the run for the core; ``sut`` is the slug.
    """

    run_id: int
    modality_run_id: int
    picture_id: int
    label: str
    first_hit: int | None
    result: RunResult


@dataclass(frozen=True)
class CampaignResults:
    """All runs of one replicate of a campaign in one reading.

    Attributes:
        rows: of all systems and strata.
        retained: system -> whether enough of its runs end with boxes; the order of names.
    """

    rows: tuple[ResultRow, ...]
    retained: Mapping[str, bool]

    def shown(
        self, *, common_seeds: bool = False, suts: Iterable[str] = (), strata: Iterable[str] = ()
    ) -> list[ResultRow]:
        """Return the rows of a page; see ``results_of``."""
        rows = list(self.rows)
        if common_seeds:
            kept = [row.result for row in rows if self.retained[row.result.sut]]
            seeds = {result.seed for result in on_common_seeds(kept)}
            rows = [row for row in rows if row.result.seed in seeds and self.retained[row.result.sut]]
        wanted_suts, wanted_strata = set(suts), set(strata)
        return [
            row
            for row in rows
            if (not wanted_suts or row.result.sut in wanted_suts)
            and (not wanted_strata or row.result.scene_type in wanted_strata)
        ]


def results_of(
    campaign: Campaign,
    *,
    reading: Reading = "strict",
    common_seeds: bool = False,
    suts: Iterable[str] = (),
    strata: Iterable[str] = (),
    replicate: int = 0,
) -> list[RunResult]:
    """Return the runs of a campaign for the core's tables, in two queries for any number of runs.

    The IoU threshold is that of the search and cannot be chosen: a search that stopped at one says nothing
    about another.

    Args:
        campaign: of the method "most".
        reading: "strict", or "lenient", which also takes what could be saved of a reply. Which seed images
            were searched was decided by the strict reading.
        common_seeds: only seed images that are eligible for every system that is worth a table.
        suts: slugs of systems; empty for all.
        strata: scene types; empty for all.
        replicate: which of the runs of a place; runs of one place are never put together.
    """
    results = campaign_results(campaign, reading=reading, replicate=replicate)
    return [row.result for row in results.shown(common_seeds=common_seeds, suts=suts, strata=strata)]


def campaign_results(
    campaign: Campaign, *, reading: Reading = "strict", replicate: int = 0
) -> CampaignResults:
    """Return all rows of a campaign; kept in memory until one of its runs moves on."""
    return _kept_results(campaign.pk, campaign_mark(campaign), reading, replicate)


def campaign_mark(campaign: Campaign) -> str:
    """Return a text that changes whenever the results of a campaign do (one query)."""
    runs = campaign.modality_runs.order_by()
    counts = runs.values_list("status").annotate(
        Count("pk"), Sum("evaluations"), Max("cases"), Sum("run__active_seconds")
    )
    parts = ["/".join(str(value) for value in row) for row in sorted(counts)]
    return f"{campaign.created_at.timestamp()} {' '.join(parts)}"


def most_config(campaign: Campaign) -> MostConfig:
    """Return the settings of a campaign.

    Raises:
        VlmLabError: they are not those of this version.
    """
    with reading_stored("modality search", hint="It was made by another version of the lab."):
        return checked_settings(MostConfig, campaign.config)


def runs_address(campaign_id: int, **filters: str) -> str:
    """Return the address of the runs of a campaign that a mark stands for; empty filters are left out."""
    chosen = {name: value for name, value in filters.items() if value}
    address = reverse("modality_runs", args=[campaign_id])
    return f"{address}?{urlencode(chosen)}" if chosen else address


def fails(row: ResultRow, criterion: FailureCriterion) -> bool:
    """Return whether a finished run fails by a criterion, at the IoU threshold of its search."""
    case = row.result.case
    return case is not None and criterion.is_met(
        case.status, case.iou, iou_threshold=row.result.iou_threshold
    )


def outcome_word(row: RunResult) -> str:
    """Return how a finished run ended (below, empty, malformed, held); "" for every other run."""
    if row.case is None:
        return ""
    if not row.case.has_boxes:
        return row.case.status.value
    is_below = FailureCriterion.C1.is_met(row.case.status, row.case.iou, iou_threshold=row.iou_threshold)
    return "below" if is_below else "held"


def regimes_of(rows: Sequence[ResultRow]) -> tuple[Regime, ...]:
    """Return the regimes that were run, in their order."""
    having = {row.result.regime for row in rows}
    return tuple(regime for regime in REGIMES if regime in having)


def picture_names(picture_ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Return file name and SHA-256 of seed images by their key (one query)."""
    pictures = DatasetPicture.objects.filter(pk__in=set(picture_ids))
    return {
        pk: (name, digest) for pk, name, digest in pictures.values_list("pk", "file_name", "image_sha256")
    }


@lru_cache(maxsize=KEPT_CAMPAIGNS)
def _kept_results(campaign_id: int, mark: str, reading: Reading, replicate: int) -> CampaignResults:
    campaign = Campaign.objects.get(pk=campaign_id)
    config = most_config(campaign)
    cases = _cases(campaign_id, replicate)
    runs = ModalityRun.objects.filter(campaign_id=campaign_id, replicate=replicate).order_by("run_id")
    rows = tuple(
        _row(values, cases.get(values[0]), reading=reading, config=config)
        for values in runs.values_list(*_RUN_COLUMNS)
    )
    return CampaignResults(rows, retained_suts([row.result for row in rows]))


def _cases(campaign_id: int, replicate: int) -> dict[int, tuple[object, ...]]:
    cases = ModalityCase.objects.filter(
        modality_run__campaign_id=campaign_id, modality_run__replicate=replicate, kind=CaseKind.RETURNED
    )
    return {values[0]: values[1:] for values in cases.order_by().values_list(*_CASE_COLUMNS)}


def _row(
    values: tuple[object, ...], case: tuple[object, ...] | None, *, reading: Reading, config: MostConfig
) -> ResultRow:
    (
        modality_run_id, run_id, sut, stratum, picture_id, label, regime, status, evaluations, first_hit,
        wall_s, perturbation_s, inference_s, clean_word, clean_iou, lenient_word, lenient_iou,
    ) = values  # fmt: skip
    if reading == "lenient" and lenient_word:
        clean_word, clean_iou = lenient_word, lenient_iou
    clean_status = AnswerStatus(str(clean_word)) if clean_word else None
    iou = _number(clean_iou) if clean_status is AnswerStatus.BOXES else 0.0
    run_status = _status(str(status), clean_status, iou, has_case=case is not None, config=config)
    result = RunResult(
        sut=str(sut),
        scene_type=str(stratum),
        seed_image=f"{picture_id}:{label}",
        regime=_REGIMES[str(regime)],
        status=run_status,
        clean_status=clean_status,
        clean_iou=iou,
        iou_threshold=config.iou_threshold,
        case=_numbers(case, iou, reading) if case and run_status is RunStatus.FINISHED else None,
        evaluations=int(_number(evaluations)),
        wall_s=_number(wall_s),
        perturbation_s=_number(perturbation_s),
        inference_s=_number(inference_s),
    )
    return ResultRow(
        run_id=int(_number(run_id)),
        modality_run_id=int(_number(modality_run_id)),
        picture_id=int(_number(picture_id)),
        label=str(label),
        first_hit=None if first_hit is None else int(_number(first_hit)),
        result=result,
    )


_REGIMES: dict[str, Regime] = {regime: regime for regime in REGIMES}


def _status(
    status: str, clean: AnswerStatus | None, clean_iou: float, *, has_case: bool, config: MostConfig
) -> RunStatus:
    """Return how far a run came in the reading that was chosen."""
    if status != ModalityStatus.FINISHED:
        return RunStatus(status)
    if not has_case or clean is None:
        return RunStatus.UNFINISHED
    is_right = is_eligible(
        clean, clean_iou, iou_threshold=config.iou_threshold, baseline_iou=config.baseline_iou
    )
    return RunStatus.FINISHED if is_right else RunStatus.BASELINE_FAILURE


def _numbers(case: tuple[object, ...], clean_iou: float, reading: Reading) -> CaseNumbers:
    word, iou, lenient_word, lenient_iou, is_faithful, likeness, distance, drop, drop_mean, image, text = case
    ms_ssim, ned = _number(likeness), _number(distance)
    if reading == "lenient" and lenient_word:
        word, iou = lenient_word, lenient_iou
    status = AnswerStatus(str(word))
    left = _number(iou) if status is AnswerStatus.BOXES else 0.0
    is_strict = reading == "strict"
    return CaseNumbers(
        status=status,
        iou=left,
        is_faithful=bool(is_faithful),
        ms_ssim=ms_ssim,
        ned=ned,
        swtd=_number(drop) if is_strict else swtd(clean_iou, left, ms_ssim, ned),
        swtd_mean=_number(drop_mean) if is_strict else swtd_mean(clean_iou, left, ms_ssim, ned),
        image_budget=_number(image),
        text_budget=_number(text),
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
