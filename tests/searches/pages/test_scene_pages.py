"""Every page of a scene tells what made it, its description, its truth; and offers it as a dataset."""

import io
import json
import zipfile

import pytest

from searches.enums import JobKind, JobState
from searches.models import Job
from searches.services.jobs import run_job
from searches.services.leases import take_job
from tests.factories import make_campaign, make_run, make_trial
from vlmlab.core.scenes.driving import sample_driving
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db


@pytest.fixture
def drawn(settings):
    settings.SCENE_SOURCE_FACTORY = "tests.doubles.make_flat_source"
    params = {"domain": "driving", "concepts": ["cone"], "seed": 5, "width": 64, "height": 48}
    job = Job.objects.create(kind=JobKind.RENDER_SCENE, params=params)
    run_job(take_job("w", ["cpu"]))
    job.refresh_from_db()
    return job


def make_set(**sample):
    run = make_run(campaign=make_campaign(config={"algorithm": "random", "inference_budget": 60}))
    trial = make_trial(run, ("cone", "far"), verdicts="F")
    scene = sample_driving(("cone", "far"), seed=trial.samples.get().scene_seed)
    values = {
        "description_digest": scene.digest,
        "provenance": {"backend": "embedded", "version": "2"},
        "annotations": [
            {
                "object_id": "cone", "kind": "cone", "concept": "cone", "is_required": True,
                "visible_box": [1.0, 2.0, 9.0, 9.0], "amodal_box": [1.0, 2.0, 9.0, 12.0],
                "visible_pixels": 40, "visible_fraction": 0.8,
            },
            {
                "object_id": "tree_1", "kind": "tree", "concept": "", "is_required": False,
                "visible_box": None, "amodal_box": [0.0, 0.0, 5.0, 5.0],
                "visible_pixels": 0, "visible_fraction": 0.0,
            },
        ],
    }  # fmt: skip
    trial.samples.update(**values | sample)
    return trial, scene


def test_a_drawn_scene_says_what_made_it_how_it_was_decided_and_what_is_in_it(drawn):
    answer = browser_of(Role.RESEARCHER).get(f"/jobs/{drawn.pk}/")

    page, facts = answer.content.decode(), answer.context["scene"].facts
    assert facts.made_by == (("Back end", "flat, version 1"),)
    assert (facts.seed, facts.digest) == (5, drawn.result["digest"])
    assert [(line.number, line.label, line.box, line.visible_percent) for line in facts.lines] == [
        (1, "Cone", "1, 1, 8, 8", 100)
    ]
    assert "How this was decided" in page
    assert facts.decision.rule_id == drawn.result["decision"]["rule_id"]
    assert drawn.result["decision"]["why"] in page.replace("&#x27;", "'")
    assert f'href="/jobs/{drawn.pk}/scene.zip"' in page


def test_the_composer_tells_the_rule_once_while_the_scene_is_drawn_and_when_it_is_there(drawn):
    person = browser_of(Role.RESEARCHER)
    Job.objects.filter(pk=drawn.pk).update(state=JobState.QUEUED)
    waiting = person.get(f"/domains/driving/compose/?c=cone&seed=5&job={drawn.pk}").content.decode()
    Job.objects.filter(pk=drawn.pk).update(state=JobState.DONE)

    address = f"/jobs/{drawn.pk}/?rule=told"
    assert f'hx-get="{address}"' in waiting
    swapped_in = person.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "Download as a dataset" in swapped_in
    assert "How this was decided" not in swapped_in


def test_a_drawn_scene_is_downloaded_as_json_and_as_a_dataset(drawn):
    browser = browser_of(Role.RESEARCHER)

    text = browser.get(f"/jobs/{drawn.pk}/?as=json")
    archive = browser.get(f"/jobs/{drawn.pk}/scene.zip")

    assert json.loads(text.content) == drawn.result["description"]
    assert "images/scene.png" in zipfile.ZipFile(io.BytesIO(b"".join(archive.streaming_content))).namelist()


def test_only_who_may_draw_scenes_downloads_one_and_a_job_without_scene_has_none(drawn):
    other = Job.objects.create(kind=JobKind.TRY_SUT, params={})

    assert statuses(f"/jobs/{drawn.pk}/scene.zip") == {
        "": 302,
        "admin": 200,
        "researcher": 200,
        "reviewer": 403,
        "annotator": 403,
    }
    for what in ("scene.zip", "masks.png"):
        assert browser_of(Role.RESEARCHER).get(f"/jobs/{other.pk}/{what}").status_code == 404


def test_a_sample_shows_the_description_that_its_seed_makes_again():
    trial, scene = make_set()
    url = f"/runs/{trial.run_id}/sets/{trial.pk}/"
    browser = browser_of(Role.REVIEWER)

    facts = browser.get(url).context["page"].chosen.facts
    text = browser.get(f"{url}?sample=0&as=json")

    assert (json.loads(facts.description), facts.note) == (json.loads(scene.to_json()), "")
    assert json.loads(text.content) == json.loads(scene.to_json())
    assert facts.made_by == (("Back end", "Embedded renderer, version 2"),)
    assert [(line.number, line.label, line.box, line.visible_percent) for line in facts.lines] == [
        (1, "Cone", "1, 2, 9, 9", 80),
        (0, "tree", "", 0),
    ]


def test_a_sample_that_this_version_lays_out_differently_says_so_instead_of_telling_another_scene():
    trial, _ = make_set(description_digest="e" * 64)

    answer = browser_of(Role.REVIEWER).get(f"/runs/{trial.run_id}/sets/{trial.pk}/")

    facts = answer.context["page"].chosen.facts
    assert (facts.description, facts.json_url) == ("", "")
    assert "This version of the lab lays the scene out differently" in answer.content.decode()


def test_a_sample_of_another_source_shows_what_was_stored():
    stored = {"domain": "driving", "world": {"backend": "image_pool", "picture": "ab"}}
    trial, _ = make_set(description=stored, description_digest="e" * 64, provenance={"backend": "image_pool"})

    facts = (
        browser_of(Role.REVIEWER).get(f"/runs/{trial.run_id}/sets/{trial.pk}/").context["page"].chosen.facts
    )

    assert json.loads(facts.description) == stored


def test_a_sample_of_an_old_run_says_that_nothing_was_noted():
    trial, _ = make_set(provenance={}, description_digest="")

    answer = browser_of(Role.REVIEWER).get(f"/runs/{trial.run_id}/sets/{trial.pk}/")

    facts = answer.context["page"].chosen.facts
    assert facts.made_by == (("Back end", "not noted by the version of the lab that drew it"),)
    assert facts.note == "No description was stored with this sample."


def test_the_scenes_of_a_run_and_of_a_set_are_downloaded_as_datasets():
    trial, scene = make_set()
    browser = browser_of(Role.REVIEWER)

    for path in (f"/runs/{trial.run_id}/scenes.zip", f"/runs/{trial.run_id}/sets/{trial.pk}/scenes.zip"):
        archive = zipfile.ZipFile(io.BytesIO(b"".join(browser.get(path).streaming_content)))
        told = json.loads(archive.read("descriptions.jsonl"))
        assert told["description"] == json.loads(scene.to_json())
        assert "ATTRIBUTION.tsv" in archive.namelist()
    assert browser.get("/runs/999/scenes.zip").status_code == 404
    assert browser.get(f"/runs/{trial.run_id}/sets/999/scenes.zip").status_code == 404
