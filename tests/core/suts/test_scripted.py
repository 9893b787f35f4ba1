"""The table of answers: rows, draws, delays, failed calls, crashes, and its speed."""

import os
import signal
import subprocess
import sys

import pytest
from pydantic import ValidationError

from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.scripted import ScriptedParams, ScriptedSut, answer_key, crash_from_environment

PROMPT = "What now?\nA. Continue\nB. Stop\nC. Slow down\nAnswer with the letter."


def texts(params: ScriptedParams, *requests: SutRequest) -> list[str]:
    return [reply.text for reply in ScriptedSut(params).generate(requests)]


def test_first_fitting_row_answers_and_the_default_fills_in():
    params = ScriptedParams(
        default="C",
        rules=(
            {"image_contains": ("cone", "far"), "answer": "A"},
            {"image_contains": ("cone",), "answer": "B"},
            {"prompt_contains": ("night",), "answer": "It is dark."},
        ),
    )

    answers = texts(
        params,
        SutRequest(b"..cone,far..", PROMPT),
        SutRequest(b"..cone..", PROMPT),
        SutRequest(b"..dog..", "night"),
        SutRequest(b"..dog..", PROMPT),
    )

    assert answers == ["A", "B", "It is dark.", "C"]


def test_option_row_replies_with_the_letter_the_prompt_gives_that_option():
    params = ScriptedParams(rules=({"answer_option": "slow down"},))

    assert texts(params, SutRequest(b"", PROMPT), SutRequest(b"", "A) Slow down.\nB) Stop")) == ["C", "A"]


def test_table_entry_for_one_request_goes_before_the_rows():
    request = SutRequest(b"png", PROMPT)
    params = ScriptedParams(answers={answer_key(request): "B"}, rules=({"answer": "C"},))

    assert texts(params, request, SutRequest(b"other", PROMPT)) == ["B", "C"]


def test_share_of_a_row_is_met_and_drawn_the_same_way_again():
    params = ScriptedParams(default="A", seed=4, rules=({"share": 0.3, "answer": "B"},))
    requests = [SutRequest(b"png", PROMPT, number) for number in range(2000)]

    answers = texts(params, *requests)

    assert answers == [texts(params, request)[0] for request in requests]
    assert answers.count("B") == pytest.approx(600, abs=70)
    assert answers != texts(params.model_copy(update={"seed": 5}), *requests)


def test_call_errors_come_at_their_rate_with_a_sentence():
    params = ScriptedParams(call_error_rate=0.25, seed=1)

    replies = ScriptedSut(params).generate([SutRequest(b"", PROMPT, number) for number in range(2000)])

    failed = [reply for reply in replies if reply.is_call_error]
    assert len(failed) == pytest.approx(500, abs=70)
    assert {(reply.text, reply.call_error) for reply in failed} == {
        ("", "The scripted call failed, as its settings ask.")
    }


def test_each_batch_waits_once():
    waits: list[float] = []
    sut = ScriptedSut(ScriptedParams(latency_ms=80, batch_size=4), sleep=waits.append)

    replies = sut.generate([SutRequest(b"", PROMPT)] * 9)

    assert waits == [0.08] * 3
    assert {reply.latency_ms for reply in replies} == {20.0}


def test_fingerprint_tells_tables_apart():
    first, second = ScriptedParams(default="A"), ScriptedParams(default="B")

    assert ScriptedSut(first).info.fingerprint == ScriptedSut(first).info.fingerprint
    assert ScriptedSut(first).info.fingerprint != ScriptedSut(second).info.fingerprint


def test_row_with_two_answers_is_refused():
    with pytest.raises(ValidationError, match="not both"):
        ScriptedParams(rules=({"answer": "A", "answer_option": "Stop"},))


def test_crash_hook_is_silent_without_the_test_flag(monkeypatch):
    monkeypatch.setenv("VLMLAB_SCRIPTED_CRASH_AFTER", "0")
    monkeypatch.delenv("VLMLAB_TEST_HOOKS", raising=False)

    assert crash_from_environment() is None


def test_crash_hook_kills_the_process_after_so_many_answers():
    script = (
        "from vlmlab.core.suts.kinds import load_sut\n"
        "from vlmlab.core.suts.base import SutRequest\n"
        "sut = load_sut('scripted', {'batch_size': 2})\n"
        "for number in range(5):\n"
        "    print(len(sut.generate([SutRequest(b'', 'x')] * 2)), flush=True)\n"
    )
    environment = {**os.environ, "VLMLAB_TEST_HOOKS": "1", "VLMLAB_SCRIPTED_CRASH_AFTER": "4"}

    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)

    assert (done.returncode, done.stdout.split()) == (-signal.SIGKILL, ["2", "2"])
