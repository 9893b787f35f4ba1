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


def backend_obstacle(backend: str, domain: Domain) -> str:
    """Return why a search on a domain cannot have its pictures from there, "" when it can."""
    if backend == EMBEDDED:
        return embedded_obstacle(domain)
    source = PictureSource.objects.select_related("dataset").filter(slug=backend).first()
    if source is None:
        return f"There is no picture source “{backend}”. Choose another."
    return obstacle_of(source, domain)


def all_source_choices() -> list[tuple[str, str]]:
    """Return what a form offers before the domain is known: every source that is switched on."""
    rows = PictureSource.objects.filter(is_enabled=True).order_by("name").values_list("slug", "name")
    return [(EMBEDDED, SCENE_BACKENDS[EMBEDDED].title), *rows]


def backend_title(backend: str) -> str:
    """Return what people call the place that pictures come from."""
    if backend == EMBEDDED:
        return SCENE_BACKENDS[EMBEDDED].title
    return PictureSource.objects.filter(slug=backend).values_list("name", flat=True).first() or backend
