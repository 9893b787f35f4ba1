"""Addresses of follow-ups, of the planner, and of what people say about scenes and findings."""

from django.urls import path

from searches.views import follow_up_create, follow_ups, notes, planner, scene_flags

urlpatterns = [
    path("follow-ups/", follow_ups.follow_up_list, name="follow_up_list"),
    path("follow-ups/new/", follow_up_create.follow_up_create, name="follow_up_create"),
    path("follow-ups/estimate/", follow_up_create.follow_up_estimate, name="follow_up_estimate"),
    path("follow-ups/planner/", planner.planner, name="follow_up_planner"),
    path("follow-ups/<int:pk>/", follow_ups.follow_up_detail, name="follow_up_detail"),
    path("follow-ups/<int:pk>/progress/", follow_ups.follow_up_progress, name="follow_up_progress"),
    path("follow-ups/<int:pk>/items/<int:item_pk>/", follow_ups.follow_up_item, name="follow_up_item"),
    path("follow-ups/<int:pk>/export.<str:fmt>", follow_ups.follow_up_export, name="follow_up_export"),
    path("follow-ups/<int:pk>/pause/", follow_ups.follow_up_pause, name="follow_up_pause"),
    path("follow-ups/<int:pk>/resume/", follow_ups.follow_up_resume, name="follow_up_resume"),
    path("follow-ups/<int:pk>/cancel/", follow_ups.follow_up_cancel, name="follow_up_cancel"),
    path("findings/select/", follow_up_create.finding_select, name="finding_select"),
    path("findings/<int:pk>/notes/", notes.finding_note, name="finding_note"),
    path("findings/<int:pk>/triage/", notes.finding_triage, name="finding_triage"),
    path("modality/cases/<int:pk>/notes/", notes.case_note, name="case_note"),
    path("modality/cases/<int:pk>/triage/", notes.case_triage, name="case_triage"),
    path("notes/<int:pk>/delete/", notes.note_delete, name="note_delete"),
    path("scenes/flags/", scene_flags.scene_flag_list, name="scene_flag_list"),
    path("scenes/<int:pk>/flag/", scene_flags.scene_flag, name="scene_flag"),
    path("scenes/flags/<int:pk>/withdraw/", scene_flags.scene_flag_withdraw, name="scene_flag_withdraw"),
]
