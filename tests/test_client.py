"""The client of the API: alone against scripted answers, and against a live lab up to its findings."""

import json
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from searches.models import Finding
from searches.services.tokens import create_token
from searches.services.work import work_once
from tests.doubles import paint_png
from tests.factories import make_sut, make_user
from tests.patience import PATIENCE_SECONDS
from tests.searches.engine import CARELESS, FLAT, STOP, as_new_process
from vlmlab.client import Lab, LabError, LabTimeout
from vlmlab.web.roles import Role

PERSON = {"username": "ada", "name": "Ada", "role": "researcher", "operations": []}
RUN = {
    "id": 5, "sut": "toy", "state": "running", "is_final": False, "stage": "", "ending": "", "error": "",
    "hint": "", "progress": {}, "spending": {}, "page": "/runs/5/",
}  # fmt: skip


class Answers:
    """Gives prepared answers, and remembers the requests; the last answer is given again and again."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        status, content, *headers = answer
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return httpx2.Response(status, content=body, headers=dict(headers))


def lab_of(*answers, **values):
    script, pauses = Answers(*answers), []
    lab = Lab(
        "http://lab/", "vlm_secret", transport=httpx2.MockTransport(script), sleep=pauses.append, **values
    )
    return lab, script, pauses


def test_the_client_needs_neither_django_nor_torch():
    code = (
        "import sys, vlmlab.client\n"
        "print(sorted({'django', 'torch', 'transformers', 'pydantic'} & set(sys.modules)))"
    )

    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )

    assert found.stdout.strip() == "[]"


def test_requests_carry_the_token_and_the_lab_does_not_show_it():
    lab, script, _ = lab_of((200, PERSON))

    with lab:
        person = lab.me()

    assert (person.username, person.raw["name"]) == ("ada", "Ada")
    assert script.requests[0].headers["Authorization"] == "Bearer vlm_secret"
    assert str(script.requests[0].url) == "http://lab/api/v1/me"
    assert "vlm_secret" not in repr(lab) + str(vars(lab))


def test_a_problem_becomes_an_error_with_its_parts():
    lab, _, _ = lab_of((422, {"message": "No.", "hint": "Choose another.", "field": "slug"}))

    with pytest.raises(LabError, match=r"^No\. Choose another\.$") as caught:
        lab.register_sut("x", kind="gemini")

    assert (caught.value.status, caught.value.field) == (422, "slug")


@pytest.mark.parametrize("answer", [(200, b"<html>"), (502, b"<html>"), (404, {"detail": "x"})])
def test_an_answer_of_somebody_else_is_told(answer):
    lab, _, _ = lab_of(answer)

    with pytest.raises(LabError, match="not from a VLM Lab"):
        lab.me()


def test_an_answer_of_another_version_is_told():
    lab, _, _ = lab_of((200, {"username": "ada"}))

    with pytest.raises(LabError, match="older or newer"):
        lab.me()


def test_reading_is_tried_again_when_the_lab_is_busy_or_the_line_breaks():
    lab, script, pauses = lab_of(
        httpx2.ConnectError("refused"), (503, {}, ("Retry-After", "10")), (502, b"x"), (200, PERSON)
    )

    assert lab.me().username == "ada"
    assert len(script.requests) == 4
    assert pauses == [0.5, 10.0, 2.0]


def test_a_wish_to_wait_for_an_hour_is_cut_short():
    lab, _, pauses = lab_of((429, {}, ("Retry-After", "3600")), (200, PERSON))

    lab.me()

    assert pauses == [30.0]


@pytest.mark.parametrize("answer", [httpx2.ReadTimeout("slow"), (503, {"message": "Busy."})])
def test_what_changes_something_is_never_sent_twice(answer):
    lab, script, pauses = lab_of(answer)

    with pytest.raises(LabError):
        lab.start_search(suts=["toy"])

    assert (len(script.requests), pauses) == (1, [])


def test_a_lab_that_is_not_there_is_an_error_and_no_traceback_of_the_network():
    lab, script, _ = lab_of(httpx2.ConnectError("refused"), tries=2)

    with pytest.raises(LabError, match="The lab at http://lab did not answer: refused") as caught:
        lab.me()

    assert (caught.value.status, len(script.requests)) == (0, 2)


def test_an_address_without_a_scheme_is_refused():
    with pytest.raises(ValueError, match="http://"):
        Lab("lab.example.org", "vlm_x")


def test_a_redirect_does_not_take_the_token_elsewhere():
    lab, script, _ = lab_of((302, b"", ("Location", "http://elsewhere/")))

    with pytest.raises(LabError, match=r"sends elsewhere: http://elsewhere/\. Use that address as url\."):
        lab.me()

    assert [request.url.host for request in script.requests] == ["lab"]


def test_lists_follow_every_page():
    one, two = RUN | {"id": 2}, RUN | {"id": 1}
    lab, script, _ = lab_of(
        (200, {"items": [one], "next": "/api/v1/runs?cursor=2"}), (200, {"items": [two], "next": None})
    )

    assert [run.id for run in lab.runs(sut="toy")] == [2, 1]
    assert [str(request.url) for request in script.requests] == [
        "http://lab/api/v1/runs?sut=toy&limit=200",
        "http://lab/api/v1/runs?cursor=2",
    ]


def test_a_name_in_an_address_leads_nowhere_else():
    lab, script, _ = lab_of((404, {"message": "There is no system."}))

    with pytest.raises(LabError):
        lab.sut("../runs/1?x=")

    assert script.requests[0].url.raw_path == b"/api/v1/suts/..%2Fruns%2F1%3Fx%3D"


def test_every_search_has_a_key_of_its_own_unless_one_is_given():
    campaign = {"id": 1, "name": "x", "domain": "driving", "config": {}, "runs": [RUN]}
    lab, script, _ = lab_of((201, campaign))

    started = [lab.start_search(suts=["toy"]), lab.start_search(suts=["toy"], request_key="mine")]

    keys = [request.headers["Idempotency-Key"] for request in script.requests]
    assert (len(keys[0]), keys[1]) == (36, "mine")
    assert started[0].runs[0].sut == "toy"


@pytest.mark.parametrize("state", ["succeeded", "failed", "cancelled", "paused"])
def test_waiting_ends_when_the_run_rests(state):
    seen = []
    moved = RUN | {"progress": {"inferences": 3}}
    lab, _, pauses = lab_of((200, RUN), (200, RUN), (200, moved), (200, RUN | {"state": state}))

    run = lab.wait(5, poll=2.0, on_progress=seen.append)

    assert run.state == state
    assert pauses == [2.0, 2.0, 2.0]
    assert [(one.state, one.progress) for one in seen] == [
        ("running", {}),
        ("running", {"inferences": 3}),
        (state, {}),
    ]


def test_waiting_gives_up_before_the_time_is_over_and_leaves_the_run_alone():
    times = iter([0.0, 0.0, 4.0, 8.5])
    lab, script, _ = lab_of((200, RUN), clock=lambda: next(times))

    with pytest.raises(LabTimeout, match=r"Run 5 did not end within 10 s\. It goes on in the lab\."):
        lab.wait(5, poll=2.0, timeout=10.0)

    assert {request.method for request in script.requests} == {"GET"}


def test_waiting_outlasts_a_restart_of_the_lab():
    away = httpx2.ConnectError("refused")
    lab, _, _ = lab_of(away, (503, {"message": "Busy."}), (200, RUN | {"state": "paused"}), tries=1)

    assert lab.wait(5).state == "paused"


@pytest.mark.parametrize(
    ("answer", "status"), [((404, {"message": "No."}), 404), ((401, {"message": "No."}), 401)]
)
def test_waiting_ends_at_once_when_asking_again_cannot_help(answer, status):
    lab, script, _ = lab_of(answer)

    with pytest.raises(LabError) as caught:
        lab.wait(5)

    assert (caught.value.status, len(script.requests)) == (status, 1)


def test_waiting_gives_up_on_a_lab_that_stays_away():
    times = iter(range(0, 10_000, 50))
    lab, _, _ = lab_of(httpx2.ConnectError("refused"), tries=1, clock=lambda: float(next(times)))

    with pytest.raises(LabError, match="did not answer"):
        lab.wait(5)


def test_a_file_appears_whole(tmp_path):
    lab, script, _ = lab_of((200, b'{"run": 5}'))

    path = lab.export(5, "json", tmp_path / "run.json")

    assert path.read_bytes() == b'{"run": 5}'
    assert script.requests[0].url.path == "/api/v1/runs/5/export/run.json"
    assert [one.name for one in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize("answer", [(404, {"message": "There is no run 5."}), httpx2.ReadError("cut")])
def test_a_file_that_does_not_come_leaves_the_old_one(tmp_path, answer):
    (tmp_path / "run.json").write_text("old")
    lab, _, _ = lab_of(answer)

    with pytest.raises(LabError):
        lab.export(5, "json", tmp_path / "run.json")

    assert (tmp_path / "run.json").read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["run.json"]


def test_a_connection_that_breaks_half_way_leaves_the_old_file(tmp_path):
    def halves():
        yield b'{"run"'
        raise httpx2.ReadError("cut")

    (tmp_path / "run.json").write_text("old")
    lab = Lab(
        "http://lab",
        "vlm_x",
        transport=httpx2.MockTransport(lambda _: httpx2.Response(200, content=halves())),
    )

    with pytest.raises(LabError, match="cut"):
        lab.export(5, "json", tmp_path / "run.json")

    assert [one.read_text() for one in tmp_path.iterdir()] == ["old"]


@pytest.fixture
def live_lab(live_server, settings):
    settings.SCENE_SOURCE_FACTORY = FLAT
    as_new_process()
    token = create_token(by=make_user(Role.RESEARCHER), name="test", days=1).text

    def work(_seconds):
        """Instead of sleeping, be the worker."""
        while work_once("test:1:1:main", ["cpu", "api"]):
            pass

    with Lab(live_server.url, token, sleep=work) as lab:
        yield lab
    as_new_process()


def code_of_manual(heading):
    """Return the first Python block below a heading of the page of the API."""
    page = (Path(__file__).parents[1] / "docs/api.md").read_text(encoding="utf-8")
    return page.partition(f"## {heading}\n")[2].partition("```python\n")[2].partition("```")[0]


def refute_all():
    return Finding.objects.update(state="refuted")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("is_enabled", "is_refuted", "code", "words"),
    [(True, False, 1, "wrong, /findings/"), (True, True, 0, ""), (False, False, 2, "is switched off")],
)
def test_the_pipeline_of_the_manual_fails_exactly_when_a_failure_mode_was_found(
    live_lab, monkeypatch, capsys, is_enabled, is_refuted, code, words
):
    make_sut("toy", params=CARELESS, is_enabled=is_enabled)
    if is_refuted:
        ask = live_lab.findings
        monkeypatch.setattr(live_lab, "findings", lambda **wish: refute_all() and ask(**wish))
    monkeypatch.setattr("vlmlab.client.Lab", lambda url, token: live_lab)
    values = {"LAB_URL": "", "LAB_TOKEN": "", "LAB_SUT": "toy", "BUILD_ID": "1234"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SystemExit) as ended:
        exec(code_of_manual("In a pipeline"), {})

    assert ended.value.code == code
    assert words in "".join(capsys.readouterr())


@pytest.mark.django_db(transaction=True)
def test_the_first_program_of_the_manual_runs(live_lab, monkeypatch, tmp_path, capsys):
    make_sut("pocket", params=CARELESS)
    monkeypatch.setattr("vlmlab.client.Lab", lambda url, token: live_lab)
    monkeypatch.setenv("LAB_URL", "")
    monkeypatch.setenv("LAB_TOKEN", "")
    monkeypatch.chdir(tmp_path)

    exec(code_of_manual("The Python client"), {})

    assert capsys.readouterr().out.startswith("queued 0\nsucceeded 60\n")
    assert (tmp_path / "run.json").exists()


@pytest.mark.django_db(transaction=True)
def test_a_live_lab_from_a_system_to_its_findings(live_lab, tmp_path, settings):
    make_sut("toy", params=CARELESS)
    live_lab.register_sut(
        "far", kind="gemini", params={"model": "gemini-3-flash"}, secret="sk-0123456789abcdef"
    )
    live_lab.disable_sut("far")
    progress = []

    campaign = live_lab.start_search(
        suts=["toy"], config={"algorithm": "sits", "inference_budget": 60}, seed=11, name="Live"
    )
    run = live_lab.wait(campaign.runs[0], poll=0.0, timeout=PATIENCE_SECONDS, on_progress=progress.append)
    findings = live_lab.findings(run=run)
    path = live_lab.export(run, "json", tmp_path / "run.json")
    tried = live_lab.wait_for_job(live_lab.try_sut("toy", paint_png((1, 2, 3)), "What is this?"))

    assert [(sut.slug, sut.is_enabled) for sut in live_lab.suts()] == [("far", False), ("toy", True)]
    assert (run.state, run.progress["inferences"]) == ("succeeded", 60)
    assert [one.state for one in progress] == ["queued", "succeeded"]
    assert len(findings) == run.progress["failure_modes"] > 0
    assert {finding.sut for finding in findings} == {"toy"}
    assert len(json.loads(path.read_text())["samples"]) >= 60
    assert len(list(live_lab.samples(run))) >= 60
    assert (tried.state, tried.result["text"]) == ("done", STOP)
