"""Pages of a calibration: verdicts, conventions, pictures; starting one; warnings where a search starts."""

import pytest

from searches.enums import JobKind, JobState
from searches.models import Calibration, Job, SutRecord
from searches.services.calibrations import CALLS, calibrate
from searches.services.jobs import run_job
from searches.services.leases import take_job
from tests.factories import make_finding, make_finished_run, make_sut, make_trial, make_user
from tests.searches.probing import in_pixels, pictures, probed_sut, prose
from vlmlab.core.replies.probe_pictures import PROBE_SIZE
from vlmlab.web.figures import validate_with_plotly
from vlmlab.web.roles import Role

from .people import browser_of, statuses

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("draw_once")]

READ_BY = {"": 302, "admin": 200, "researcher": 200, "reviewer": 200, "annotator": 403}


def calibrated(**values) -> Calibration:
    return calibrate(probed_sut(**values), by=make_user(Role.RESEARCHER))


def test_a_calibration_may_be_read_by_readers():
    found = calibrated()

    assert statuses(found.get_absolute_url()) == READ_BY
    assert statuses("/suts/probed/calibrations/") == READ_BY


@pytest.mark.parametrize("action", ["calibrate/", "calibrations/1/use/"])
def test_only_researchers_calibrate_and_declare(action):
    found = calibrated()
    path = f"/suts/probed/{action.replace('1', str(found.pk))}"

    assert statuses(path, method="post") == {
        "": 302, "admin": 302, "researcher": 302, "reviewer": 403, "annotator": 403,
    }  # fmt: skip
    assert browser_of(Role.RESEARCHER).get(path).status_code == 405


def test_the_page_shows_both_verdicts_first_then_every_convention_and_every_picture(browser):
    found = calibrated()

    page = browser.get(found.get_absolute_url())

    html = page.content.decode()
    verdicts, conventions = html.index("Lettered answers"), html.index("Conventions")
    assert verdicts < conventions < html.index('<ol class="probes">')
    assert found.answers_sentence in html
    assert html.count('<li class="probe"') == 20
    assert len(page.context["page"].fits) == 12
    assert [fit.name for fit in page.context["page"].fits if fit.is_declared] == ["0-1000 xyxy"]
    validate_with_plotly(page.context["chart"].spec)


def test_each_picture_shows_the_true_box_the_read_one_and_the_raw_replies(browser):
    found = calibrated()

    page = browser.get(found.get_absolute_url())

    line = page.context["page"].lines[0]
    assert [box.css for box in line.picture.boxes] == ["truth", "clean"]
    assert line.iou > 0.9
    assert line.where.reading == f"IoU {line.iou:.2f}"
    assert line.which.reading == f"{line.expected_letter} ({line.target.split()[1]}), right"
    assert "&quot;bbox_2d&quot;" in page.content.decode()
    assert line.target in page.context["page"].where_prompt


def test_a_wrong_colour_is_told_by_name_beside_the_right_one(browser):
    found = calibrated(which=lambda picture: "A" if picture.expected_letter != "A" else "B")
    first = pictures()[0]
    wrong = "A" if first.expected_letter != "A" else "B"

    line = browser.get(found.get_absolute_url()).context["page"].lines[0]

    right = f"{first.expected_letter} ({first.colour})"
    assert line.which.reading == f"{wrong} ({first.options[wrong]}), but it is {right}"


def test_when_another_convention_fits_a_button_declares_it_and_asks_to_calibrate_again(browser):
    found = calibrated(where=in_pixels)

    page = browser.get(found.get_absolute_url()).content.decode()
    answer = browser.post(f"{found.get_absolute_url()}use/", {"convention": "pixels xyxy"}, follow=True)

    assert "Declare pixels xyxy instead" in page
    assert SutRecord.objects.get().params["asking"]["convention"]["space"] == "seen_pixels"
    html = answer.content.decode()
    assert "now declares pixels xyxy. Calibrate it again to check." in html
    assert "It has changed since it was calibrated: calibrate it again." in html


def test_a_reader_is_not_offered_the_button():
    found = calibrated(where=in_pixels)

    page = browser_of(Role.REVIEWER).get(found.get_absolute_url()).content.decode()

    assert "Declare pixels xyxy instead" not in page


def test_a_convention_nobody_measured_changes_nothing(browser):
    found = calibrated()
    before = SutRecord.objects.get().params

    page = browser.post(f"{found.get_absolute_url()}use/", {"convention": "<b>x"}, follow=True)

    assert SutRecord.objects.get().params == before
    assert "did not measure that convention" in page.content.decode()


def test_a_system_that_cannot_write_boxes_is_told_so_calmly(browser):
    found = calibrated(where=prose)

    page = browser.get(found.get_absolute_url()).content.decode()

    assert "Boxes do not matter for a search whose questions have lettered answers" in page
    assert "No box to compare" in page
    assert '<span class="badge queued">Cannot be read</span>' in page
    assert "The reply holds no box." in page
    assert 'class="notice bad"' not in page


def test_call_errors_stand_apart(browser):
    found = calibrated(params={"call_error_rate": 0.1})

    page = browser.get(found.get_absolute_url())

    [(sentence, count)] = page.context["page"].call_errors
    assert (sentence, count) == ("The scripted call failed, as its settings ask.", found.n_call_errors)
    assert "Call errors, outside every share" in page.content.decode()


def test_an_old_calibration_says_that_it_does_not_count_any_more(browser):
    found = calibrated()
    SutRecord.objects.update(fingerprint="0" * 64)

    page = browser.get(found.get_absolute_url()).content.decode()

    assert "This is not the calibration that counts now" in page


def test_hostile_replies_are_shown_as_text(browser):
    found = calibrated(where=lambda picture: "<script>alert(1)</script>", which=lambda picture: "<b>A")

    page = browser.get(found.get_absolute_url()).content.decode()

    assert ("<script>alert" in page, "<b>A" in page) == (False, False)
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 20


def test_a_calibration_of_another_system_is_not_found_under_this_one(browser):
    found = calibrated()
    make_sut("other")

    assert browser.get(f"/suts/other/calibrations/{found.pk}/").status_code == 404
    assert browser.post(f"/suts/other/calibrations/{found.pk}/use/").status_code == 404


def test_a_click_starts_one_job_and_leads_to_the_page_where_it_is_followed(browser):
    probed_sut()

    first = browser.post("/suts/probed/calibrate/")
    second = browser.post("/suts/probed/calibrate/")

    job = Job.objects.get()
    assert job.kind == JobKind.CALIBRATE_SUT
    assert first.url == second.url == f"/suts/probed/calibrations/?job={job.pk}"


def test_a_system_that_is_switched_off_says_what_to_do(browser):
    probed_sut(name="Probed", is_enabled=False)

    page = browser.post("/suts/probed/calibrate/", follow=True).content.decode()

    assert "Probed is switched off. Switch it on, then calibrate it." in page
    assert Job.objects.count() == 0


def test_a_calibration_at_work_shows_how_far_it_is_and_polls(browser):
    probed_sut()
    browser.post("/suts/probed/calibrate/")
    Job.objects.update(state=JobState.RUNNING, result={"n_answered": 16, "n_calls": 40})

    page = browser.get("/suts/probed/calibrations/").content.decode()

    assert 'hx-trigger="every 1s"' in page
    assert "16 of 40" in page


def test_once_done_the_address_of_the_job_leads_to_what_was_found(browser):
    probed_sut()
    address = browser.post("/suts/probed/calibrate/").url
    run_job(take_job("w", ["cpu"]))
    job = Job.objects.get()

    part = browser.get(f"/jobs/{job.pk}/", headers={"HX-Request": "true"}).content.decode()

    found = Calibration.objects.get()
    assert (found.get_absolute_url() in part, "hx-trigger" in part) == (True, False)
    assert browser.get(address).url == found.get_absolute_url()


def test_a_failed_one_says_why(browser):
    probed_sut(params={"call_error_rate": 1.0})
    address = browser.post("/suts/probed/calibrate/").url
    run_job(take_job("w", ["cpu"]))

    page = browser.get(address).content.decode()

    assert "The first 8 calls all failed, so the calibration was ended." in page


def test_without_any_the_list_says_what_a_calibration_is(browser):
    make_sut("fresh")

    page = browser.get("/suts/fresh/calibrations/").content.decode()

    assert "It has not been calibrated yet." in page
    assert "That takes 40 calls." in page


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_takes_the_same_queries_for_any_number_of_rows(count, browser, django_assert_num_queries):
    sut = probed_sut()
    for _ in range(count):
        calibrate(sut, by=None)

    with django_assert_num_queries(8):  # session, person, navigation, system, job, count, rows, state
        page = browser.get("/suts/probed/calibrations/")

    assert page.status_code == 200
    assert page.content.decode().count('class="primary-link"') == count


def test_the_list_comes_in_pages(browser):
    found = calibrated()
    Calibration.objects.bulk_create(
        Calibration(sut=found.sut, asking=found.asking, boxes_status="calibrated", answers_status="failed")
        for _ in range(25)
    )

    first, second = (
        browser.get("/suts/probed/calibrations/", {"page": page}).content.decode() for page in (1, 2)
    )

    assert ("1–25 of 26" in first, "26–26 of 26" in second) == (True, True)
    assert (found.get_absolute_url() in first, found.get_absolute_url() in second) == (False, True)


def test_the_words_on_how_many_calls_a_calibration_takes_follow_the_probe(browser):
    probed_sut()

    assert (PROBE_SIZE, CALLS) == (20, 40)  # as the manual says
    assert "20 small pictures" in browser.get("/suts/new/?kind=openai_chat").content.decode()
    assert "That takes 40 calls." in browser.get("/suts/probed/calibrations/").content.decode()


def test_the_page_takes_the_same_queries_for_twenty_pictures(browser, django_assert_num_queries):
    found = calibrated()

    with django_assert_num_queries(5):  # session, person, navigation, calibration, state
        page = browser.get(found.get_absolute_url())

    assert page.status_code == 200
    assert page.content.decode().count('<li class="probe"') == PROBE_SIZE


def test_the_page_that_starts_a_search_names_systems_whose_answers_are_unchecked(browser):
    make_sut("fresh", name="Fresh")
    calibrated(name="Good")

    page = browser.get("/runs/new/").content.decode()

    assert page.count("Answers: not calibrated.") == 1
    assert "Fresh is not calibrated: nobody has checked yet" in page


@pytest.mark.parametrize("is_good", [True, False])
def test_a_run_and_its_findings_warn_when_answers_are_unchecked(is_good, browser):
    sut = calibrated().sut if is_good else make_sut("fresh")
    run = make_finished_run(sut)
    finding = make_finding(make_trial(run, ("cone", "near")))

    pages = [
        browser.get(path).content.decode() for path in (run.get_absolute_url(), finding.get_absolute_url())
    ]

    assert ["is not calibrated: nobody has checked" in page for page in pages] == [not is_good] * 2


def test_unreadable_boxes_alone_do_not_warn_a_run(browser):
    run = make_finished_run(calibrated(where=prose).sut)

    page = browser.get(run.get_absolute_url()).content.decode()

    assert "Look at its calibration" not in page


def test_unreadable_answers_warn_a_run_with_a_link_to_what_was_found(browser):
    found = calibrated(which=prose)
    run = make_finished_run(found.sut)

    page = browser.get(run.get_absolute_url()).content.decode()

    assert "wrote readable answers to only 0 % of the calibration" in page
    assert f'href="{found.get_absolute_url()}">Look at its calibration' in page
