"""Registers the human study app."""

from django.apps import AppConfig


class HumanStudyConfig(AppConfig):
    """People who check whether a case is valid; its first models come with the study itself."""

    name = "humanstudy"
    verbose_name = "Human study"
