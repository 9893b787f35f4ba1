"""``manage.py regress`` and ``card``: exit codes that CI can trust, files, and what is refused."""

import json
import os
import signal
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.db import OperationalError

from searches.management.commands.regress import Command
from searches.management.gate_work import time_limit
from searches.models import Campaign, FollowUpSource, SearchRun
from searches.services.families import FamilyWish, create_family, read_pins
from tests.searches.engine import CARELESS, FLAT, GO, STOP, as_new_process, scripted
from tests.searches.follow_up_engine import suspects
from tests.searches.gate_factory import make_envelope
from tests.serve.labs import wait_until

pytestmark = pytest.mark.django_db
CAREFUL = CARELESS | {"rules": [{"answer_option": STOP}]}
RECKLESS = CARELESS | {"rules": [{"answer_option": GO}]}


@pytest.fixture(autouse=True)
def flat_scenes(settings):
    settings.SCENE_SOURCE_FACTORY = FLAT
    as_new_process()
    yield
    as_new_process()


def make_family(**values):
    found = suspects()[:2]  # cones, which a careless system overlooks
    wish = FamilyWish(**{"name": "Cones", "baseline": found[0].sut, "scenes": 12} | values)
    return create_family(wish, read_pins(findings=[one.pk for one in found]), by=None)


def regress(*options: str) -> int:
    try:
        call_command("regress", *options)
    except CommandError as error:
        return error.returncode
    return 0


def test_a_system_that_does_not_fail_any_more_passes_with_exit_code_0(tmp_path):
    family = make_family()
    scripted("careful", **CAREFUL)
    junit, out = tmp_path / "junit.xml", tmp_path / "out.json"

    code = regress("--family", family.slug, "--sut", "careful", "--junit", str(junit), "--json", str(out))

    values = json.loads(out.read_text())
    assert (code, values["verdict"], values["counts"]) == (0, "pass", {"fixed": 2})
    seeds = set(SearchRun.objects.filter(campaign=values["campaign"]).values_list("run_seed", flat=True))
    assert seeds == {values["run_seed"]}
    assert ElementTree.parse(junit).getroot().get("failures") == "0"
    assert FollowUpSource.objects.get(campaign_id=values["campaign"]).spec["verdict"] == "pass"


def test_a_system_that_fails_more_often_leaves_with_exit_code_1_and_a_failed_test(tmp_path):
    family = make_family(baseline=scripted("careful", **CAREFUL))
    scripted("reckless", **RECKLESS)
    junit = tmp_path / "junit.xml"

    assert regress("--family", family.slug, "--sut", "reckless", "--junit", str(junit)) == 1

    failures = [one.get("message") for one in ElementTree.parse(junit).getroot().iter("failure")]
    assert len(failures) == 3  # both modes, and the family
    assert failures[0].startswith("Worse: Failed on 0 of 12 scenes before and on 12 now; ")


def test_too_few_scenes_leave_with_exit_code_2():
    family = make_family()
    scripted("twin")  # answers as the baseline does

    assert regress("--family", family.slug, "--sut", "twin", "--scenes", "3") == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--family", "nothing", "--sut", "careful"), "There is no regression family “nothing”."),
        (("--family", "cones", "--sut", "nobody"), "There is no system called “nobody”."),
        (("--family", "cones", "--sut", "sut"), "A system cannot be compared with itself."),
        (("--family", "cones", "--sut", "careful", "--scenes", "0"), "Scenes a mode"),
        (("--family", "cones", "--sut", "careful", "--junit", "/nowhere/x.xml"), "does not exist"),
        (("--resume", "99"), "There is no regression 99."),
    ],
)
def test_what_cannot_be_started_leaves_with_exit_code_3_and_a_sentence(options, said):
    family = make_family()
    family.baseline.slug = "sut"
    family.baseline.save()
    scripted("careful", **CAREFUL)

    with pytest.raises(CommandError, match=said) as error:
        call_command("regress", *options)

    assert error.value.returncode == 3
    assert not Campaign.objects.filter(kind="regress").exists()


@pytest.mark.parametrize("seed", ["-5", str(2**63), str(10**40)])
def test_a_seed_that_cannot_be_stored_is_refused(seed):
    family = make_family()
    scripted("careful", **CAREFUL)

    assert regress("--family", family.slug, "--sut", "careful", "--seed", seed) == 3
    assert not Campaign.objects.filter(kind="regress").exists()


def test_wrong_arguments_are_not_taken_for_missing_evidence(capsys):
    with pytest.raises(SystemExit) as ended:
        Command().run_from_argv(["manage.py", "regress", "--scenes", "many"])

    assert ended.value.code == 3
    assert "invalid int value" in capsys.readouterr().err


def test_a_regression_can_be_queued_only(capsys):
    family = make_family()
    scripted("careful", **CAREFUL)

    assert regress("--family", family.slug, "--sut", "careful", "--no-wait") == 0

    campaign = Campaign.objects.get(kind="regress")
    assert f"Regression {campaign.pk} is queued" in capsys.readouterr().out
    assert set(campaign.runs.values_list("state", flat=True)) == {"queued"}


def test_a_time_limit_pauses_it_and_it_goes_on_where_it_was(capsys, monkeypatch):
    monkeypatch.setattr("searches.management.gate_work.AGAIN_SECONDS", 0.1)  # sooner than the work can end
    family = make_family()
    scripted("careful", **CAREFUL)

    code = regress("--family", family.slug, "--sut", "careful", "--timeout", "0.000001")

    campaign = Campaign.objects.get(kind="regress")
    assert code == 3
    assert set(campaign.runs.values_list("state", flat=True)) == {"paused"}
    assert regress("--resume", str(campaign.pk)) == 0


@pytest.mark.parametrize("limit", ["nan", "inf", "-1", "0", "soon", "1e9"])
def test_a_time_limit_that_is_none_is_refused_before_anything_starts(limit):
    assert regress("--family", "cones", "--sut", "careful", "--timeout", limit) != 0
    assert not Campaign.objects.exists()


def test_an_interrupt_of_the_time_limit_before_and_after_the_work_breaks_nothing(monkeypatch):
    seen, outside = [], signal.getsignal(signal.SIGINT)
    kill, sent = os.kill, []
    monkeypatch.setattr("searches.management.gate_work.AGAIN_SECONDS", 0.05)
    monkeypatch.setattr("searches.management.gate_work.os.kill", lambda *to: (kill(*to), sent.append(1)))
    with time_limit(0.001):
        wait_until(lambda: sent, "it is over")  # nothing takes it here
        before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        wait_until(lambda: seen, "the interrupt comes again")
        signal.signal(signal.SIGINT, before)

    assert signal.getsignal(signal.SIGINT) is outside  # a shell may have started the tests without it


def test_an_interrupt_of_a_person_inside_a_time_limit_is_taken():
    with pytest.raises(KeyboardInterrupt), time_limit(60.0):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    "broken", [OperationalError("no such table"), KeyboardInterrupt(), SystemCheckError("bad settings")]
)
def test_what_breaks_is_never_taken_for_a_verdict(broken, monkeypatch):
    def breaks(*_args, **_options):
        raise broken

    monkeypatch.setattr(Command, "handle", breaks)

    with pytest.raises(SystemExit) as left:
        Command().run_from_argv(["manage.py", "regress", "--family", "a", "--sut", "b", "--skip-checks"])

    assert left.value.code == 3


def test_a_card_leaves_with_its_verdict_and_writes_one_page(tmp_path):
    envelope = make_envelope()
    scripted("careful", **CAREFUL)
    scripted("reckless", **RECKLESS)
    page, out = tmp_path / "card.html", tmp_path / "card.json"

    with pytest.raises(CommandError, match="Reckless is above the limit in Near obstacles") as error:
        call_command("card", "--envelope", envelope.slug, "--sut", "reckless", "--json", str(out))
    values = json.loads(out.read_text())
    near = values["cells"][0]
    assert (error.value.returncode, values["verdict"], near["errors"]) == (1, "fail", near["scenes"])
    assert near["planned"] == near["scenes"] == 183  # 2 % at 97.5 %, hand-worked: ln .025 / ln .98 = 182.6

    with pytest.raises(CommandError) as error:  # fog does not always ask for a stop
        call_command("card", "--envelope", envelope.slug, "--sut", "careful", "--html", str(page))
    assert error.value.returncode == 1
    assert page.read_text().startswith("<!doctype html>")
    with pytest.raises(CommandError, match="There is no operating envelope") as error:
        call_command("card", "--envelope", "nothing", "--sut", "careful")
    assert error.value.returncode == 3
