"""What the pages of picture sources show: what each needs, what it can draw, who uses it, what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from searches.models import AuditEntry, Campaign, PictureSource, SearchRun
from searches.services.domain_store import current_domains
from searches.services.source_context import backend_kind, registrable_kinds, source_context, source_params
from searches.services.source_obstacles import embedded_obstacle, obstacle_of
from searches.services.sources import is_frozen
from searches.services.sut_settings import Setting, leaf_settings
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.pool_coverage import PoolCoverage, pool_coverage
from vlmlab.core.scenes.render.backend_kinds import BackendKind
from vlmlab.core.scenes.render.backends import EMBEDDED, SCENE_BACKENDS
from vlmlab.core.scenes.render.image_pool_params import ImagePoolParams
from vlmlab.web.numbers import write_many

if TYPE_CHECKING:
    from vlmlab.core.scenes.render.image_api_presets import ImagePreset

RECENT_RUNS = 8
SAMPLES = 5  # of a set, in a search with default settings


@dataclass(frozen=True)
class SourceLine:
    """One row of the list."""

    source: PictureSource
    kind_title: str
    state: tuple[str, str]
    sentence: str


@dataclass(frozen=True)
class DomainLine:
    """Whether a source can make pictures of a domain, with the reason where not."""

    domain: Domain
    obstacle: str


@dataclass(frozen=True)
class SourceOverview:
    """Everything the page of a source shows.

    Attributes:
        checked: the last check, None when nobody has checked it.
        coverage: what its pictures can show; None for a source without a pool, or one that cannot be read.
        coverage_domain: for which domain.
        missing: labels of its concepts that no picture shows.
        problem: why its stored settings cannot be used, "" when they can.
    """

    kind: BackendKind | None
    line: SourceLine
    settings: tuple[Setting, ...]
    problem: str
    domains: tuple[DomainLine, ...]
    checked: AuditEntry | None
    coverage: PoolCoverage | None
    coverage_domain: Domain | None
    missing: tuple[str, ...]
    runs: tuple[SearchRun, ...]
    n_runs: int
    is_frozen: bool


def sources_in_order() -> QuerySet[PictureSource]:
    """Return every source with what a row of the list needs."""
    return PictureSource.objects.select_related("dataset", "api_key", "presence_sut").order_by("name")


def source_lines(sources: Sequence[PictureSource]) -> list[SourceLine]:
    """Return the rows of the list."""
    return [_line(source) for source in sources]


def embedded_lines() -> list[DomainLine]:
    """Return the domains with whether the embedded renderer draws them."""
    return [DomainLine(domain, embedded_obstacle(domain)) for domain in current_domains()]


def embedded_kind() -> BackendKind:
    """Return the renderer that is always there."""
    return SCENE_BACKENDS[EMBEDDED]


def offered_kinds() -> list[BackendKind]:
    """Return the kinds that a person can set up."""
    return registrable_kinds()


def offered_presets() -> "list[ImagePreset]":
    """Return ready-made settings of image-generating models."""
    from vlmlab.core.scenes.render.image_api_presets import IMAGE_PRESETS

    return list(IMAGE_PRESETS.values())


def find_source_preset(kind: str, name: str) -> "ImagePreset | None":
    """Return a preset of a kind by its name, or None."""
    from vlmlab.core.scenes.render.image_api_presets import IMAGE_PRESETS

    return IMAGE_PRESETS.get(name) if kind == "image_api" else None


def source_overview(source: PictureSource) -> SourceOverview:
    """Return everything the page of a source shows."""
    kind = SCENE_BACKENDS.get(source.kind)
    runs = SearchRun.objects.filter(
        campaign__in=Campaign.objects.filter(config__backend=source.slug)
    ).select_related("campaign", "sut")
    problem, settings = "", tuple[Setting, ...]()
    try:
        settings = leaf_settings(source_params(source))
    except VlmLabError as error:
        problem = str(error)
    coverage = _coverage(source)
    return SourceOverview(
        kind=kind,
        line=_line(source),
        settings=settings,
        problem=problem,
        domains=tuple(DomainLine(domain, obstacle_of(source, domain)) for domain in current_domains()),
        checked=AuditEntry.objects.filter(
            object_type="picturesource", object_id=str(source.pk), verb="checked"
        )
        .order_by("-id")
        .first(),
        coverage=coverage[1] if coverage else None,
        coverage_domain=coverage[0] if coverage else None,
        missing=tuple(coverage[0].concept(one).label for one in coverage[1].without) if coverage else (),
        runs=tuple(runs.order_by("-id")[:RECENT_RUNS]),
        n_runs=runs.count(),
        is_frozen=is_frozen(source),
    )


def _coverage(source: PictureSource) -> tuple[Domain, PoolCoverage] | None:
    """Return what a pool can show of the domain that it is tagged for."""
    if source.dataset is None or not source.dataset.domain:
        return None
    try:
        domain = next(one for one in current_domains() if one.slug == source.dataset.domain)
        pool = source_context(source).pool
        params = source_params(source)
        match = params.match if isinstance(params, ImagePoolParams) else "contains"
        return None if pool is None else (domain, pool_coverage(domain, pool, fewest=SAMPLES, match=match))
    except (VlmLabError, StopIteration):
        return None


def _line(source: PictureSource) -> SourceLine:
    kind = SCENE_BACKENDS.get(source.kind)
    title = kind.title if kind else source.kind
    if not source.is_enabled:
        return SourceLine(source, title, ("off", "Switched off"), "No new search may use it.")
    try:
        backend_kind(source.kind)
    except VlmLabError as error:
        return SourceLine(source, title, ("failed", "Unknown kind"), error.message)
    if source.n_pictures == 0 and source.n_refusals == 0:
        return SourceLine(source, title, ("idle", "Not used yet"), "Check it before you search.")
    made = f"{write_many(source.n_pictures, 'picture')} so far."
    return SourceLine(source, title, ("ready", "Ready"), made)


def copy_values(source: PictureSource) -> dict[str, Any]:
    """Return the form values that would set up the same source again."""
    return {
        "name": f"{source.name} (copy)"[:120],
        "description": source.description,
        **row_values(source),
    }


def row_values(source: PictureSource) -> dict[str, str]:
    """Return the rows that a source names, as a form shows them."""
    return {
        "dataset": str(source.dataset_id or ""),
        "api_key": str(source.api_key_id or ""),
        "presence_sut": str(source.presence_sut_id or ""),
    }
