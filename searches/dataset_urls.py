"""Addresses of datasets, and of scenes as archives."""

from django.urls import path

from searches.views import datasets, scenes, seed_upload

urlpatterns = [
    path("datasets/", datasets.dataset_list, name="dataset_list"),
    path("datasets/new/", datasets.dataset_create, name="dataset_create"),
    path("datasets/upload/seed-images/", seed_upload.seed_upload, name="seed_upload"),
    path("datasets/<slug:slug>/", datasets.dataset_detail, name="dataset_detail"),
    path("datasets/<slug:slug>/dataset.zip", datasets.dataset_export_zip, name="dataset_export"),
    path("datasets/<slug:slug>/refused.csv", seed_upload.dataset_refusals, name="dataset_refusals"),
    path("datasets/<slug:slug>/stop/", datasets.dataset_stop, name="dataset_stop"),
    path("datasets/<slug:slug>/go-on/", datasets.dataset_go_on, name="dataset_go_on"),
    path("datasets/<slug:slug>/delete/", datasets.dataset_delete, name="dataset_delete"),
    path("datasets/<slug:slug>/<int:order>/", datasets.dataset_picture, name="dataset_picture"),
    path("datasets/<slug:slug>/<int:order>/masks.png", datasets.dataset_masks, name="dataset_masks"),
    path("jobs/<uuid:pk>/scene.zip", scenes.job_scene, name="job_scene"),
    path("jobs/<uuid:pk>/masks.png", scenes.job_masks, name="job_masks"),
    path("runs/<int:pk>/scenes.zip", scenes.run_scenes, name="run_scenes"),
    path("runs/<int:pk>/sets/<int:trial_pk>/scenes.zip", scenes.trial_scenes, name="trial_scenes"),
]
