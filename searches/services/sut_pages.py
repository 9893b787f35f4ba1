"""What the pages of systems show: how each one is doing, its settings in words, what it was used for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from searches.enums import CalibrationStatus, JobKind
from searches.models import AuditEntry, Campaign, Finding, Job, SearchRun, SpendDay, SutRecord, SutVersion
from searches.services.calibrations import (
    CalibrationBadge,
    CalibrationState,
    calibration_of,
    calibration_states,
    find_calibration_job,
)
from searches.services.concept_runs import concept_runs
from searches.services.modality_pages import campaigns_with
from searches.services.served_models import other_model_warning
from searches.services.spend_totals import LOOK_BACK_DAYS
from searches.services.sut_health import Health, health_of, loaded_slugs, spend_cap
from searches.services.sut_requests import ShownRequest, example_prompts
from searches.services.sut_settings import Setting, effective_settings
from searches.services.suts import params_of
from vlmlab.core.errors import VlmLabError
from vlmlab.core.suts.kinds import SUT_KINDS, parse_params

RECENT_RUNS = 8
RECENT_TRIES = 5
RECENT_CHANGES = 10

# Where a setting stands on the page of a system; what stands in no group is among the others.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Boxes", ("asking.convention.",)),
    ("Decoding", ("temperature", "thinking", "max_output_tokens", "max_new_tokens", "system_prompt")),
    (
        "Limits and prices",
        (
            "concurrency",
            "requests_per_minute",
            "tokens_per_minute",
            "timeout_s",
            "input_price_usd",
            "output_price_usd",
            "spend_cap_usd",
        ),
    ),
)
OTHERS = "Model"


@dataclass(frozen=True)
class CalibrationWord:
    """What calibration says of a system: state of its badge and words, for boxes and for answers."""

    boxes: tuple[str, str]
    answers: tuple[str, str]
    is_done: bool


@dataclass(frozen=True)
class SutLine:
    """One row of the list.

    Attributes:
        is_readable: whether its stored settings are valid.
    """

    sut: SutRecord
    kind_title: str
    health: Health
    calibration: CalibrationWord
    is_readable: bool


@dataclass(frozen=True)
class Version:
    """One identity under which a system was loaded, with the runs that were made with it."""

    row: SutVersion
    n_runs: int
    is_current: bool


@dataclass(frozen=True)
class Change:
    """One change of a system: when, who, and which settings."""

    entry: AuditEntry
    changed: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class SutOverview:
    """Everything the page of a system shows."""

    sut: SutRecord
    kind_title: str
    health: Health
    setting_groups: tuple[tuple[str, tuple[Setting, ...]], ...]
    settings_problem: str
    requests: tuple[ShownRequest, ...]
    calibration: CalibrationState
    calibration_word: CalibrationWord
    calibration_job: Job | None
    is_remote: bool
    is_editable: bool
    takes_key: bool
    spend_cap: float | None
    spend_days: tuple[SpendDay, ...]
    versions: tuple[Version, ...]
    changes: tuple[Change, ...]
    runs: tuple[SearchRun, ...]
    n_runs: int
    n_findings: int
    profiles: tuple[Campaign, ...]
    tries: tuple[Job, ...]
    other_model: str


def suts_with_counts() -> QuerySet[SutRecord]:
    """Return systems with ``n_runs`` and ``n_findings``, counted in subqueries."""
    return SutRecord.objects.annotate(
        n_runs=_counted(concept_runs().filter(sut=OuterRef("pk"))),
        n_findings=_counted(Finding.objects.filter(sut=OuterRef("pk"))),
    )


def enabled_suts() -> list[SutRecord]:
    """Return the systems that may be asked, by name."""
    return list(SutRecord.objects.filter(is_enabled=True).order_by("name"))


def sut_lines(suts: Sequence[SutRecord]) -> list[SutLine]:
    """Return the rows of the list; two queries for all of them."""
    loaded, states = loaded_slugs(), calibration_states(suts)
    return [
        SutLine(
            sut,
            _kind_title(sut),
            health_of(sut, loaded=loaded),
            calibration_word(states[sut.pk]),
            is_readable=_is_readable(sut),
        )
        for sut in suts
    ]


def sut_overview(sut: SutRecord) -> SutOverview:
    """Return everything the page of a system shows."""
    settings, problem = effective_settings(sut)
    runs = concept_runs().filter(sut=sut)
    recent = tuple(runs.select_related("campaign").order_by("-id")[:RECENT_RUNS])
    calibration = calibration_of(sut)
    return SutOverview(
        sut=sut,
        kind_title=_kind_title(sut),
        health=health_of(sut, loaded=loaded_slugs()),
        setting_groups=_grouped(settings),
        settings_problem=problem,
        requests=() if problem else example_prompts(parse_params(sut.kind, sut.params)),
        calibration=calibration,
        calibration_word=calibration_word(calibration),
        calibration_job=find_calibration_job("", sut),
        is_remote=_is_remote(sut),
        is_editable=sut.kind in SUT_KINDS and SUT_KINDS[sut.kind].is_web_registrable,
        takes_key=sut.kind in SUT_KINDS and bool(SUT_KINDS[sut.kind].key_words),
        spend_cap=spend_cap(sut.params),
        spend_days=spend_days(sut),
        versions=_versions(sut),
        changes=_changes(sut, {setting.path: setting.name for setting in settings}),
        runs=recent,
        other_model=other_model_warning(sut, [run.pk for run in recent]),
        n_runs=runs.count(),
        n_findings=Finding.objects.filter(sut=sut).count(),
        profiles=tuple(campaigns_with(sut)[:RECENT_RUNS]),
        tries=tuple(
            Job.objects.filter(kind=JobKind.TRY_SUT, params__sut=sut.slug).order_by("-created_at")[
                :RECENT_TRIES
            ]
        ),
    )


def calibration_word(state: CalibrationState) -> CalibrationWord:
    """Return what calibration says of a system, in a word or two each for boxes and answers."""
    return CalibrationWord(
        _in_words(state.boxes_badge, "Fit"),
        _in_words(state.answers_badge, "Can be read"),
        is_done=state.are_boxes_calibrated and state.are_answers_calibrated,
    )


def spend_days(sut: SutRecord, *, today: date | None = None) -> tuple[SpendDay, ...]:
    """Return what each of the last days with calls took, oldest first."""
    since = (today or timezone.now().date()) - timedelta(days=LOOK_BACK_DAYS - 1)
    return tuple(SpendDay.objects.filter(sut=sut, day__gte=since).order_by("day"))


def _in_words(badge: CalibrationBadge, good: str) -> tuple[str, str]:
    return badge.state, good if badge.label == CalibrationStatus.CALIBRATED.label else badge.label


def _grouped(settings: Sequence[Setting]) -> tuple[tuple[str, tuple[Setting, ...]], ...]:
    groups: dict[str, list[Setting]] = {title: [] for title in (OTHERS, *(title for title, _ in GROUPS))}
    for setting in settings:
        if setting.path.startswith("asking.") and not setting.path.startswith("asking.convention."):
            continue  # the prompts as they are sent stand on the page
        title = next(
            (title for title, names in GROUPS if any(setting.path.startswith(name) for name in names)), OTHERS
        )
        groups[title].append(setting)
    return tuple((title, tuple(rows)) for title, rows in groups.items() if rows)


def _versions(sut: SutRecord) -> tuple[Version, ...]:
    counts = dict(
        SearchRun.objects.filter(sut=sut)
        .order_by()
        .values_list("checkpoint__fingerprint")
        .annotate(n=Count("pk"))
    )
    return tuple(
        Version(row, counts.get(row.fingerprint, 0), row.fingerprint == sut.fingerprint)
        for row in SutVersion.objects.filter(sut=sut)
    )


def _changes(sut: SutRecord, titles: Mapping[str, str]) -> tuple[Change, ...]:
    entries = AuditEntry.objects.filter(object_type="sutrecord", object_id=str(sut.pk)).order_by("-id")
    return tuple(Change(entry, _differences(entry, titles)) for entry in entries[:RECENT_CHANGES])


def _differences(entry: AuditEntry, titles: Mapping[str, str]) -> tuple[tuple[str, str, str], ...]:
    """Return name, earlier and later value of each setting that a change changed."""
    if entry.verb != "edited":
        return ()
    before, after = _flat(entry.before), _flat(entry.after)
    return tuple(
        (_title(name.removeprefix("params."), titles), _text(before.get(name)), _text(after.get(name)))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    )


def _title(name: str, titles: Mapping[str, str]) -> str:
    return titles.get(name) or name.replace("_", " ").capitalize()


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _text(value: Any) -> str:
    if value in (None, "", [], {}):
        return "nothing"
    return f"{value:,.10g}" if isinstance(value, float) else str(value)


def _is_readable(sut: SutRecord) -> bool:
    try:
        params_of(sut)
    except VlmLabError:
        return False
    return True


def _kind_title(sut: SutRecord) -> str:
    return SUT_KINDS[sut.kind].title if sut.kind in SUT_KINDS else sut.kind


def _is_remote(sut: SutRecord) -> bool:
    return sut.kind in SUT_KINDS and SUT_KINDS[sut.kind].is_remote


def _counted(rows: "QuerySet[SearchRun] | QuerySet[Finding]") -> Coalesce:
    counted = rows.order_by().values("sut").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted), 0)
