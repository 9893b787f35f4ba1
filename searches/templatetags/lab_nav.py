"""The counts beside the navigation's links."""

from django import template

from searches.services.navigation import NavCounts, count_for_nav

register = template.Library()


@register.simple_tag
def nav_counts() -> NavCounts:
    """Return what the navigation counts."""
    return count_for_nav()
