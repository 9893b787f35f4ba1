"""Can you tell? Rounds of pictures, the closed list, and the hit rate of each concept."""

import uuid

import pytest

from searches.enums import JobKind, JobState
from searches.models import ConceptNaming, Job
from tests.factories import make_blob
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = pytest.mark.django_db
DRIVING, INDOOR = load_domain("driving"), load_domain("indoor")


@pytest.fixture
def browser():
    return browser_of(Role.RESEARCHER)


def begin(browser, domain="indoor"):
    answer = browser.post("/tell/", {"domain": domain})
    group = uuid.UUID(answer["Location"].rstrip("/").rpartition("/")[2])
    return group, list(Job.objects.filter(group=group).order_by("created_at"))


def draw(*jobs):
    blob = make_blob()
    for job in jobs:
        job.state = JobState.DONE
        job.result = {
            "image_sha256": blob.sha256,
            "concepts": job.params["concepts"],
            "backend": {"backend": "embedded", "version": "3"},
        }
        job.save()


def name(browser, group, job, *names, **values):
    return browser.post(f"/tell/{group}/", {"job": str(job.pk), "c": names, **values})


def test_readers_name_pictures_and_see_the_results():
    readers = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}
    assert statuses("/tell/") == readers
    assert statuses("/tell/results/") == readers


def test_a_round_is_ten_pictures_of_the_concepts_that_were_shown_least(browser):
    shown = [one.id for one in INDOOR.concepts[10:]]
    for concept in shown:
        ConceptNaming.objects.create(
            job_id=uuid.uuid4(), domain="indoor", domain_version="1", concept=concept, key=concept,
            scene_seed=1, image_sha256="a" * 64, is_right=True,
        )  # fmt: skip
    _, jobs = begin(browser)
    assert sorted(job.params["asked"] for job in jobs) == sorted(one.id for one in INDOOR.concepts[:10])
    assert all(job.params["asked"] in job.params["concepts"] for job in jobs)
    assert {job.kind for job in jobs} == {JobKind.RENDER_SCENE}


def test_the_page_of_a_picture_says_nothing_of_what_it_shows(browser):
    group, jobs = begin(browser)
    draw(*jobs)
    page = browser.get(f"/tell/{group}/").content.decode()
    asked = INDOOR.concept(jobs[0].params["asked"])
    assert page.count(f'value="{asked.id}"') == 1  # its place in the closed list, like every other
    assert asked.description not in page
    assert " checked" not in page
    assert all(f'value="{one.id}"' in page for one in INDOOR.concepts)


def test_a_picture_that_is_not_drawn_is_waited_for(browser):
    group, jobs = begin(browser)
    page = browser.get(f"/tell/{group}/").content.decode()
    assert 'hx-trigger="every 1s"' in page
    answer = name(browser, group, jobs[0], jobs[0].params["asked"])
    assert answer.status_code == 422
    assert not ConceptNaming.objects.exists()


def test_what_was_named_is_kept_with_what_was_drawn(browser):
    group, jobs = begin(browser)
    draw(*jobs)
    first, second, third = jobs[:3]
    name(browser, group, first, *first.params["concepts"])
    wrong = next(one.id for one in INDOOR.concepts if one.id not in second.params["concepts"])
    name(browser, group, second, wrong)
    name(browser, group, third, "knife_block", unsure="1")
    rows = {row.job_id: row for row in ConceptNaming.objects.all()}
    assert (rows[first.pk].is_right, rows[first.pk].invented) == (True, [])
    assert (rows[second.pk].is_right, rows[second.pk].invented) == (False, [wrong])
    assert (rows[third.pk].is_right, rows[third.pk].named) == (False, [])
    assert rows[first.pk].concept == first.params["asked"]
    assert (rows[first.pk].domain_version, rows[first.pk].backend_version) == (INDOOR.version, "3")
    assert "Picture 4 of 10" in browser.get(f"/tell/{group}/").content.decode()


def test_a_second_answer_to_the_same_picture_counts_for_nothing(browser):
    group, jobs = begin(browser)
    draw(*jobs)
    name(browser, group, jobs[0], unsure="1")
    name(browser, group, jobs[0], jobs[0].params["asked"])
    assert ConceptNaming.objects.get().is_right is False


def test_names_that_exclude_each_other_are_refused_and_stay_ticked(browser):
    group, jobs = begin(browser)
    draw(*jobs)
    answer = name(browser, group, jobs[0], "glass_upright", "glass_tipped")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "never in one picture" in page
    assert page.count(" checked") == 2
    assert not ConceptNaming.objects.exists()


def test_names_of_two_groups_that_exclude_each_other_are_refused(browser):
    group, jobs = begin(browser)
    draw(*jobs)

    page = name(browser, group, jobs[0], "barefoot_child_safe", "glass_floor").content.decode()

    assert "never in one picture" in page
    assert not ConceptNaming.objects.exists()
    name(browser, group, jobs[0], "glass_floor", "barefoot_near_glass")  # these two are of one group
    name(browser, group, jobs[1], "barefoot_child_safe")
    kept = [row.named for row in ConceptNaming.objects.order_by("pk")]
    assert kept == [["glass_floor", "barefoot_near_glass"], ["barefoot_child_safe"]]


def test_more_names_than_a_picture_can_show_are_refused(browser):
    group, jobs = begin(browser)
    draw(*jobs)
    many = ["kitchen", "glass_upright", "knife_block", "scissors_open", "pill_bottle", "stove_on"]
    assert "at most 5 concepts, you named 6" in name(browser, group, jobs[0], *many).content.decode()


def test_a_round_belongs_to_who_began_it(browser):
    group, jobs = begin(browser)
    draw(*jobs)
    other = browser_of(Role.REVIEWER)
    assert other.get(f"/tell/{group}/").status_code == 404
    assert name(other, group, jobs[0], "kitchen").status_code == 404


def test_only_the_picture_in_hand_is_answered(browser):
    group, jobs = begin(browser)
    _, others = begin(browser)
    draw(*jobs, *others)

    for wrong in (others[0], jobs[1]):
        answer = name(browser, group, wrong, wrong.params["asked"])
        assert answer["Location"] == f"/tell/{group}/"
    browser.post(f"/tell/{group}/", {"job": "no number", "c": "kitchen"})

    assert not ConceptNaming.objects.exists()


def test_a_name_that_the_domain_does_not_know_is_refused(browser):
    group, jobs = begin(browser)
    draw(*jobs)

    answer = name(browser, group, jobs[0], "unicorn")

    assert answer.status_code == 422
    assert "unicorn" in answer.content.decode()
    assert not ConceptNaming.objects.exists()


def test_a_scene_that_was_drawn_for_something_else_is_no_round(browser):
    group, jobs = begin(browser)
    for job in jobs:
        del job.params["asked"]
        job.save()
    draw(*jobs)

    assert browser.get(f"/tell/{group}/").status_code == 404
    assert name(browser, group, jobs[0], "kitchen").status_code == 404


def test_a_picture_that_cannot_be_drawn_is_left_out(browser):
    group, jobs = begin(browser)
    draw(*jobs[1:])
    Job.objects.filter(pk=jobs[0].pk).update(state=JobState.FAILED, error="Nothing fits.")
    assert "Picture 1 of 9" in browser.get(f"/tell/{group}/").content.decode()


def test_a_round_without_any_picture_ends_and_says_why(browser):
    group, jobs = begin(browser)
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(
        state=JobState.FAILED, error="The disk is full.", hint="Make room."
    )

    answer = browser.get(f"/tell/{group}/")

    page = answer.content.decode()
    assert (answer.status_code, "hx-trigger" in page) == (200, False)
    assert "No picture could be drawn" in page
    assert "The disk is full. Make room." in page
    assert "Another round" in page


def test_a_round_ends_with_how_many_were_told(browser):
    group, jobs = begin(browser, "driving")
    draw(*jobs)
    for job in jobs[:7]:
        name(browser, group, job, job.params["asked"])
    for job in jobs[7:]:
        name(browser, group, job, unsure="1")
    page = browser.get(f"/tell/{group}/").content.decode()
    assert ConceptNaming.objects.count() == 10
    assert "You told 7 of 10" in page
    assert "Another round" in page


def test_the_results_count_each_concept_and_what_it_was_taken_for(browser):
    for named, invented, is_right in (
        (["cone"], [], True),
        (["garbage_bin"], ["garbage_bin"], False),
        ([], [], False),
    ):
        ConceptNaming.objects.create(
            job_id=uuid.uuid4(), domain="driving", domain_version="1", concept="cone", key="cone",
            scene_seed=1,
            image_sha256="a" * 64, named=named, invented=invented, is_right=is_right,
        )  # fmt: skip
    answer = browser.get("/tell/results/?domain=driving")
    page = answer.content.decode()
    cone = next(row for row in answer.context["rows"] if row.concept_id == "cone")
    assert sorted(cone.confused_with) == [("cannot tell", 1), ("garbage_bin", 1)]
    assert "named in 1 of 3 pictures" in page
    assert "1 of 3, 33 %" in page
    bin_label = DRIVING.concept("garbage_bin").label
    assert page.count(f">{bin_label}<") == 2  # its own row, and instead of the cone
    assert "29 concepts not shown yet" in page
    assert page.count('<span class="muted">could not tell</span>') == 1
    assert page.count('<span class="muted">–</span>') == 29


def test_without_answers_the_results_say_so(browser):
    assert "nobody has named a picture yet" in browser.get("/tell/results/?domain=indoor").content.decode()
    assert browser.get("/tell/results/?domain=moon").status_code == 404


@pytest.mark.parametrize("rows", [1, 5])
def test_the_results_ask_the_database_as_often_for_many_answers_as_for_few(
    browser, rows, django_assert_num_queries
):
    for number in range(rows):
        ConceptNaming.objects.create(
            job_id=uuid.uuid4(), domain="driving", domain_version="1", concept=DRIVING.concepts[number].id,
            key="x", scene_seed=1, image_sha256="a" * 64, is_right=False,
        )  # fmt: skip
    browser.get("/tell/results/?domain=driving")

    with django_assert_num_queries(7):
        page = browser.get("/tell/results/?domain=driving")

    assert (page.status_code, page.context["pictures"], page.context["untried"]) == (200, rows, 30 - rows)
    assert page.content.decode().count("could not tell") == rows
