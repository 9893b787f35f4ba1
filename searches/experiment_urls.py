"""Addresses of experiments, transfer matrices and reproductions."""

from django.urls import URLPattern, URLResolver, path

from searches.views import experiments, reproduce, transfers

urlpatterns: list[URLPattern | URLResolver] = [
    path("", experiments.experiment_list, name="experiment_list"),
    path("new/", experiments.experiment_create, name="experiment_create"),
    path("estimate/", experiments.experiment_estimate, name="experiment_estimate"),
    path("<int:pk>/", experiments.experiment_detail, name="experiment_detail"),
    path("<int:pk>/progress/", experiments.experiment_progress_part, name="experiment_progress"),
    path("<int:pk>/export.<slug:fmt>", experiments.experiment_export, name="experiment_export"),
    path("<int:pk>/pause/", experiments.experiment_pause, name="experiment_pause"),
    path("<int:pk>/resume/", experiments.experiment_resume, name="experiment_resume"),
    path("<int:pk>/cancel/", experiments.experiment_cancel, name="experiment_cancel"),
    path("<int:pk>/retest/", experiments.experiment_retest, name="experiment_retest"),
    path("transfer/new/", transfers.transfer_create, name="transfer_create"),
    path("transfer/estimate/", transfers.transfer_estimate, name="transfer_estimate"),
    path("transfer/<int:pk>/", transfers.transfer_detail, name="transfer_detail"),
    path("transfer/<int:pk>/export.<slug:fmt>", transfers.transfer_export, name="transfer_export"),
    path("reproduce/", reproduce.reproduce, name="reproduce"),
    path("reproduce/<slug:slug>/", reproduce.reproduce_detail, name="reproduce_detail"),
]
