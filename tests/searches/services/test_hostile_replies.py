"""Whatever a system answers, the run goes on, and pages and exports show it as text."""

import csv
import io
import json

import pytest
from django.test import Client

from searches.enums import RunState
from searches.services import exports
from tests.factories import make_user
from tests.searches.engine import advance, start_run
from vlmlab.core.suts.base import SutReply
from vlmlab.core.suts.scripted import ScriptedSut
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db

HOSTILE = {
    "NUL": "\x00A",
    "half a surrogate pair": "\ud83dA",
    "markup": "<img src=x onerror=alert(1)></textarea><script>alert(1)</script>",
    "a formula": '=HYPERLINK("http://x.example";"click")',
    "a template": "{{ request.user.password }}{% debug %}",
    "a megabyte": "A" * 1_000_000,
    "control signs": "\x1b[31mA\x07\r\n\u202e\u2028",
    "nothing": "",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_run_stands_any_answer(monkeypatch, text):
    monkeypatch.setattr(ScriptedSut, "generate", lambda self, requests: [SutReply(text) for _ in requests])
    run = start_run(inference_budget=10, algorithm="random", ask_reason=True)
    advance(run)

    assert (run.state, run.n_inferences) == (RunState.SUCCEEDED, 10)
    sample = run.samples.first()
    browser = Client()
    browser.force_login(make_user(Role.RESEARCHER))
    for path in (f"/runs/{run.pk}/", f"/runs/{run.pk}/sets/{sample.trial_id}/?sample=0", "/findings/"):
        page = browser.get(path)
        assert page.status_code == 200
        assert "<img src=x onerror" not in page.content.decode()
        assert len(page.content) < 1_500_000
    whole = json.loads("".join(exports.run_json(run)).encode())
    assert {one["raw_text"] for one in whole["samples"]} == {sample.raw_text}
    rows = list(csv.DictReader(io.StringIO("".join(exports.samples_csv(run)), newline="")))
    assert {row["raw_text"] for row in rows} <= {sample.raw_text, f"'{sample.raw_text}"}
    assert not any(row["raw_text"].startswith("=") for row in rows)


def test_a_failed_call_may_say_anything(monkeypatch):
    monkeypatch.setattr(
        ScriptedSut,
        "generate",
        lambda self, requests: [SutReply("", call_error="\x00\ud800 broke") for _ in requests],
    )
    run = start_run(inference_budget=8, algorithm="random")
    advance(run)

    assert run.state in (RunState.PAUSED, RunState.SUCCEEDED)
    assert set(run.samples.values_list("error", flat=True)) == {"\ufffd\ufffd broke"}
