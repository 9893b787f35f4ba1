"""Small files that a page offers for download."""

from django.http import HttpResponse


def send_description(text: str, *, name: str) -> HttpResponse:
    """Send a scene description as a file of JSON."""
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.scene.json"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
