"""What a refusal means: its kind, whether another try may help, and words a person can act on."""

import pytest

from vlmlab.core.suts.failures import (
    codes_of,
    failure_of_status,
    not_json,
    page_title,
    plain_words,
    retry_after_of,
    unexpected,
    words_of,
)

RETRIED = {408: "timeout", 409: "server", 429: "rate_limit", 500: "server", 502: "server",
           503: "overloaded", 504: "timeout", 529: "overloaded"}  # fmt: skip
FINAL = {301: "address", 400: "request", 401: "key", 402: "quota", 403: "key", 404: "address",
         413: "too_large", 418: "request", 422: "request"}  # fmt: skip


@pytest.mark.parametrize(("status", "kind"), [*RETRIED.items(), *FINAL.items()])
def test_the_status_decides_whether_another_try_may_help(status, kind):
    failure = failure_of_status(status, None)

    assert (failure.kind, failure.is_retryable) == (kind, status in RETRIED)


def test_the_servers_words_and_wait_are_passed_on():
    failure = failure_of_status(429, {"error": {"message": "slow\n down."}}, retry_after_s=2.5)

    assert failure.message == (
        "The server is asked too often (“slow down”). Lower the calls at once or a minute."
    )
    assert failure.retry_after_s == 2.5


def test_a_server_that_says_nothing_is_told_by_its_status():
    assert failure_of_status(500, None).message == "The server failed (status 500). Try again later."


def test_braces_in_foreign_words_stay_as_they_are():
    assert "“{words} {0}”" in failure_of_status(400, {"detail": "{words} {0}"}).message


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota."}},
        {"error": {"message": "Your credit balance is too low."}},
    ],
)
def test_an_empty_account_is_not_asked_again_whatever_its_status(body):
    failures = [failure_of_status(status, body) for status in (400, 403, 429)]

    assert [(failure.kind, failure.is_retryable) for failure in failures] == [("quota", False)] * 3


def test_a_filters_refusal_is_an_outcome():
    failure = failure_of_status(400, {"error": {"code": "content_filter", "message": "Blocked."}})

    assert (failure.kind, failure.is_retryable) == ("filtered", False)


def test_an_unknown_model_is_told_from_an_unknown_address():
    assert failure_of_status(404, {"detail": "The model m-1 does not exist"}).kind == "model"
    assert failure_of_status(404, {"detail": "Not Found"}).kind == "address"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "a"}}, "a"), ([{"error": {"message": "a"}}], "a"), ({"error": "a"}, "a"),
        ({"detail": [{"msg": "a"}]}, "a"), ({"Message": "a"}, "a"), ({"x": "a"}, ""), (None, ""), (7, ""),
    ],
)  # fmt: skip
def test_words_are_found_where_servers_put_them(body, words):
    assert words_of(body) == words


def test_codes_are_found_at_every_level_and_only_as_text():
    body = {"type": "t", "error": {"code": "c", "type": 3, "innererror": {"code": "i"}}}

    assert codes_of(body) == "t c i"
    assert codes_of([body]) == ""


def test_foreign_words_become_one_short_line():
    assert plain_words(" a\tb\x1b[31m\n\nc. ") == "a b [31m c"
    assert plain_words("x" * 400) == "x" * 300 + "…"


def test_a_web_page_is_named_by_its_title():
    assert page_title(b"<HTML><title lang=en> Sign\nin </title>") == "Sign in"
    assert "a web page (“Sign in”)" in not_json(b"<title>Sign in</title>").message
    assert "answered with nothing" in not_json(b" \n").message
    assert "something that is not JSON" in not_json(b"ok").message


def test_json_of_another_shape_is_not_asked_for_again():
    failure = unexpected("no choice")

    assert (failure.kind, failure.is_retryable) == ("not_json", False)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_in_each_form(headers, seconds):
    assert retry_after_of(headers, now_s=10.0) == seconds
