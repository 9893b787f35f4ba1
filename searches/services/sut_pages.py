"""What the pages of systems show: how each one is doing, its settings in words, what it was used for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from searches.enums import JobKind
from searches.models import Finding, Job, SearchRun, SutRecord
from searches.services.navigation import alive_workers
from vlmlab.core.errors import VlmLabError
from vlmlab.core.suts.kinds import parse_params, sut_kind

RECENT_RUNS = 8
RECENT_TRIES = 5
WORDS = {
    "max_new_tokens": "Longest reply",
    "dtype": "Number format",
    "image_backend": "Picture library",
    "system_prompt": "System turn",
}
EMPTY_MEANS = {
    "temperature": "not set: the most likely token each time",
    "threads": "the library's choice",
    "revision": "the newest",
    "system_prompt": "none",
}


@dataclass(frozen=True)
class Health:
    """How a system is doing: state of its badge, one word, one sentence."""

    state: str
    label: str
    sentence: str


@dataclass(frozen=True)
class SutLine:
    """One row of the list."""

    sut: SutRecord
    kind_title: str
    health: Health


@dataclass(frozen=True)
class Setting:
    """An effective setting: its name in words, its value, and whether it is the default."""

    name: str
    value: str
    is_default: bool
    help: str


@dataclass(frozen=True)
class SutOverview:
    """Everything the page of a system shows."""

    sut: SutRecord
    kind_title: str
    health: Health
    settings: tuple[Setting, ...]
    settings_problem: str
    runs: tuple[SearchRun, ...]
    n_runs: int
    n_findings: int
    tries: tuple[Job, ...]


def suts_with_counts() -> QuerySet[SutRecord]:
    """Return systems with ``n_runs`` and ``n_findings``, counted in subqueries."""
    return SutRecord.objects.annotate(
        n_runs=_counted(SearchRun.objects.filter(sut=OuterRef("pk"))),
        n_findings=_counted(Finding.objects.filter(sut=OuterRef("pk"))),
    )


def enabled_suts() -> list[SutRecord]:
    """Return the systems that may be asked, by name."""
    return list(SutRecord.objects.filter(is_enabled=True).order_by("name"))


def sut_lines(suts: Sequence[SutRecord]) -> list[SutLine]:
    """Return the rows of the list; one query for all of them."""
    loaded = _loaded_slugs()
    return [SutLine(sut, _kind_title(sut), health_of(sut, loaded=loaded)) for sut in suts]


def sut_overview(sut: SutRecord) -> SutOverview:
    """Return everything the page of a system shows."""
    settings, problem = effective_settings(sut)
    runs = SearchRun.objects.filter(sut=sut)
    return SutOverview(
        sut=sut,
        kind_title=_kind_title(sut),
        health=health_of(sut, loaded=_loaded_slugs()),
        settings=settings,
        settings_problem=problem,
        runs=tuple(runs.select_related("campaign").order_by("-id")[:RECENT_RUNS]),
        n_runs=runs.count(),
        n_findings=Finding.objects.filter(sut=sut).count(),
        tries=tuple(
            Job.objects.filter(kind=JobKind.TRY_SUT, params__sut=sut.slug).order_by("-created_at")[
                :RECENT_TRIES
            ]
        ),
    )


def health_of(sut: SutRecord, *, loaded: Mapping[str, str]) -> Health:
    """Return how a system is doing, from its switch, its workers and its last calls."""
    if not sut.is_enabled:
        return Health("off", "Switched off", "No new search may use it.")
    if sut.slug in loaded:
        return Health("ready", "Loaded", f"In the memory of {loaded[sut.slug]}; it answers at once.")
    if sut.n_calls == 0:
        return Health("idle", "Not asked here yet", "Try it on a picture before you search.")
    if sut.n_call_errors and sut.n_call_errors == sut.n_calls:
        return Health("failed", "Fails", f"It has not answered once. {sut.last_error}")
    return Health("ready", "Ready", "It is loaded when a run or a try asks for it.")


def effective_settings(sut: SutRecord) -> tuple[tuple[Setting, ...], str]:
    """Return every setting with its effective value, and why they are not valid ("" when they are)."""
    try:
        params = parse_params(sut.kind, sut.params)
    except VlmLabError as error:
        stored = tuple(
            Setting(name, str(value), is_default=False, help="") for name, value in sut.params.items()
        )
        return stored, str(error)
    rows = []
    for name, info in type(params).model_fields.items():
        value = getattr(params, name)
        shown = EMPTY_MEANS.get(name, "not set") if value in (None, "") else str(value)
        words = WORDS.get(name, name.replace("_", " ").capitalize())
        is_default = not info.is_required() and value == info.get_default()
        rows.append(Setting(words, shown, is_default, info.description or ""))
    return tuple(rows), ""


def _kind_title(sut: SutRecord) -> str:
    try:
        return sut_kind(sut.kind).title
    except VlmLabError:
        return sut.kind


def _loaded_slugs() -> dict[str, str]:
    """Return slug -> host of a living worker that has it in memory."""
    beats = alive_workers().exclude(loaded_sut="").values_list("loaded_sut", "host")
    return dict(beats)


def _counted(rows: "QuerySet[SearchRun] | QuerySet[Finding]") -> Coalesce:
    counted = rows.order_by().values("sut").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted), 0)
