"""Registers the searches app."""

from django.apps import AppConfig


class SearchesConfig(AppConfig):
    """Systems under test, campaigns, runs, trials, findings."""

    name = "searches"
    verbose_name = "Searches"
