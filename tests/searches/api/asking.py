"""A program with a token, as the tests of the API use it."""

import json
from typing import Any

from django.test import Client

from searches.models import User
from searches.services.tokens import create_token
from tests.factories import make_user
from vlmlab.web.roles import Role


class Program:
    """Sends JSON with a token; ``last`` is the answer as it came."""

    def __init__(self, person: User | None = None, *, role: Role = Role.RESEARCHER) -> None:
        self.person = person or make_user(role)
        self._headers = {"Authorization": f"Bearer {create_token(by=self.person, name='test', days=30).text}"}
        self._client = Client()
        self.last: Any = None
        self.get("/me")  # notes the use of the token, once a minute

    def get(self, path: str, **headers: str) -> Any:
        """Read; returns the JSON, or the response where there is none."""
        return self._content(self._client.get(f"/api/v1{path}", headers=self._headers | headers))

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send JSON; a string is sent as it is."""
        text = body if isinstance(body, str) else json.dumps({} if body is None else body)
        call = getattr(self._client, method)
        return self._content(
            call(f"/api/v1{path}", text, content_type="application/json", headers=self._headers | headers)
        )

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        """Send JSON with POST."""
        return self.send("post", path, body, **headers)

    def patch(self, path: str, body: Any) -> Any:
        """Send JSON with PATCH."""
        return self.send("patch", path, body)

    def upload(self, path: str, **fields: Any) -> Any:
        """Send multipart form data."""
        return self._content(self._client.post(f"/api/v1{path}", fields, headers=self._headers))

    @property
    def status(self) -> int:
        """Status of the last answer."""
        return int(self.last.status_code)

    def _content(self, response: Any) -> Any:
        self.last = response
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        return response.json() if is_json and not response.streaming else response
