"""Checks of picture sources before anything is launched: what is missing, and what cannot be shown."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlowError

from django.db import transaction

from searches.models import PictureSource, User
from searches.services.audit import record
from searches.services.domain_store import current_domain
from searches.services.picture_bills import most_pictures_cost
from searches.services.scene_sources import find_source
from searches.services.search_limits import SceneSettings
from searches.services.source_context import backend_kind, source_context, source_params
from searches.services.source_obstacles import embedded_obstacle, obstacle_of
from vlmlab.core.errors import GenerationError, VlmLabError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.pool_coverage import well_shown_size
from vlmlab.core.scenes.render.backend_kinds import BackendContext, BackendKind, BackendParams
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.core.scenes.render.image_pool_params import ImagePoolParams
from vlmlab.web.numbers import write_money

CHECK_SECONDS = 20.0
MOST_NAMED = 6
ALL_THERE = "Everything that it needs is there."


def check_launch(domain: Domain, config: RevelioConfig) -> None:
    """Make sure that a search can have its pictures; may connect, for some seconds at most.

    Raises:
        VlmLabError: what is missing, and what to do; ``field`` is one of the form that starts a search.
    """
    check_pictures(domain, config, without=domain.canonical(config.excluded_concepts))


def check_pictures(domain: Domain, config: SceneSettings, *, without: Collection[str]) -> None:
    """Make sure that pictures can be had; may connect, for some seconds at most.

    Args:
        domain: what is shown.
        config: what makes the pictures.
        without: concepts that no picture will show.

    Raises:
        VlmLabError: what is missing, and what to do; ``field`` is one of the form that starts a search.
    """
    if config.backend == EMBEDDED:
        obstacle = embedded_obstacle(domain)
        if obstacle:
            raise GenerationError(obstacle, field="backend")
        return
    try:
        _check_source(find_source(config.backend), domain, config, without=without)
    except VlmLabError as error:
        kept = error.field if error.field in ("excluded_concepts", "spend_cap_usd") else "backend"
        raise GenerationError(error.message, hint=error.hint, field=kept) from error


def check_now(source: PictureSource, *, by: User | None) -> str:
    """Check a source for its own domain, or for the first that it can draw; returns what was found.

    Raises:
        VlmLabError: what is missing, and what to do.
    """
    domain = checked_domain(source)
    try:
        run_check(source, domain)
        missing = unpictured(source, domain)
    except VlmLabError as error:
        _note(source, str(error), by=by)
        raise
    found = ALL_THERE
    if missing:
        found = f"{ALL_THERE} It has no picture of {named(domain, missing)}; searches must leave them out."
    _note(source, found, by=by)
    return found


def checked_domain(source: PictureSource) -> Domain:
    """Return the domain that a source is checked for.

    Raises:
        ConceptError: the domain of its dataset is gone.
    """
    slug = source.dataset.domain if source.dataset is not None and source.dataset.domain else "driving"
    return current_domain(slug)


def run_check(source: PictureSource, domain: Domain) -> None:
    """Let a kind look for what it needs, for a limited time.

    Raises:
        VlmLabError: something is missing, or it takes too long.
    """
    kind, params = backend_kind(source.kind), source_params(source)
    _timed(kind, domain, params, source_context(source))


def unpictured(source: PictureSource, domain: Domain) -> tuple[str, ...]:
    """Return the concepts that a source can never show.

    Raises:
        VlmLabError: its settings or its dataset cannot be used.
    """
    return backend_kind(source.kind).unpictured(domain, source_params(source), source_context(source))


def shown_size(source: PictureSource, domain: Domain) -> int | None:
    """Return how large the sets of a search should be for a pool to show most of them; None for other kinds.

    Raises:
        VlmLabError: its settings or its dataset cannot be used.
    """
    params, pool = source_params(source), source_context(source).pool
    if pool is None or not isinstance(params, ImagePoolParams):
        return None
    return well_shown_size(domain, pool, match=params.match, excluded=unpictured(source, domain))


def named(domain: Domain, concepts: tuple[str, ...]) -> str:
    """Return the labels of concepts, the first ones and how many more."""
    labels = [f"“{domain.concept(one).label}”" for one in concepts[:MOST_NAMED]]
    more = f" and {len(concepts) - MOST_NAMED} more" if len(concepts) > MOST_NAMED else ""
    return ", ".join(labels) + more


def _check_source(
    source: PictureSource, domain: Domain, config: SceneSettings, *, without: Collection[str]
) -> None:
    obstacle = obstacle_of(source, domain)
    if obstacle:
        raise GenerationError(obstacle)
    missing = set(unpictured(source, domain)) - set(without)
    if missing:
        left = tuple(concept.id for concept in domain.concepts if concept.id in missing)
        raise GenerationError(
            f"{source.name} has no picture of {named(domain, left)}.",
            hint="Leave them out of the search, or choose another source of pictures.",
            field="excluded_concepts",
        )
    run_check(source, domain)
    price = most_pictures_cost(config)
    if config.spend_cap_usd is not None and price is None:
        raise GenerationError(
            f"The price of a picture of {source.name} is unknown, so a spending limit cannot be kept.",
            hint="Enter it on its page, or leave the limit empty.",
            field="spend_cap_usd",
        )
    if config.spend_cap_usd is not None and price is not None and price > config.spend_cap_usd:
        raise GenerationError(
            f"One picture of {source.name} may cost up to {write_money(price)}.",
            hint="Enter at least that for each picture that the search needs.",
            field="spend_cap_usd",
        )


def _timed(kind: BackendKind, domain: Domain, params: BackendParams, context: BackendContext) -> None:
    pool = ThreadPoolExecutor(max_workers=1)
    try:
        pool.submit(kind.check, domain, params, context).result(timeout=CHECK_SECONDS)
    except TooSlowError:
        raise GenerationError(
            f"The check took more than {CHECK_SECONDS:.0f} seconds.",
            hint="See whether its server answers, then try again.",
        ) from None
    finally:
        pool.shutdown(wait=False)


@transaction.atomic
def _note(source: PictureSource, found: str, *, by: User | None) -> None:
    record(by, "checked", source, after={"found": found})
