"""What every part of the client of the REST API rests on: asking, waiting, closing."""

import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2

from vlmlab.client_http import Connection
from vlmlab.client_types import (
    Campaign,
    Dataset,
    Finding,
    Job,
    LabError,
    LabTimeout,
    Person,
    Run,
    Sut,
    record_of,
)

OUTAGES = frozenset({0, 502, 503, 504})
PATIENCE_S = 120.0  # how long waiting goes on while the lab is away, such as during an update
Values = Mapping[str, Any]
Record = TypeVar("Record", Campaign, Dataset, Finding, Job, Person, Run, Sut)


class Calls:
    """A connection to a lab, and how records are read and waited for; ``Lab`` says what the arguments are."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 30.0,
        tries: int = 4,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sleep, self._clock = sleep, clock
        self._lab = Connection(url, token, timeout=timeout, tries=tries, transport=transport, sleep=sleep)

    def __repr__(self) -> str:
        return f"Lab({self._lab.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._lab.close()

    def _until(
        self, timeout: float | None, poll: float, look: Callable[[], Record], what: str
    ) -> Iterator[Record]:
        started, silent_since = self._clock(), None
        while True:
            try:
                yield look()
                silent_since = None
            except LabError as error:
                silent_since = self._clock() if silent_since is None else silent_since
                if error.status not in OUTAGES or self._clock() - silent_since > PATIENCE_S:
                    raise
            if timeout is not None and self._clock() - started + poll > timeout:
                raise LabTimeout(
                    0,
                    f"{what[:1].upper()}{what[1:]} did not end within {timeout:g} s.",
                    "It goes on in the lab.",
                )
            self._sleep(poll)

    def _all(self, kind: type[Record], address: str, filters: Values) -> list[Record]:
        return [record_of(kind, row) for row in self._lab.pages(address, filters)]

    def _one(self, kind: type[Record], method: str, address: str, **values: Any) -> Record:
        return record_of(kind, self._lab.json(method, address, **values))
