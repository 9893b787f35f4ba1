"""Addresses of the pages that explain failures: of a run, a campaign, a system, and across systems."""

from django.urls import path

from searches.views import explain, explain_actions, explain_systems

SCOPE = "<slug:scope>/<int:pk>/"

urlpatterns = [
    path("", explain_systems.explain_systems, name="explain_systems"),
    path("systems.<slug:fmt>", explain_systems.explain_systems_export, name="explain_systems_export"),
    path(SCOPE, explain.explain_concepts, name="explain_concepts"),
    path(f"{SCOPE}pairs/", explain.explain_pairs, name="explain_pairs"),
    path(f"{SCOPE}answers/", explain.explain_answers, name="explain_answers"),
    path(f"{SCOPE}attribution/", explain.explain_attribution, name="explain_attribution"),
    path(f"{SCOPE}coverage/", explain.explain_coverage, name="explain_coverage"),
    path(f"{SCOPE}reasons/", explain.explain_reasons, name="explain_reasons"),
    path(f"{SCOPE}sets/", explain.explain_sets, name="explain_sets"),
    path(f"{SCOPE}export/<slug:what>.<slug:fmt>", explain.explain_export, name="explain_export"),
    path(f"{SCOPE}probe/", explain_actions.explain_probe, name="explain_probe"),
    path(f"{SCOPE}pairs/test/", explain_actions.explain_test_pair, name="explain_test_pair"),
    path(f"{SCOPE}coverage/fill/", explain_actions.explain_fill, name="explain_fill"),
]
