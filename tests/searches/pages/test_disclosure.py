"""Packages for makers of systems: what goes in, what never does, and who may make one."""

import io
import json
import zipfile

import pytest
from django.core.management import CommandError, call_command

from searches.models import Finding, Sample, SutRecord
from searches.services.disclosures import DisclosureWish, disclosure_offer, disclosure_zip
from searches.services.notes import add_note
from tests.factories import make_blob
from tests.searches.follow_up_factory import make_confirmation
from tests.searches.pages.modality_results import breaks_by_image, campaign_of
from tests.searches.pages.people import statuses
from vlmlab.core.errors import VlmLabError
from vlmlab.web.secrets_seen import note_secret

pytestmark = pytest.mark.django_db


@pytest.fixture
def sut():
    """A system with a confirmed, a refuted and an undetermined finding."""
    found = make_confirmation().runs.get().sut
    Sample.objects.update(image_sha256=make_blob().pk, prompt="What now?", raw_text="B")
    SutRecord.objects.filter(pk=found.pk).update(
        params={"model": "eyes-2", "base_url": "https://inside.example.org:8443/v1", "price_usd": 0.01}
    )
    found.refresh_from_db()
    return found


def package(sut, **wish):
    return zipfile.ZipFile(io.BytesIO(b"".join(disclosure_zip(sut, DisclosureWish(**wish)))))


def everything(archive):
    return "\n".join(
        archive.read(name).decode("utf-8", errors="replace")
        for name in archive.namelist()
        if ".png" not in name
    )


def test_confirmed_findings_go_in_with_scenes_prompts_answers_and_pictures(sut):
    archive = package(sut, contact="security@example.org")

    confirmed = Finding.objects.get(state="confirmed")
    [name] = [one for one in archive.namelist() if one.startswith("findings/")]
    content = json.loads(archive.read(name))
    assert name == f"findings/{confirmed.pk}.json"
    assert (content["fresh_fails"], content["fresh_n"], content["state"]) == (9, 10, "confirmed")
    assert content["scenes"][0]["prompt"] == "What now?"
    assert content["scenes"][0]["answer"] == "B"
    assert content["scenes"][0]["picture"] in archive.namelist()
    assert content["follow_ups"][0]["kind"] == "confirm"
    assert "security@example.org" in archive.read("README.txt").decode()
    about = json.loads(archive.read("about.json"))
    assert about["format"] == "vlmlab-disclosure-1"
    assert about["searches"][0]["run_seed"] == confirmed.run.run_seed
    assert archive.read("findings.csv").decode().count("\n") == 2


def test_nothing_of_this_lab_goes_in(sut, person):
    note_secret("sk-very-secret-key")
    Sample.objects.update(raw_text="the key is sk-very-secret-key")
    finding = Finding.objects.get(state="confirmed")
    add_note(finding, "Between us", by=person)

    text = everything(package(sut))

    assert "sk-very-secret-key" not in text
    assert "[hidden]" in text
    assert "inside.example.org" not in text
    assert "price_usd" not in text
    assert "Between us" not in text
    assert person.username not in text
    assert '"model": "eyes-2"' in text


def test_notes_and_names_go_in_only_where_they_are_wanted(sut, person):
    add_note(Finding.objects.get(state="confirmed"), "Between us", by=person)

    with_notes, with_names = (everything(package(sut, notes=True, names=one)) for one in (False, True))

    assert "Between us" in with_notes
    assert person.username not in with_notes
    assert person.username in with_names


def test_other_states_go_in_where_they_are_chosen_and_pictures_can_stay_out(sut):
    archive = package(sut, states=("refuted", "undetermined"), pictures=False)

    states = {
        json.loads(archive.read(one))["state"] for one in archive.namelist() if one.startswith("findings/")
    }
    assert states == {"refuted", "undetermined"}
    assert not any(one.startswith("pictures/") for one in archive.namelist())
    assert "The pictures were left out" in archive.read("README.txt").decode()


def test_failing_test_cases_of_modality_searches_go_in(db):
    sut = campaign_of(breaks_by_image).modality_runs.first().sut

    offer = disclosure_offer(sut, DisclosureWish(states=("suspected",)))
    archive = package(sut, states=("suspected",))

    cases = [json.loads(archive.read(one)) for one in archive.namelist() if one.startswith("cases/")]
    assert (offer.findings, offer.cases) == (0, len(cases)) == (0, 7)
    assert cases[0]["severities"] == {"fog": 0.3}


def test_a_package_of_nothing_is_refused(sut):
    with pytest.raises(VlmLabError, match="Nothing of this system"):
        disclosure_zip(sut, DisclosureWish(states=("suspected",)))


def test_the_page_counts_what_there_is_and_sends_it(browser, sut):
    page = browser.get(f"/reports/systems/{sut.slug}/").content.decode()
    sent = browser.get(f"/reports/systems/{sut.slug}/?states=confirmed&pictures=on&send=1")

    assert "Make the package" in page
    assert '<td class="num">1</td>' in page
    assert sent["Content-Type"] == "application/zip"
    assert zipfile.ZipFile(io.BytesIO(b"".join(sent.streaming_content))).testzip() is None
    assert f"/reports/systems/{sut.slug}/" in browser.get(f"/suts/{sut.slug}/").content.decode()


@pytest.mark.parametrize(
    ("query", "words"),
    [("send=1", "Choose at least one state."), ("states=suspected&send=1", "Nothing of this system")],
)
def test_a_wrong_wish_says_what_is_wrong(browser, sut, query, words):
    response = browser.get(f"/reports/systems/{sut.slug}/?{query}")

    assert response.status_code == 422
    assert words in response.content.decode()


def test_an_unknown_system_has_no_package(browser):
    assert browser.get("/reports/systems/nobody/").status_code == 404


def test_only_those_who_run_searches_may_make_one(sut):
    found = statuses(f"/reports/systems/{sut.slug}/")

    assert found["researcher"] == found["admin"] == 200
    assert found["annotator"] == 403


def test_the_command_writes_a_package(sut, tmp_path):
    target = tmp_path / "out.zip"

    call_command("disclosure", sut=sut.slug, out=str(target), contact="me")

    assert "me" in zipfile.ZipFile(target).read("README.txt").decode()
    with pytest.raises(CommandError, match="Nothing of this system"):
        call_command("disclosure", sut=sut.slug, out=str(target), state=["suspected"])
