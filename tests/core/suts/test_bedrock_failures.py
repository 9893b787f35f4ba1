"""What an error of boto3 means: its kind, whether to try again, and a sentence without the key."""

from urllib.parse import quote

import pytest
from botocore import exceptions

from vlmlab.core.suts.bedrock_failures import failure_of_error

SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"


@pytest.mark.parametrize(
    ("code", "status", "said", "kind", "is_retryable", "most", "message"),
    [
        ("ThrottlingException", 429, "Too many", "rate_limit", True, None, "Bedrock is asked too often."),
        ("ServiceUnavailableException", 503, "", "overloaded", True, None, "Bedrock is overloaded."),
        ("ModelNotReadyException", 429, "", "overloaded", True, None, "Bedrock is starting the model."),
        ("InternalServerException", 500, "Oops", "server", True, None, "Bedrock failed (“Oops”)."),
        ("ModelTimeoutException", 408, "", "timeout", True, 2, "The model did not answer Bedrock in time."),
        ("ModelErrorException", 424, "Bad", "server", True, 2, "The model behind Bedrock failed (“Bad”)."),
        ("ServiceQuotaExceededException", 400, "", "quota", False, None, "The quota of this AWS account"),
        ("AccessDeniedException", 403, "No", "key", False, None, "These AWS credentials may not use this"),
        ("UnrecognizedClientException", 403, SECRET, "key", False, None, "AWS refused the credentials."),
        ("ExpiredTokenException", 403, "", "key", False, None, "AWS refused the credentials."),
        ("ResourceNotFoundException", 404, "", "model", False, None, "Bedrock does not know this model"),
        (
            "ValidationException",
            400,
            "The provided model identifier is invalid.",
            "model",
            False,
            None,
            "Bedrock does not know this model in this region (“The provided model identifier is invalid”).",
        ),
        (
            "ValidationException",
            400,
            "temperature is too hot",
            "request",
            False,
            None,
            "Bedrock refused the request (“temperature is too hot”).",
        ),
        ("BrandNewException", 502, "", "server", True, None, "The server failed"),
    ],
)
def test_each_error_of_aws_says_what_to_do(code, status, said, kind, is_retryable, most, message):
    answer = {"Error": {"Code": code, "Message": said}, "ResponseMetadata": {"HTTPStatusCode": status}}

    failure = failure_of_error(exceptions.ClientError(answer, "Converse"), secrets=(SECRET,), now_s=0.0)

    assert (failure.kind, failure.is_retryable, failure.max_tries) == (kind, is_retryable, most)
    assert failure.message.startswith(message)
    assert SECRET not in f"{failure} {failure!r}"


@pytest.mark.parametrize(
    ("error", "kind", "is_retryable"),
    [
        (exceptions.ReadTimeoutError(endpoint_url="https://x"), "timeout", True),
        (exceptions.ConnectTimeoutError(endpoint_url="https://x"), "timeout", True),
        (exceptions.EndpointConnectionError(endpoint_url="https://x"), "connection", True),
        (exceptions.ConnectionClosedError(endpoint_url="https://x"), "connection", True),
        (exceptions.SSLError(endpoint_url="https://x", error="bad"), "connection", False),
        (exceptions.NoCredentialsError(), "key", False),
        (exceptions.PartialCredentialsError(provider="env", cred_var="x"), "key", False),
        (exceptions.ParamValidationError(report="no"), "request", False),
    ],
)
def test_errors_without_an_answer_are_told_apart(error, kind, is_retryable):
    failure = failure_of_error(error, secrets=(), now_s=0)

    assert (failure.kind, failure.is_retryable) == (kind, is_retryable)


@pytest.mark.parametrize(
    "said", ["Output blocked by content filtering policy", "The input was blocked by our content filter."]
)
def test_a_filter_that_speaks_as_a_validation_is_an_outcome(said):
    error = exceptions.ClientError({"Error": {"Code": "ValidationException", "Message": said}}, "Converse")

    failure = failure_of_error(error, secrets=(SECRET,), now_s=0.0)

    assert (failure.kind, failure.is_retryable) == ("filtered", False)


@pytest.mark.parametrize("spelling", ["{}", "{:.20}…", "…{}", "key={}&"])
def test_no_spelling_of_the_secret_stays_in_an_error(spelling):
    secret = "wJalrXUtn/FEMI+K7MDENG/bPxRfiCYEXAMPLEKEY"
    for shown in (secret, quote(secret, safe="")):
        words = f"Not good: {spelling.format(shown)}"
        error = exceptions.ClientError(
            {"Error": {"Code": "ValidationException", "Message": words}}, "Converse"
        )

        failure = failure_of_error(error, secrets=("AKIAIOSFODNN7EXAMPLE", secret), now_s=0.0)

        assert "FEMI" not in failure.message
        assert "FEMI" not in str(failure.args)


def test_the_wait_that_aws_asks_for_is_kept():
    headers = {"retry-after": "4"}
    answer = {"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": {"HTTPHeaders": headers}}

    failure = failure_of_error(exceptions.ClientError(answer, "Converse"), secrets=(), now_s=0.0)

    assert (failure.kind, failure.retry_after_s) == ("rate_limit", 4.0)


def test_an_error_of_the_lab_itself_has_no_meaning_here():
    assert failure_of_error(KeyError("converse"), secrets=(), now_s=0.0) is None
