"""Serves the ``plotly.min.js`` of the installed ``plotly`` package, so that page and library never differ."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage

PREFIX = "plotly"
FILES = ("plotly.min.js",)


class PlotlyFinder(BaseFinder):
    """Finds ``plotly/plotly.min.js`` without importing the package (its import is slow)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        spec = find_spec("plotly")
        folders = (spec.submodule_search_locations or []) if spec else []
        self.folder = Path(next(iter(folders), "")) / "package_data"
        self.storage = FileSystemStorage(location=self.folder)
        self.storage.prefix = PREFIX  # type: ignore[attr-defined]  # collectstatic reads it

    def check(self, **kwargs: Any) -> list[Any]:
        """Nothing to check: ``requirements.txt`` pins the package."""
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:  # noqa: FBT001 - Django's
        """Return the path of one of the files, or an empty list."""
        prefix, _, name = path.partition("/")
        if prefix != PREFIX or name not in FILES or not (self.folder / name).is_file():
            return []
        found = str(self.folder / name)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        """Yield every file with its storage."""
        for name in FILES:
            if (self.folder / name).is_file():
                yield name, self.storage
