"""The planner: how many fresh scenes settle a suspect, filled from a finding."""

import pytest

from tests.factories import make_finding, make_run, make_trial
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.planner import plan_settling
from vlmlab.web.figures import validate_with_plotly
from vlmlab.web.roles import Role

from .people import browser_of

pytestmark = pytest.mark.django_db


def test_it_shows_what_the_plan_says_for_what_is_assumed():
    page = browser_of(Role.REVIEWER).get("/follow-ups/planner/?tau=0.5&rate=0.9&family=4&max_samples=60")

    plan = plan_settling(
        0.9, ConfirmConfig(failure_rate_threshold=0.5, family_size=4, max_samples=60), most=300
    )
    assert dict(page.context["page"].needed) == plan.samples_for
    assert page.context["page"].right_word == "confirmed"
    assert page.context["chart"].rows[-1][1] == round(float(plan.confirmed_by[300]), 4)
    validate_with_plotly(page.context["chart"].spec)


def test_a_rate_below_the_threshold_should_be_refuted():
    page = browser_of(Role.REVIEWER).get("/follow-ups/planner/?rate=0.3").context["page"]

    assert page.right_word == "refuted"


def test_it_is_filled_from_a_finding_with_less_than_it_was_found_with():
    finding = make_finding(make_trial(make_run(), ("cone",), verdicts="FFFFF"))

    page = browser_of(Role.REVIEWER).get(f"/follow-ups/planner/?finding={finding.pk}")

    assert page.context["form"]["rate"].value() == 0.85
    assert page.context["form"]["family"].value() == 1
    assert "Cone" in page.content.decode()


def test_fresh_scenes_are_believed_as_they_are():
    trial = make_trial(make_run(), ("cone",), verdicts="FFFFF")
    finding = make_finding(trial, fresh_fails=14, fresh_n=20)

    page = browser_of(Role.REVIEWER).get(f"/follow-ups/planner/?finding={finding.pk}")

    assert page.context["form"]["rate"].value() == 0.7


def test_a_wrong_value_stands_at_its_field():
    page = browser_of(Role.REVIEWER).get("/follow-ups/planner/?rate=7")

    assert page.status_code == 422
    assert list(page.context["form"].errors) == ["rate"]
