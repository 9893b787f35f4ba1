"""Pages of domains: concepts, rules, and composing a scene by hand."""

import io
from pathlib import Path

import pytest
from django.conf import settings as site_settings
from PIL import Image

from searches.enums import JobKind, JobState
from searches.models import Job
from tests.factories import make_blob
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
COMPOSE = "/domains/driving/compose/"
DRIVING = load_domain("driving").ref


def drawing(**values) -> Job:
    params = {"domain": DRIVING, "concepts": ["pedestrian"], "seed": 4, "width": 448, "height": 336}
    parameters = {"placement": "lane", "distance_m": 3.0}
    result = {
        "image_sha256": make_blob().sha256,
        "concepts": ["pedestrian"],
        "description": {"objects": [{"is_required": True, "parameters": parameters}]},
        "annotations": [
            {
                "object_id": "o1",
                "kind": "person",
                "concept": "pedestrian",
                "is_required": True,
                "visible_box": [10.0, 40.0, 60.0, 90.0],
                "visible_fraction": 0.5,
            },
            {
                "object_id": "o2",
                "kind": "tree",
                "concept": "",
                "is_required": False,
                "visible_box": [0, 0, 9, 9],
            },
        ],
        "attempt": 1,
        "digest": "e" * 64,
        "question": {"prompt": "What now?", "options": {}, "expected_letter": "B"},
        "decision": {"rule_id": "R1_obstacle_near", "action": "emergency_stop", "why": "Somebody is there."},
    }
    defaults = {"kind": JobKind.RENDER_SCENE, "params": params, "result": result, "state": JobState.DONE}
    return Job.objects.create(**defaults | values)


def test_domains_are_open_to_readers_and_composing_to_researchers():
    readers = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}

    assert statuses("/domains/") == readers
    assert statuses("/domains/driving/") == readers
    assert statuses(COMPOSE) == readers | {"reviewer": 403}


def test_an_unknown_domain_is_not_found():
    assert browser_of(Role.RESEARCHER).get("/domains/kitchen-sink/").status_code == 404


def test_every_concept_has_a_small_picture_of_its_own():
    folder = Path(site_settings.BASE_DIR) / "static" / "img" / "concepts" / "driving"
    pictures = {path.stem: path.read_bytes() for path in folder.glob("*.webp")}

    assert sorted(pictures) == sorted(concept.id for concept in load_domain("driving").concepts)
    assert {Image.open(io.BytesIO(content)).size for content in pictures.values()} == {(320, 240)}
    assert len(set(pictures.values())) == 30
    assert sum(map(len, pictures.values())) < 1_500_000


def test_the_page_of_a_domain_shows_every_concept_with_its_picture():
    page = browser_of(Role.REVIEWER).get("/domains/driving/").content.decode()

    missing = [
        concept.id
        for concept in load_domain("driving").concepts
        if f"/img/concepts/driving/{concept.id}.webp" not in page or concept.description not in page
    ]
    assert missing == []


def test_the_page_of_a_domain_shows_rules_in_order_and_the_number_of_valid_sets():
    browser = browser_of(Role.REVIEWER)

    rules = browser.get("/domains/driving/?show=rules").context["overview"].rules
    sizes = browser.get("/domains/driving/?show=sets").context["overview"].sizes

    assert [line.rule.id.partition("_")[0] for line in rules] == ["R1", "R2", "R3", "R4", "R5", "R6", "R7"]
    assert rules[0].condition == "something stands in the lane, near or at the usual distance"
    assert [line.valid_sets for line in sizes] == [20, 344, 3024, 18988, 88288]


SECTIONS = {
    "concepts": "alone:",
    "rules": "something stands in the lane, near or at the usual distance",
    "constraints": "a set that breaks one of these is never asked",
    "sets": "88,288",
    "nonsense": "alone:",
}


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_of_a_domain_asks_the_database_only_who_is_there(section, django_assert_num_queries):
    browser = browser_of(Role.REVIEWER)

    with django_assert_num_queries(4):  # session, person, navigation, version
        page = browser.get(f"/domains/driving/?show={section}")

    html = page.content.decode()
    assert page.status_code == 200
    assert {words for words in SECTIONS.values() if words in html} == {SECTIONS[section]}


def test_composing_shows_the_rule_and_the_question_of_a_valid_set():
    page = browser_of(Role.RESEARCHER).get(f"{COMPOSE}?c=cone&c=far")

    wish = page.context["wish"]
    assert (wish.key, wish.problem) == (("cone", "far"), "")
    assert (wish.question.decision.action, wish.question.decision.rule_id) == ("slow_down", "R3_obstacle_far")
    assert wish.rule_title == "Something in the lane, far"


def test_composing_says_at_once_why_a_set_cannot_be_drawn_and_offers_no_drawing():
    page = browser_of(Role.RESEARCHER).get(f"{COMPOSE}?c=light_red&c=light_green")

    text = page.content.decode()
    assert "“Red light” and “Green light” exclude each other" in text
    assert "Draw the scene" not in text


def test_composing_names_what_a_further_concept_would_exclude():
    page = browser_of(Role.RESEARCHER).get(f"{COMPOSE}?c=cone&c=weather_wet")

    assert page.context["wish"].clashes == {
        "weather_clear_noon": "excludes wet road",
        "weather_hard_rain": "excludes wet road",
        "weather_soft_rain": "excludes wet road",
        "weather_foggy": "excludes wet road",
        "weather_cloudy": "excludes wet road",
    }


def test_drawing_queues_one_job_and_comes_back_to_the_same_set():
    answer = browser_of(Role.RESEARCHER).post(COMPOSE, {"c": ["far", "cone"], "seed": "12"})

    job = Job.objects.get()
    assert answer.url == f"{COMPOSE}?c=cone&c=far&seed=12&job={job.pk}#scene"
    assert job.params == {
        "domain": DRIVING,
        "concepts": ["cone", "far"],
        "seed": 12,
        "width": 448,
        "height": 336,
    }


@pytest.mark.parametrize(
    "values",
    [
        {"c": ["light_red", "light_green"]},
        {"c": []},
        {"c": ["no_such_concept"]},
        {"c": ["cone"], "seed": "minus one"},
    ],
)
def test_drawing_refuses_what_cannot_be_drawn_and_queues_nothing(values):
    page = browser_of(Role.RESEARCHER).post(COMPOSE, values)

    assert (page.status_code, Job.objects.count()) == (422, 0)


def test_a_drawn_scene_shows_boxes_of_what_must_be_seen_and_what_each_action_leads_to():
    job = drawing()

    page = browser_of(Role.RESEARCHER).get(f"{COMPOSE}?c=pedestrian&seed=4&job={job.pk}")

    scene = page.context["scene"]
    assert [(box.number, box.label, box.visible_percent) for box in scene.picture.boxes] == [
        (1, "Pedestrian", 50)
    ]
    assert scene.distance_m == 3.0
    assert {check.action: check.verdict.will_collide for check in scene.checks} == {
        "emergency_stop": True, "slow_down": True, "continue": True,
    }  # fmt: skip
    assert 'x="10.0" y="40.0" width="50.0" height="50.0"' in page.content.decode()


def test_a_drawn_scene_is_not_shown_for_another_set():
    job = drawing()

    page = browser_of(Role.RESEARCHER).get(f"{COMPOSE}?c=cone&job={job.pk}")

    assert "scene" not in page.context
