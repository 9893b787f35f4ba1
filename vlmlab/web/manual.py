"""The manual: the Markdown files of ``docs/`` as pages of the site."""

import base64
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

PAGE_NAME = re.compile(r"[a-z0-9_-]{1,60}")
INDEX = "index"
LINK_IN_TEXT = re.compile(r"\]\(([a-z0-9_-]+)\.md[)#]")
LINK_TO_PAGE = re.compile(r"^(?:\./)?([a-z0-9_-]+)\.md(#.*)?$")
PICTURE = re.compile(r"^img/[a-z0-9_-]+\.png$")
NO_PART_OF_AN_ANCHOR = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class ManualPage:
    """One page: its name in the address, its title, its text as HTML without the title."""

    name: str
    title: str
    html: SafeString


@dataclass(frozen=True)
class ManualEntry:
    """A line of the manual's contents."""

    name: str
    title: str


def manual_contents(folder: Path) -> list[ManualEntry]:
    """Return every page with its title: the introduction, those it names in its order, then the rest."""
    index = folder / f"{INDEX}.md"
    named = LINK_IN_TEXT.findall(index.read_text(encoding="utf-8")) if index.is_file() else []
    order = {name: place for place, name in enumerate(dict.fromkeys([INDEX, *named]))}
    entries = [ManualEntry(path.stem, _title_of(path)) for path in sorted(folder.glob("*.md"))]
    return sorted(
        (one for one in entries if PAGE_NAME.fullmatch(one.name)),
        key=lambda one: (order.get(one.name, len(order)), one.title),
    )


def manual_page(folder: Path, name: str) -> ManualPage | None:
    """Return a page, or None where there is none of this name."""
    path = folder / f"{name}.md"
    if not PAGE_NAME.fullmatch(name) or not path.is_file():
        return None
    return _rendered(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=32)
def _rendered(path: Path, changed_ns: int) -> ManualPage:
    tokens = _parser().parse(path.read_text(encoding="utf-8"))
    title = _title_of(path)
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        tokens = tokens[3:]
    for token, following in zip(tokens, [*tokens[1:], None], strict=False):
        _tidy(token, path.parent)
        if token.type == "heading_open" and following is not None:
            token.attrs["id"] = anchor_of(following.content)
    # Our own files, and the parser escapes any HTML in them.
    html = mark_safe(_parser().renderer.render(tokens, _parser().options, {}))  # noqa: S308 - see above
    return ManualPage(path.stem, title, html)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def anchor_of(heading: str) -> str:
    """Return the name under which a link leads to a heading, as GitHub makes it too."""
    return NO_PART_OF_AN_ANCHOR.sub("", heading.strip().lower()).replace(" ", "-")


def _tidy(token: Token, folder: Path) -> None:
    """Drop inline styles (the security policy forbids them); lead links to pages; put pictures inside."""
    token.attrs.pop("style", None)
    source = str(token.attrs.get("src", ""))
    if PICTURE.match(source) and (folder / source).is_file():
        data = base64.b64encode((folder / source).read_bytes()).decode("ascii")
        token.attrs["src"] = f"data:image/png;base64,{data}"
    target = LINK_TO_PAGE.match(str(token.attrs.get("href", "")))
    if target:
        token.attrs["href"] = f"../{target[1]}/{target[2] or ''}"
    for child in token.children or []:
        _tidy(child, folder)


def _title_of(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        first = file.readline().strip()
    return first.lstrip("# ").strip() or path.stem.replace("_", " ").capitalize()
