"""``manage.py sut``: what it prints, what it stores, how it ends; over a real server where one answers."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from searches.models import ApiKey, AuditEntry, Calibration, SutRecord
from searches.services.suts import loaded_sut
from tests.factories import make_sut
from tests.peers import openai_chat as wire
from tests.peers.server import page, status
from tests.searches.probing import pictures, probed_sut, prose
from vlmlab.core.suts.remote import RemoteSut

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("draw_once")]

SECRET = "sk-test-1234567890"


@pytest.fixture
def peer(settings, monkeypatch):
    monkeypatch.setenv("LAB_PEER_KEY", wire.KEY)
    monkeypatch.setitem(RemoteSut.__init__.__kwdefaults__, "sleep", lambda seconds: False)
    with wire.openai_peer() as server:
        settings.ENDPOINT_ALLOW = [f"127.0.0.1/32:{server.port}"]
        yield server


def run(*arguments: str) -> tuple[int, str, str]:
    """Return exit code, what was printed, and the error."""
    out = StringIO()
    try:
        call_command("sut", *arguments, stdout=out)
    except CommandError as error:
        return error.returncode, out.getvalue(), str(error)
    return 0, out.getvalue(), ""


def remote(peer, **values: str) -> str:
    params = {"model": wire.MODEL, "base_url": f"{peer.url}/v1"} | values
    texts = [text for name, value in params.items() for text in ("--param", f"{name}={value}")]
    code, _, error = run("register", "far", "--kind", "openai_chat", "--api-key-env", "LAB_PEER_KEY", *texts)
    assert (code, error) == (0, "")
    return "far"


def test_the_list_names_every_system_with_its_calibration():
    make_sut("beta", is_enabled=False)
    make_sut("alpha", n_calls=3)

    code, printed, _ = run("list")

    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert (code, lines) == (
        0,
        [
            "alpha scripted answers: not calibrated, 3 calls, $0.00",
            "beta scripted answers: not calibrated, 0 calls, $0.00, switched off",
        ],
    )


def test_the_list_as_json_can_be_read_by_a_program():
    make_sut("alpha")

    [row] = json.loads(run("list", "--json")[1])

    assert (row["slug"], row["answers"], row["is_enabled"]) == ("alpha", "Not calibrated", True)


def test_without_systems_the_list_says_how_to_register_one():
    assert run("list")[1] == "No system is registered. See `manage.py sut register --help`.\n"


def test_a_check_connects_asks_calibrates_and_times():
    probed_sut()

    code, printed, error = run("check", "probed", "--calls", "3")

    assert (code, error) == (0, "")
    lines = printed.splitlines()
    assert lines[0].startswith("Loaded in ")
    assert lines[1] == f"Answered: {pictures()[0].expected_letter}"
    assert lines[2].startswith("Answers: calibrated. 20 of 20 answers can be read")
    assert lines[4].startswith("Boxes: calibrated.")
    assert "the median of 3 calls" in lines[5]
    assert (Calibration.objects.count(), SutRecord.objects.get().n_calls) == (1, 44)
    assert loaded_sut() is None


def test_a_check_without_calibration_asks_only_a_few_times():
    probed_sut()

    code, printed, _ = run("check", "probed", "--no-calibrate", "--calls", "0", "--json")

    report = json.loads(printed)
    assert (code, report["is_good"], report["calibration"], report["timing"]) == (0, True, None, None)
    assert SutRecord.objects.get().n_calls == 1


def test_a_check_that_may_pass_the_limit_of_the_system_asks_nothing():
    sut = make_sut("dear", params={"price_usd": 0.5, "spend_cap_usd": 2.0})

    code, _, error = run("check", "dear")

    sut.refresh_from_db()
    assert (code, sut.n_calls, sut.spend_usd) == (1, 0, 0.0)
    assert "The spending limit of Dear is reached" in error


def test_a_check_as_json_holds_verdicts_and_timing():
    probed_sut()

    report = json.loads(run("check", "probed", "--json")[1])

    assert (report["calibration"]["answers"], report["calibration"]["right_share"]) == ("calibrated", 1.0)
    assert report["timing"]["n_calls"] == 5


def test_a_system_whose_answers_cannot_be_read_ends_with_one():
    probed_sut(which=prose)

    code, printed, error = run("check", "probed")

    assert (code, error) == (1, "probed does not answer readably.")
    assert "Answers: cannot be read." in printed


def test_boxes_that_cannot_be_read_are_no_fault():
    probed_sut(where=prose)

    code, printed, _ = run("check", "probed")

    assert code == 0
    assert "Boxes: cannot be read." in printed


def test_a_hostile_answer_cannot_steer_the_terminal():
    make_sut("hostile", params={"default": "\x1b[2J\x1b]0;owned\x07 A\nB" + "x" * 1000})

    _, printed, _ = run("check", "hostile", "--no-calibrate", "--calls", "0")

    assert "\x1b" not in printed
    assert len(printed.splitlines()[1]) < 200


@pytest.mark.parametrize("action", ["check", "calibrate"])
def test_an_unknown_system_names_the_known_ones(action):
    make_sut("alpha")

    code, _, error = run(action, "nothere")

    assert (code, error) == (2, "There is no system called “nothere”. Registered: alpha.")


def test_a_system_that_is_switched_off_says_so():
    make_sut("off", name="Off", is_enabled=False)

    code, _, error = run("check", "off")

    assert (code, error.startswith("Off is switched off.")) == (1, True)


@pytest.mark.parametrize("calls", ["-1", "21"])
def test_a_number_of_calls_out_of_range_is_refused(calls):
    probed_sut()

    code, _, error = run("check", "probed", "--calls", calls)

    assert (code, "Time 0 to 20 calls" in error) == (2, True)


def test_calibrating_alone_prints_the_verdicts():
    probed_sut()

    code, printed, _ = run("calibrate", "probed")

    assert code == 0
    assert printed.startswith("Answers: calibrated. 20 of 20 answers can be read")
    assert Calibration.objects.get().created_by is None


def test_a_server_that_answers_is_checked_over_the_network(peer):
    slug = remote(peer)

    code, printed, _ = run("check", slug, "--no-calibrate", "--calls", "2", "--json")

    report = json.loads(printed)
    assert (code, report["call_error"], report["timing"]["n_calls"]) == (0, "", 2)
    assert len(peer.requests) == 3


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (status(401, {"error": {"message": "Incorrect API key"}}), ("key",)),
        (
            status(404, {"error": {"message": "The model does not exist", "code": "model_not_found"}}),
            ("model",),
        ),
        (page(), ("web page",)),
    ],
    ids=["wrong key", "wrong model", "a web page"],
)
def test_what_the_server_says_instead_of_an_answer_is_one_sentence(peer, behaviour, words):
    slug = remote(peer)
    peer.next(behaviour)

    code, _, error = run("check", slug)

    assert code == 1
    assert error.startswith("far does not answer. ")
    assert [word for word in words if word.lower() not in error.lower()] == []
    assert Calibration.objects.count() == 0


def test_a_server_that_is_down_is_one_sentence(peer):
    slug = remote(peer)
    peer.__exit__()

    code, _, error = run("check", slug)

    assert (code, error.startswith("far does not answer. ")) == (1, True)
    assert wire.KEY not in error


def test_registering_stores_nested_settings(peer):
    code, printed, _ = run(
        "register", "far", "--kind", "openai_chat", "--name", "Far away", "--param", "model=0815",
        "--param", f"base_url={peer.url}/v1", "--param", "asking.convention.scale=1",
        "--param", "asking.localization_template=Find {targets}: x=1", "--param", "temperature=0.5",
    )  # fmt: skip

    sut = SutRecord.objects.get()
    assert (code, printed) == (0, "Far away is registered. Check it with: manage.py sut check far\n")
    assert (sut.params["model"], sut.params["temperature"], sut.queue) == ("0815", 0.5, "api")
    assert sut.params["asking"]["convention"]["scale"] == 1
    assert sut.params["asking"]["localization_template"] == "Find {targets}: x=1"
    assert AuditEntry.objects.get().verb == "registered"


def test_a_preset_is_a_start_that_single_settings_change():
    code, _, error = run("register", "qwen", "--preset", "gemini_3_flash_low", "--api-key-env", "NOT_SET")

    assert (code, error) == (
        2,
        "The environment variable NOT_SET is empty or not set. Export the key under that name, then "
        "register again.",
    )
    assert SutRecord.objects.count() == 0


def test_the_key_comes_from_the_environment_and_is_shown_nowhere(monkeypatch):
    monkeypatch.setenv("LAB_GEMINI_KEY", SECRET)

    code, printed, _ = run(
        "register", "flash", "--preset", "gemini_3_flash_low", "--api-key-env", "LAB_GEMINI_KEY",
        "--param", "max_output_tokens=2048", "--json",
    )  # fmt: skip

    sut = SutRecord.objects.select_related("api_key").get()
    assert (code, sut.params["max_output_tokens"], sut.preset) == (0, 2048, "gemini_3_flash_low")
    assert (sut.api_key.name, sut.api_key.last_characters) == ("flash key", SECRET[-4:])
    assert sut.api_key.secret.reveal() == SECRET
    everything = printed + json.dumps([sut.params, sut.details, *AuditEntry.objects.values("after")])
    assert SECRET not in everything


def test_a_stored_key_is_named(monkeypatch):
    monkeypatch.setenv("LAB_GEMINI_KEY", SECRET)
    run("register", "one", "--preset", "gemini_3_flash_low", "--api-key-env", "LAB_GEMINI_KEY")

    code, _, _ = run("register", "two", "--preset", "gemini_3_flash_high", "--key-name", "one key")

    assert code == 0
    assert ApiKey.objects.get().suts.count() == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x"], "Give --preset or --kind."),
        (["x", "--kind", "oracle"], "There is no kind of system called 'oracle'."),
        (["x", "--preset", "nothing"], "There is no preset “nothing”."),
        (["x", "--preset", "gemini_3_flash_low", "--kind", "anthropic"], "is of the kind gemini"),
        (["x", "--kind", "scripted", "--param", "batch_size"], "--param needs KEY=VALUE"),
        (["x", "--kind", "scripted", "--param", "batch_size=zero"], "batch_size: "),
        (
            ["x", "--kind", "scripted", "--param", "batch_size=1", "--param", "batch_size.x=1"],
            "no settings of",
        ),
        (["x", "--kind", "scripted", "--param", "colour=red"], "colour"),
        (["x", "--kind", "scripted", "--param", "asking.convention.order=zyx"], "order"),
        (["x", "--kind", "gemini", "--param", "model=m"], "needs a key"),
        (["x", "--kind", "gemini", "--key-name", "none"], "There is no stored key “none”."),
        (["new", "--kind", "scripted"], "“new” cannot be a short name."),
        (["a b", "--kind", "scripted"], "“a b” cannot be a short name."),
        (
            ["x", "--kind", "openai_chat", "--param", "model=m", "--param", "base_url=http://10.0.0.1/v1"],
            "ALLOW",
        ),
    ],
)
def test_what_cannot_be_registered_says_why_and_ends_with_two(arguments, words):
    code, _, error = run("register", *arguments)

    assert (code, words in error, SutRecord.objects.count()) == (2, True, 0), error
