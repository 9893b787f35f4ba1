"""What an error of boto3 means: whether another try may help, and a sentence a person can act on."""

from collections.abc import Mapping, Sequence

from vlmlab.core.suts.failures import (
    Meaning,
    failure_of_status,
    filtered,
    is_filtered,
    plain_words,
    retry_after_of,
)
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.redaction import Redactor
from vlmlab.core.suts.reply_fields import member, text

_KEY = "AWS refused the credentials. Check that the key is valid, not expired, and of the right account."
_FEW_TRIES, _MOST_TIMEOUTS = 2, 3
_TOO_OFTEN = Meaning("rate_limit", "Bedrock is asked too often. Lower the calls at once.", is_retryable=True)
_CODES: dict[str, Meaning] = {
    "ThrottlingException": _TOO_OFTEN,
    "TooManyRequestsException": _TOO_OFTEN,
    "ServiceUnavailableException": Meaning(
        "overloaded", "Bedrock is overloaded. Try again later.", is_retryable=True
    ),
    "ModelNotReadyException": Meaning(
        "overloaded", "Bedrock is starting the model. Try again later.", is_retryable=True
    ),
    "InternalServerException": Meaning(
        "server", "Bedrock failed{words}. Try again later.", is_retryable=True
    ),
    "ModelTimeoutException": Meaning(
        "timeout",
        "The model did not answer Bedrock in time. Ask for shorter replies.",
        is_retryable=True,
        max_tries=_FEW_TRIES,
    ),
    "ModelErrorException": Meaning(
        "server", "The model behind Bedrock failed{words}.", is_retryable=True, max_tries=_FEW_TRIES
    ),
    "ServiceQuotaExceededException": Meaning(
        "quota", "The quota of this AWS account is used up{words}. Raise it in the AWS console."
    ),
    "AccessDeniedException": Meaning(
        "key",
        "These AWS credentials may not use this model{words}. Ask for access to the model in the AWS "
        "console and allow bedrock:InvokeModel.",
    ),
    "ResourceNotFoundException": Meaning(
        "model",
        "Bedrock does not know this model in this region{words}. Check the model's id and the region.",
    ),
    "ValidationException": Meaning(
        "request", "Bedrock refused the request{words}. Change the settings it names."
    ),
}
_KEY_CODES = frozenset(
    {
        "UnrecognizedClientException",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "IncompleteSignature",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "InvalidClientTokenId",
        "ExpiredToken",
        "ExpiredTokenException",
        "RequestExpired",
    }
)
_NO_CREDENTIALS = frozenset(
    {
        "NoCredentialsError",
        "PartialCredentialsError",
        "CredentialRetrievalError",
        "TokenRetrievalError",
        "UnauthorizedSSOTokenError",
        "SSOTokenLoadError",
        "ProfileNotFound",
    }
)


def failure_of_error(error: Exception, *, secrets: Sequence[str], now_s: float) -> CallFailure | None:
    """Return the failure that an error of boto3 means; None for an error that is none of its.

    Args:
        error: what was raised.
        secrets: parts of the key; no word may repeat them.
        now_s: seconds since 1970, for answers that name a date to come back at.
    """
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.parsers import ResponseParserError

    if isinstance(error, ClientError):
        failure = _of_answer(error.response, now_s=now_s)
    elif isinstance(error, ResponseParserError):
        failure = CallFailure(
            "not_json", "Something other than Bedrock answered. Check the network.", is_retryable=False
        )
    elif isinstance(error, BotoCoreError):
        failure = _of_botocore(error)
    else:
        return None
    failure.reword(Redactor(secrets).words)
    return failure


def _of_answer(response: Mapping[str, object], *, now_s: float) -> CallFailure:
    code = text(member(response, "Error", "Code"))
    said = plain_words(text(member(response, "Error", "Message")))
    if code in _KEY_CODES:
        return CallFailure("key", _KEY, is_retryable=False)
    if code == "ValidationException" and "model identifier" in said.lower():
        code = "ResourceNotFoundException"
    if code == "ValidationException" and is_filtered(code, said):
        return filtered(said)
    headers = member(response, "ResponseMetadata", "HTTPHeaders")
    pairs = headers.items() if isinstance(headers, Mapping) else ()
    wait = retry_after_of({str(name).lower(): str(value) for name, value in pairs}, now_s=now_s)
    if code not in _CODES:
        status = member(response, "ResponseMetadata", "HTTPStatusCode")
        return failure_of_status(
            status if isinstance(status, int) else 500, {"message": said}, retry_after_s=wait
        )
    return _CODES[code].failure(f" (“{said}”)" if said else "", retry_after_s=wait)


def _of_botocore(error: Exception) -> CallFailure:
    """Return the failure of an error without an answer of AWS."""
    from botocore import exceptions

    if type(error).__name__ in _NO_CREDENTIALS:
        return CallFailure(
            "key",
            "The worker has no AWS credentials. Choose a key, or give the worker's account a role.",
            is_retryable=False,
        )
    if isinstance(error, exceptions.ReadTimeoutError | exceptions.ConnectTimeoutError):
        return CallFailure(
            "timeout",
            "Bedrock did not answer in time. Try again later, or raise the time limit.",
            is_retryable=True,
            max_tries=_MOST_TIMEOUTS,
        )
    if isinstance(error, exceptions.ParamValidationError | exceptions.NoRegionError):
        return CallFailure(
            "request",
            f"The request cannot be sent to Bedrock: {plain_words(str(error))}.",
            is_retryable=False,
        )
    if isinstance(error, exceptions.SSLError):
        return CallFailure(
            "connection", "The certificate of Bedrock's address is not valid. Check the network.",
            is_retryable=False,
        )  # fmt: skip
    return CallFailure(
        "connection",
        "Bedrock cannot be reached from the worker. Check the region and the network.",
        is_retryable=isinstance(error, exceptions.HTTPClientError | exceptions.ConnectionError),
    )
