"""Addresses of runs, concept sets and findings."""

from django.urls import path

from searches.views import compare, findings, run_create, runs, sets

urlpatterns = [
    path("runs/", runs.run_list, name="run_list"),
    path("runs/new/", run_create.run_create, name="run_create"),
    path("runs/estimate/", run_create.run_estimate, name="run_estimate"),
    path("runs/concepts/", run_create.run_concepts, name="run_concepts"),
    path("runs/compare/", compare.run_compare, name="run_compare"),
    path("runs/<int:pk>/", runs.run_detail, name="run_detail"),
    path("runs/<int:pk>/progress/", runs.run_progress, name="run_progress"),
    path("runs/<int:pk>/metrics/", runs.run_metrics, name="run_metrics"),
    path("runs/<int:pk>/log/", runs.run_log, name="run_log"),
    path("runs/<int:pk>/cancel/", runs.run_cancel, name="run_cancel"),
    path("runs/<int:pk>/pause/", runs.run_pause, name="run_pause"),
    path("runs/<int:pk>/resume/", runs.run_resume, name="run_resume"),
    path("runs/<int:pk>/raise-limit/", runs.run_raise_limit, name="run_raise_limit"),
    path("runs/<int:pk>/clone/", run_create.run_clone, name="run_clone"),
    path("runs/<int:pk>/retry-call-errors/", runs.run_retry_call_errors, name="run_retry_call_errors"),
    path("runs/<int:pk>/export/<str:what>.<str:fmt>", sets.run_export, name="run_export"),
    path("runs/<int:pk>/sets/", sets.trial_list, name="trial_list"),
    path("runs/<int:pk>/sets/<int:trial_pk>/", sets.trial_detail, name="trial_detail"),
    path("runs/<int:pk>/sets/<int:trial_pk>/<int:number>/draw/", sets.sample_redraw, name="sample_redraw"),
    path("findings/", findings.finding_list, name="finding_list"),
    path("findings/export.<str:fmt>", findings.finding_export, name="finding_export"),
    path("findings/<int:pk>/", findings.finding_detail, name="finding_detail"),
]
