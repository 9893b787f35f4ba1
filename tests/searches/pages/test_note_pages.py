"""Notes, tags and status of findings."""

import pytest

from searches.models import Finding, Note
from searches.services.notes import clean_tags
from tests.factories import make_finding, make_run, make_trial
from vlmlab.core.errors import VlmLabError
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db


def finding() -> Finding:
    return make_finding(make_trial(make_run(), ("cone",), verdicts="FFFPF"))


def test_readers_write_notes_and_researchers_set_the_status():
    one = finding()

    may_note = statuses(f"/findings/{one.pk}/notes/", method="post")
    may_triage = statuses(f"/findings/{one.pk}/triage/", method="post")

    assert may_note == {"": 302, "admin": 302, "researcher": 302, "reviewer": 302, "annotator": 403}
    assert may_triage == {"": 302, "admin": 302, "researcher": 302, "reviewer": 403, "annotator": 403}


def test_a_note_is_shown_as_text_with_its_author():
    one, client = finding(), browser_of(Role.REVIEWER)

    client.post(f"/findings/{one.pk}/notes/", {"text": "Looks like <b>glare</b>."})

    page = client.get(f"/findings/{one.pk}/").content.decode()
    assert "Looks like &lt;b&gt;glare&lt;/b&gt;." in page
    assert Note.objects.get().author.username in page


def test_an_empty_note_is_refused():
    one = finding()

    page = browser_of(Role.REVIEWER).post(f"/findings/{one.pk}/notes/", {"text": "  "}, follow=True)

    assert "Write a few words." in page.content.decode()
    assert Note.objects.count() == 0


def test_a_note_is_deleted_by_its_author_or_an_admin_only():
    one, author = finding(), browser_of(Role.REVIEWER)
    author.post(f"/findings/{one.pk}/notes/", {"text": "First."})
    author.post(f"/findings/{one.pk}/notes/", {"text": "Second."})
    first, second = Note.objects.all()

    browser_of(Role.RESEARCHER).post(f"/notes/{first.pk}/delete/")
    kept = Note.objects.count()
    author.post(f"/notes/{first.pk}/delete/")
    browser_of(Role.ADMIN).post(f"/notes/{second.pk}/delete/")

    assert (kept, Note.objects.count()) == (2, 0)


def test_status_and_tags_are_kept_shown_and_filtered_by():
    one, other, client = finding(), finding(), browser_of(Role.RESEARCHER)

    client.post(f"/findings/{one.pk}/triage/", {"triage": "accepted", "tags": "night, Größe,night"})

    one.refresh_from_db()
    assert (one.triage, one.tags) == ("accepted", ["night", "Größe"])
    for query in ("tag=Größe", "tag=night", "triage=accepted"):
        lines = client.get(f"/findings/?{query}").context["lines"]
        assert [line.finding.pk for line in lines] == [one.pk], query
    assert [line.finding.pk for line in client.get("/findings/?triage=open").context["lines"]] == [other.pk]


def test_too_many_and_too_long_tags_are_refused():
    for tags in ([str(number) for number in range(13)], ["x" * 33]):
        with pytest.raises(VlmLabError):
            clean_tags(tags)


def test_an_unknown_status_is_refused():
    one = finding()

    browser_of(Role.RESEARCHER).post(f"/findings/{one.pk}/triage/", {"triage": "nonsense", "tags": ""})

    one.refresh_from_db()
    assert one.triage == "open"
