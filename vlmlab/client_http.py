"""How the client of the REST API talks to the lab: repeats what only reads, follows pages, saves files."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2

from vlmlab.client_types import LabError

API = "/api/v1"
PAGE_ROWS = 200
RETRIED = frozenset({429, 502, 503, 504})
LONGEST_PAUSE_S = 30.0


class Connection:
    """A lab's address with a token.

    Only reading is repeated when the connection breaks or the lab is busy; nothing that changes something is
    ever sent twice.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float,
        tries: int,
        transport: httpx2.BaseTransport | None,
        sleep: Callable[[float], None],
    ) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"url must start with http:// or https://, got {url!r}")
        self.url = url.rstrip("/")
        self._tries, self._sleep = tries, sleep
        self._http = httpx2.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token.strip()}", "Accept": "application/json"},
            timeout=timeout,
            follow_redirects=False,  # a token must not follow anybody elsewhere
            transport=transport,
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def json(self, method: str, address: str, **values: Any) -> Any:
        """Send a request and return what the answer holds.

        Raises:
            LabError: the lab refused it, or was not reached.
        """
        response = self._send(method, API + address, values)
        if response.status_code >= 300:
            raise _error_of(response)
        try:
            return response.json()
        except ValueError as error:
            raise LabError(
                response.status_code, "The answer is not from a VLM Lab.", "Check the url."
            ) from error

    def pages(self, address: str, filters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, fetching the next page when it is needed.

        Raises:
            LabError: see ``json``.
        """
        wanted = {name: _word(value) for name, value in filters.items() if value not in (None, "")}
        page = self.json("GET", address, params={**wanted, "limit": str(PAGE_ROWS)})
        while True:
            yield from page["items"]
            if not page["next"]:
                return
            page = self.json("GET", page["next"].removeprefix(API))

    def download(self, address: str, path: Path) -> Path:
        """Save an answer to a file that appears whole or not at all.

        Raises:
            LabError: see ``json``; also when the connection breaks half-way.
        """
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(handle, "wb") as file, self._http.stream("GET", API + address) as response:
                if response.status_code != 200:
                    response.read()
                    raise _error_of(response)
                for piece in response.iter_bytes():
                    file.write(piece)
            Path(temporary).replace(path)
        except httpx2.HTTPError as error:
            raise _unreached(self.url, error) from error
        finally:
            with suppress(FileNotFoundError):
                Path(temporary).unlink()
        return path

    def _send(self, method: str, address: str, values: dict[str, Any]) -> httpx2.Response:
        tries = self._tries if method == "GET" else 1
        for number in range(1, tries + 1):
            try:
                response = self._http.request(method, address, **values)
            except httpx2.TransportError as error:
                if number == tries:
                    raise _unreached(self.url, error) from error
                self._sleep(_pause(number, ""))
                continue
            if response.status_code not in RETRIED or number == tries:
                return response
            self._sleep(_pause(number, response.headers.get("Retry-After", "")))
        raise AssertionError("unreachable")


def _pause(number: int, asked: str) -> float:
    """Return how long to wait before the next try: what the lab asks for, else twice as long each time."""
    wanted = float(asked) if asked.isascii() and asked.isdigit() else 0.5 * 2 ** (number - 1)
    return min(wanted, LONGEST_PAUSE_S)


def _error_of(response: httpx2.Response) -> LabError:
    if response.has_redirect_location:
        where = response.headers["Location"]
        return LabError(
            response.status_code, f"The lab sends elsewhere: {where}.", "Use that address as url."
        )
    try:
        content = response.json()
        message, hint, field = content["message"], content.get("hint", ""), content.get("field")
    except (ValueError, KeyError, TypeError):
        message = f"The answer {response.status_code} is not from a VLM Lab."
        hint, field = "Check the url; it is the address of the site, without /api/v1.", None
    return LabError(response.status_code, message, hint, field)


def _unreached(url: str, error: httpx2.HTTPError) -> LabError:
    words = str(error) or type(error).__name__
    return LabError(0, f"The lab at {url} did not answer: {words}.", "Check the url and whether it runs.")


def part(text: str) -> str:
    """Return a text as a part of an address; nothing in it leads elsewhere."""
    return quote(str(text), safe="")


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
