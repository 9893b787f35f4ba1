"""Template filters of modality searches."""

from django import template

from searches.services.seed_plans import scene_type_title

register = template.Library()
register.filter("scene_type", scene_type_title)
