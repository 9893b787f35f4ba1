"""Addresses of perturbation operators and word tables."""

from django.urls import URLPattern, URLResolver, path

from searches.views import operators, word_tables

urlpatterns: list[URLPattern | URLResolver] = [
    path("", operators.operator_list, name="operator_list"),
    path("upload/", operators.operator_upload, name="operator_upload"),
    path("prompts/", operators.operator_text, name="operator_text"),
    path("levels.csv", operators.operator_levels, name="operator_levels"),
    path(
        "pictures/<str:sha256>/<slug:name>/<str:severity>/<str:seed>.png",
        operators.operator_picture,
        name="operator_picture",
    ),
    path("on-pictures/<slug:name>/", operators.operator_detail, name="operator_detail"),
    path("word-tables/", word_tables.word_table_list, name="word_table_list"),
    path("word-tables/new/", word_tables.word_table_create, name="word_table_create"),
    path("word-tables/<slug:slug>/", word_tables.word_table, name="word_table"),
    path("word-tables/<slug:slug>/decide/", word_tables.word_table_decide, name="word_table_decide"),
]
