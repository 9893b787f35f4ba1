"""Addresses of sign-in, people, audit and workers."""

from django.urls import path

from searches.views import audit, people, sign_in, tokens, workers

urlpatterns = [
    path("login/", sign_in.login, name="login"),
    path("logout/", sign_in.logout, name="logout"),
    path("sign-in/<str:uid>/<str:token>/", sign_in.sign_in, name="sign_in"),
    path("account/password/", sign_in.password_set, name="password_set"),
    path("account/tokens/", tokens.token_list, name="token_list"),
    path("account/tokens/new/", tokens.token_create, name="token_create"),
    path("account/tokens/<int:pk>/revoke/", tokens.token_revoke, name="token_revoke"),
    path("people/", people.people_list, name="people_list"),
    path("people/new/", people.person_create, name="person_create"),
    path("people/<int:pk>/", people.person_edit, name="person_edit"),
    path("people/<int:pk>/link/", people.person_link, name="person_link"),
    path("audit/", audit.audit_list, name="audit_list"),
    path("workers/", workers.worker_list, name="worker_list"),
]
