"""Registers the searches app."""

from django.apps import AppConfig


class SearchesConfig(AppConfig):
    """Systems under test, campaigns, runs, trials, findings."""

    name = "searches"
    verbose_name = "Searches"

    def ready(self) -> None:
        """Tell the web layer where domains are kept."""
        from searches.services.domain_store import find_domain
        from vlmlab.web.domains import install_domains

        install_domains(find_domain)
