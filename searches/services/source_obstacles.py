"""Why a picture source cannot make the pictures of a domain; asked without loading or connecting."""

from searches.models import PictureSource
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backends import EMBEDDED, SCENE_BACKENDS


def obstacle_of(source: PictureSource, domain: Domain) -> str:
    """Return why a source cannot make pictures of a domain and what to do, "" when nothing stands in the way.

    ``source`` comes with its dataset.
    """
    kind = SCENE_BACKENDS.get(source.kind)
    if kind is None or not kind.is_registrable:
        return f"This version of the lab does not know the kind {source.kind} of {source.name}."
    if not source.is_enabled:
        return f"{source.name} is switched off. Switch it on again on its page."
    if kind.takes_pool:
        if source.dataset is None:
            return f"{source.name} has no dataset. Choose one on its page."
        if source.dataset.domain and source.dataset.domain != domain.slug:
            return (
                f"The pictures of {source.name} are tagged with concepts of the domain "
                f"“{source.dataset.domain}”, not of {domain.title}."
            )
    return kind.obstacle(domain)


def embedded_obstacle(domain: Domain) -> str:
    """Return why the embedded renderer cannot draw a domain, "" when it can."""
    return SCENE_BACKENDS[EMBEDDED].obstacle(domain)


def usable_sources(domain: Domain) -> list[PictureSource]:
    """Return the sources that can make pictures of a domain, by name."""
    rows = PictureSource.objects.filter(is_enabled=True).select_related("dataset").order_by("name")
    return [source for source in rows if not obstacle_of(source, domain)]


def source_choices(domain: Domain) -> list[tuple[str, str]]:
    """Return what a form offers for the pictures of a domain: value and words."""
    embedded = [] if embedded_obstacle(domain) else [(EMBEDDED, SCENE_BACKENDS[EMBEDDED].title)]
    return [*embedded, *((source.slug, source.name) for source in usable_sources(domain))]
