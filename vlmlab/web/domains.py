"""How templates and evidence find a domain; the searches app says where domains are kept."""

from collections.abc import Callable

from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain

_find: Callable[[str], Domain] = load_domain


def install_domains(find: Callable[[str], Domain]) -> None:
    """Say once, when the site starts, how a domain is found by ``slug`` or ``slug@version``."""
    global _find
    _find = find


def known_domain(ref: str) -> Domain:
    """Return the domain of a ``slug``, or of ``slug@version``.

    Raises:
        ConceptError: there is no such domain.
    """
    return _find(ref)
