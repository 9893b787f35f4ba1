"""What the REST API answers when something is wrong: one JSON shape for every error."""

from django.http import HttpRequest, JsonResponse

API_PREFIX = "/api/v1/"
API_NAMESPACE = "api-v1"


def is_api_request(request: HttpRequest) -> bool:
    """Whether a program asks, so that the answer must be JSON, whatever happened."""
    return request.path.startswith(API_PREFIX)


def problem(
    status: int, message: str, *, hint: str = "", field: str | None = None, reference: str = ""
) -> JsonResponse:
    """Return an error: what happened, what to do, and at which field of the request."""
    content = {"message": message, "hint": hint, "field": field, "reference": reference}
    response = JsonResponse(content, status=status, json_dumps_params={"ensure_ascii": False})
    response["Cache-Control"] = "no-store"
    return response
